//! What a line is, by the members it has.

use serde_json::Value;

/// A line that is a JSON-RPC message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Message<'l> {
    Request { id: &'l Value, method: &'l str, params: &'l Value },
    Notification { method: &'l str, params: &'l Value },
    Response { id: &'l Value, outcome: Result<&'l Value, &'l Value> },
}

impl<'l> Message<'l> {
    /// What the message carries: params, result or error.
    pub(super) fn body(self) -> &'l Value {
        match self {
            Self::Request { params, .. } | Self::Notification { params, .. } => params,
            Self::Response { outcome, .. } => outcome.unwrap_or_else(|error| error),
        }
    }
}

/// The requirement a line breaks by what it is, and how.
pub(super) struct Misshapen {
    pub(super) rule: Rule,
    pub(super) text: String,
}

/// Which part of the envelope is at fault; the witness knows the requirement's id on either side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    NotAMessage,
    Batch,
    Version,
    Outcome,
    Id,
}

/// Sorts a line's JSON into one of the three kinds.
pub(super) fn classify(line: &Value) -> Result<Message<'_>, Misshapen> {
    let misshapen = |rule, text: &str| Err(Misshapen { rule, text: text.to_owned() });
    let Some(object) = line.as_object() else {
        return match line {
            Value::Array(_) => misshapen(Rule::Batch, "a JSON array: v1 has no batches"),
            _ => misshapen(Rule::NotAMessage, "JSON that is no object"),
        };
    };
    if line["jsonrpc"] != "2.0" {
        return misshapen(Rule::Version, "`jsonrpc` is not \"2.0\"");
    }
    let params = &line["params"];
    match (object.get("method"), object.get("id")) {
        (Some(Value::String(method)), Some(id)) => Ok(Message::Request { id, method, params }),
        (Some(Value::String(method)), None) => Ok(Message::Notification { method, params }),
        (Some(_), _) => misshapen(Rule::NotAMessage, "`method` is no string"),
        (None, Some(id)) => match (object.get("result"), object.get("error")) {
            (Some(result), None) => Ok(Message::Response { id, outcome: Ok(result) }),
            (None, Some(error)) => Ok(Message::Response { id, outcome: Err(error) }),
            (Some(_), Some(_)) => misshapen(Rule::Outcome, "a response with both `result` and `error`"),
            (None, None) => misshapen(Rule::Outcome, "a response with neither `result` nor `error`"),
        },
        (None, None) if object.contains_key("result") || object.contains_key("error") => {
            misshapen(Rule::Id, "a response without `id`")
        }
        (None, None) => misshapen(Rule::NotAMessage, "neither `method` nor `id`"),
    }
}
