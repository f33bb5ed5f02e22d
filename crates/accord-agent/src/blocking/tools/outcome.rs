//! What a tool gave back, and whether that is a failure.

use accord_protocol::v1::ToolCallContent;
use serde_json::{Deserializer, Value};

/// A tool's result as the agent got it.
///
/// A plain `String` or [`Value`] is judged by what it says: agents mostly hand failures to the model as text. Say it
/// outright with [`ToolResult::ok`] and [`ToolResult::failed`] where the agent knows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResult {
    /// What the tool gave back.
    pub output: Value,
    /// Whether it failed, where the agent knows.
    pub failed: Option<bool>,
    /// What editors are shown besides.
    pub content: Vec<ToolCallContent>,
}

impl ToolResult {
    /// A result of a tool that did what it should.
    pub fn ok(output: impl Into<Value>) -> Self {
        Self { output: output.into(), failed: Some(false), content: Vec::new() }
    }

    /// A result of a tool that did not.
    pub fn failed(output: impl Into<Value>) -> Self {
        Self { output: output.into(), failed: Some(true), content: Vec::new() }
    }

    /// A result that is judged by what it says.
    pub fn judged(output: impl Into<Value>) -> Self {
        Self { output: output.into(), failed: None, content: Vec::new() }
    }

    /// Shows something besides: an image, say.
    #[must_use]
    pub fn and_show(mut self, content: impl Into<ToolCallContent>) -> Self {
        self.content.push(content.into());
        self
    }

    /// Whether the tool failed: as the agent says, else as the result reads.
    pub fn is_failed(&self) -> bool {
        self.failed.unwrap_or_else(|| reads_as_failure(&self.output))
    }

    /// The result as an object, also where it is JSON inside a text, with or without a remark after it.
    pub(super) fn object(&self) -> Option<Value> {
        structured(&self.output)
    }

    /// The result as text.
    pub(super) fn text(&self) -> String {
        match &self.output {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => format!("{other:#}"),
        }
    }
}

impl From<Value> for ToolResult {
    fn from(output: Value) -> Self {
        Self::judged(output)
    }
}

impl From<String> for ToolResult {
    fn from(output: String) -> Self {
        Self::judged(output)
    }
}

impl From<&str> for ToolResult {
    fn from(output: &str) -> Self {
        Self::judged(output)
    }
}

fn structured(output: &Value) -> Option<Value> {
    match output {
        Value::Object(_) => Some(output.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => {
            Deserializer::from_str(text).into_iter().next()?.ok().filter(Value::is_object)
        }
        _ => None,
    }
}

fn reads_as_failure(output: &Value) -> bool {
    if output.as_str().is_some_and(|text| text.trim_start().starts_with("Error executing tool")) {
        return true;
    }
    let Some(object) = structured(output) else { return false };
    let says = |name: &str| object.get(name).and_then(Value::as_bool);
    let status = |name: &str| object.get(name).and_then(Value::as_i64);
    let has = |name: &str| object.get(name).is_some_and(|value| !value.is_null() && value != "");
    says("success") == Some(false)
        || says("ok") == Some(false)
        || says("is_error") == Some(true)
        || status("exit_code").or_else(|| status("returncode")).is_some_and(|status| status != 0)
        || (has("error") && !has("content") && says("success") != Some(true))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // H7
    #[test]
    fn failures_are_told_from_what_results_say() {
        let failures = [
            json!("Error executing tool 'x': no"),
            json!({"success": false}),
            json!("{\"ok\": false}\n\nHint: try again"),
            json!({"exit_code": 2, "output": "no such file"}),
            json!({"returncode": -1}),
            json!({"error": "denied"}),
            json!({"is_error": true}),
        ];
        for output in failures {
            assert!(ToolResult::from(output.clone()).is_failed(), "{output}");
            assert!(!ToolResult { failed: Some(false), ..ToolResult::judged(output) }.is_failed());
        }
        let successes = [
            json!("Error handling is described in chapter 3"),
            json!({"exit_code": 0, "error": null}),
            json!({"error": "", "output": "x"}),
            json!({"content": "x", "error": "a warning"}),
            json!("{not json"),
            json!([1, 2]),
            Value::Null,
        ];
        for output in successes {
            assert!(!ToolResult::from(output.clone()).is_failed(), "{output}");
        }
        assert!(ToolResult::failed("x").is_failed());
    }
}
