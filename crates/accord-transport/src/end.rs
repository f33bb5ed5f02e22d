//! How a connection ended.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How a connection ended: for which reason, and what is known about the process at the other end.
///
/// Clones are cheap.
#[derive(Clone, Debug)]
pub struct End(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    reason: Reason,
    cause: Cause,
    process: Option<Process>,
}

/// What is known about a child process at the end of its connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    pub(crate) program: String,
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) stderr: String,
}

/// The reason in one word. With a child process its exit decides, else what the wire did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The peer ended the connection in order.
    Completed,
    /// Something broke.
    Crashed,
    /// The connection was closed here, or the process died of a signal.
    Killed,
}

/// What was seen first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// The input ended.
    EndOfInput,
    /// This side closed the connection, or dropped its last handle.
    Closed,
    /// Reading failed.
    Read(Arc<io::Error>),
    /// Writing failed.
    Write(Arc<io::Error>),
    /// The child process exited.
    Exited,
    /// No frame came within this time.
    Silent(Duration),
    /// The peer sent this many bytes more than anybody took.
    Flooded(usize),
    /// The task that drives the connection was dropped or panicked.
    Abandoned,
}

impl End {
    pub(crate) fn new(cause: Cause, process: Option<Process>) -> Self {
        let reason = match (&cause, &process) {
            (Cause::Silent(_) | Cause::Flooded(_) | Cause::Abandoned, _) => Reason::Crashed,
            (Cause::Closed, _) | (_, Some(Process { signal: Some(_), .. })) => Reason::Killed,
            (_, Some(Process { code: Some(0), .. })) | (Cause::EndOfInput, None) => Reason::Completed,
            _ => Reason::Crashed,
        };
        Self(Arc::new(Inner { reason, cause, process }))
    }

    /// The reason in one word.
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// What was seen first.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// The program of the child process, where there is one.
    pub fn program(&self) -> Option<&str> {
        self.0.process.as_ref().map(|process| &*process.program)
    }

    /// The exit code of the child process, if it exited by itself.
    pub fn exit_code(&self) -> Option<i32> {
        self.0.process.as_ref()?.code
    }

    /// The signal that ended the child process.
    pub fn signal(&self) -> Option<i32> {
        self.0.process.as_ref()?.signal
    }

    /// The last lines the child process wrote to its stderr; empty where there is no child.
    pub fn stderr(&self) -> &str {
        self.0.process.as_ref().map_or("", |process| &process.stderr)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(program) = self.program() {
            write!(f, "{program}: ")?;
        }
        self.cause().fmt(f)?;
        match (self.exit_code(), self.signal()) {
            (Some(code), _) => write!(f, ", exit code {code}")?,
            (None, Some(signal)) => write!(f, ", signal {signal}")?,
            (None, None) => {}
        }
        match self.stderr().trim_end() {
            "" => Ok(()),
            stderr => write!(f, "; stderr: {stderr}"),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfInput => f.write_str("the peer closed the connection"),
            Self::Closed => f.write_str("the connection was closed"),
            Self::Read(error) => write!(f, "reading failed: {error}"),
            Self::Write(error) => write!(f, "writing failed: {error}"),
            Self::Exited => f.write_str("the process exited"),
            Self::Silent(time) => write!(f, "no message within {time:?}"),
            Self::Flooded(limit) => write!(f, "the peer ran more than {limit} bytes ahead"),
            Self::Abandoned => f.write_str("the connection's task is gone"),
        }
    }
}
