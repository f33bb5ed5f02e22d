//! One line that crossed the wire: who wrote it, when, and its exact bytes.

use std::time::Duration;

use serde_json::Value;

/// Which way a line went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "a pipe has two ends")]
pub enum Direction {
    /// Written by the client, into the agent's stdin.
    ToAgent,
    /// Written by the agent, to its stdout.
    ToClient,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub fn reverse(self) -> Self {
        match self {
            Self::ToAgent => Self::ToClient,
            Self::ToClient => Self::ToAgent,
        }
    }

    /// The mark used in recordings and reports: `>` towards the agent, `<` from it.
    pub fn mark(self) -> &'static str {
        match self {
            Self::ToAgent => ">",
            Self::ToClient => "<",
        }
    }

    /// Who wrote the line, as reports name it.
    pub fn writer(self) -> &'static str {
        match self {
            Self::ToAgent => "client",
            Self::ToClient => "agent",
        }
    }
}

/// A line as it was written, without the newline that ended it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// Time since the recording began.
    pub at: Duration,
    /// Who wrote it.
    pub direction: Direction,
    /// The bytes before the newline.
    pub bytes: Vec<u8>,
    /// Whether a newline ended the line; only the last of a stream may lack it.
    pub terminated: bool,
}

impl Frame {
    /// A whole line.
    pub fn new(at: Duration, direction: Direction, bytes: impl Into<Vec<u8>>) -> Self {
        Self { at, direction, bytes: bytes.into(), terminated: true }
    }

    /// The JSON in the line, or why there is none.
    ///
    /// # Errors
    ///
    /// The parser's position and reason.
    pub fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::from_slice(&self.bytes)
    }

    /// Whether the line holds nothing but white space, which both sides may skip.
    pub fn is_blank(&self) -> bool {
        self.bytes.trim_ascii().is_empty()
    }

    /// The line for a reader: at most `limit` characters, with a note of what was cut.
    pub fn excerpt(&self, limit: usize) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        match text.char_indices().nth(limit) {
            Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], self.bytes.len()),
            None => text.into_owned(),
        }
    }
}
