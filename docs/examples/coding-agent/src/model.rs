//! What the agent needs of a language model: an answer to a conversation, streamed, that may ask for tools.

pub(crate) mod chat;
pub(crate) mod scripted;
pub(crate) mod stream;

use accord_agent::blocking::{Cancel, Failure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A language model, or something that behaves like one.
pub(crate) trait Model: Send + Sync {
    /// Answers a conversation. Text and reasoning go to `hear` as they come, and are whole in the answer.
    fn answer(
        &self,
        request: &Request<'_>,
        hear: &mut dyn FnMut(Delta<'_>),
        cancel: &Cancel,
    ) -> Result<Answer, Failure>;
}

/// What a model is asked.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) model: &'a str,
    pub(crate) provider: &'a str,
    pub(crate) effort: Option<&'a str>,
    pub(crate) messages: &'a [Message],
    pub(crate) tools: &'a [Value],
}

/// A piece of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Delta<'a> {
    Text(&'a str),
    Reasoning(&'a str),
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) end: End,
    /// Tokens of the request and of the answer.
    pub(crate) tokens: Option<u64>,
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// It is complete; the turn goes on if it asks for tools.
    #[default]
    Complete,
    /// The model reached the limit of its output.
    Limit,
    /// The model, or a filter behind it, declined.
    Refusal,
}

/// A message of a conversation, in the form in which chat completions and this agent's store have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) role: Role,
    /// A text, or a list of text and image parts.
    pub(crate) content: Value,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<ToolCall>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<String>,
}

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    System,
    User,
    Assistant,
    Tool,
}

/// A model's wish to use a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    #[serde(rename = "type", default = "function_kind")]
    pub(crate) kind: String,
    pub(crate) function: Function,
}

/// Which tool, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// JSON in a string, as the model wrote it.
    pub(crate) arguments: String,
}

impl Message {
    pub(crate) fn new(role: Role, content: impl Into<Value>) -> Self {
        Self { role, content: content.into(), tool_calls: Vec::new(), tool_call_id: None }
    }

    /// The text of the message, without its images.
    pub(crate) fn text(&self) -> String {
        match &self.content {
            Value::String(text) => text.clone(),
            Value::Array(parts) => {
                let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
                texts.join("\n")
            }
            _ => String::new(),
        }
    }
}

impl ToolCall {
    pub(crate) fn new(id: impl Into<String>, name: impl Into<String>, arguments: &Value) -> Self {
        let function = Function { name: name.into(), arguments: arguments.to_string() };
        Self { id: id.into(), kind: function_kind(), function }
    }

    /// The arguments as an object; what the model wrote that is none becomes one with the text as `input`.
    pub(crate) fn arguments(&self) -> Value {
        let text = self.function.arguments.trim();
        if text.is_empty() || text == "null" {
            return Value::Object(serde_json::Map::new());
        }
        match serde_json::from_str(text) {
            Ok(object @ Value::Object(_)) => object,
            _ => serde_json::json!({ "input": text }),
        }
    }
}

fn function_kind() -> String {
    "function".to_owned()
}
