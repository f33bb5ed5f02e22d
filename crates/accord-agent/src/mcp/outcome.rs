//! What came of a tool call.

use accord_protocol::{open::Json, v1::ContentBlock};
use rmcp::{ServiceError, model::CallToolResult};

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
    #[error("no tool is called {0}")]
    NoSuchTool(String),
    /// The arguments are not a JSON object.
    #[error("the arguments are not an object")]
    NotAnObject,
    /// The server refused, or is gone.
    #[error("the MCP server {server} gave no answer")]
    Server {
        /// The server's name as it was declared.
        server: String,
        /// What happened.
        #[source]
        source: Box<ServiceError>,
    },
}
