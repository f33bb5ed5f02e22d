//! What came of a tool call.

use std::time::Duration;

use accord_protocol::{open::Json, v1::ContentBlock};
use rmcp::{ServiceError, model::CallToolResult};

use crate::text;

/// What a tool answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallOutcome {
    /// Its output, in the form that tool calls of this protocol have.
    pub content: Vec<ContentBlock>,
    /// Its output as data, if it gives any.
    pub structured: Option<Json>,
    /// Whether it says that it failed.
    pub failed: bool,
}

impl CallOutcome {
    pub(super) fn of(result: CallToolResult) -> Self {
        // Both protocols write content blocks alike; a block that only the other one has is kept as an unknown one.
        let block = |block| serde_json::from_value(serde_json::to_value(block).ok()?).ok();
        Self {
            content: result.content.iter().filter_map(block).collect(),
            structured: result.structured_content.and_then(|value| Json::new(&value).ok()),
            failed: result.is_error == Some(true),
        }
    }

    /// The text among the output.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Why a tool gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No mounted server has a tool of this name.
    #[error("no tool is called {}", text::one_line(.0))]
    NoSuchTool(String),
    /// The arguments are not a JSON object.
    #[error("the arguments are not an object")]
    NotAnObject,
    /// The server refused the call itself; what a tool says of its own failure is an outcome.
    #[error("the MCP server {server} refused the call: {message} ({code})")]
    Refused {
        /// The server's name as it was declared.
        server: String,
        /// Its error code.
        code: i64,
        /// Its message, on one line, cut if it is long, without what the server was given in confidence.
        message: String,
    },
    /// The server said nothing for so long, not even of its progress. The call has been cancelled.
    #[error("the MCP server {server} said nothing for {limit:?}")]
    Silent {
        /// The server's name as it was declared.
        server: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The server said a line that is too long to be read. It may have been the answer to another call: all that wait at
    /// that moment end so.
    #[error("the MCP server {server} said more than {limit} bytes at once")]
    TooLong {
        /// The server's name as it was declared.
        server: String,
        /// The longest line that is read, in bytes.
        limit: usize,
    },
    /// The server is gone, or its answer is none.
    #[error("the MCP server {server} gave no answer: {why}")]
    Server {
        /// The server's name as it was declared.
        server: String,
        /// What happened, in words for people.
        why: &'static str,
        /// What happened.
        #[source]
        source: Box<ServiceError>,
    },
}
