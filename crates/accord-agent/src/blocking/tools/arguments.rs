//! A tool's arguments, found by the names that agents commonly give them.

use serde_json::{Map, Value};

/// Arguments as an object, whatever they came as: models also send JSON inside a string, or nothing at all.
#[derive(Clone, Debug)]
pub(super) struct Arguments {
    value: Value,
}

impl Arguments {
    pub(super) fn of(given: &Value) -> Self {
        let value = match given {
            Value::Null => Value::Object(Map::new()),
            Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
            Value::String(text) => match serde_json::from_str(text) {
                Ok(Value::Null) => Value::Object(Map::new()),
                Ok(object @ Value::Object(_)) => object,
                _ => Value::Object(Map::from_iter([("input".to_owned(), given.clone())])),
            },
            Value::Object(_) => given.clone(),
            other => Value::Object(Map::from_iter([("input".to_owned(), other.clone())])),
        };
        Self { value }
    }

    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    pub(super) fn is_empty(&self) -> bool {
        self.value.as_object().is_none_or(Map::is_empty)
    }

    pub(super) fn path(&self) -> Option<&str> {
        self.text(&["path", "file_path", "filepath", "filename", "file", "target_file", "directory"])
    }

    pub(super) fn line(&self) -> Option<u32> {
        self.number(&["line", "offset", "start_line", "line_start"])
    }

    pub(super) fn content(&self) -> Option<&str> {
        self.text(&["content", "contents", "text", "file_text"])
    }

    /// The text to be replaced and the text in its place.
    pub(super) fn replacement(&self) -> Option<(&str, &str)> {
        let old = self.text(&["old_string", "old_str", "old_text", "old", "search"])?;
        let new = self.text(&["new_string", "new_str", "new_text", "new", "replace"]).unwrap_or_default();
        Some((old, new))
    }

    pub(super) fn replaces_all(&self) -> bool {
        ["replace_all", "all"].iter().any(|name| self.value[*name] == Value::Bool(true))
    }

    /// A patch over one or several files.
    pub(super) fn patch(&self) -> Option<&str> {
        self.text(&["patch", "diff", "input"])
    }

    pub(super) fn pattern(&self) -> Option<&str> {
        self.text(&["pattern", "query", "regex", "glob", "q", "name"])
    }

    pub(super) fn command(&self) -> Option<&str> {
        self.text(&["command", "cmd", "script", "input"])
    }

    pub(super) fn code(&self) -> Option<&str> {
        self.text(&["code", "source", "script", "input"])
    }

    pub(super) fn address(&self) -> Option<&str> {
        let first = || self.value["urls"].get(0).and_then(Value::as_str);
        self.text(&["url", "uri", "query", "q"]).or_else(first)
    }

    pub(super) fn thought(&self) -> Option<&str> {
        self.text(&["thought", "thinking", "text", "content", "input"])
    }

    fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.value[*name].as_str())
    }

    fn number(&self, names: &[&str]) -> Option<u32> {
        names.iter().find_map(|name| u32::try_from(self.value[*name].as_u64()?).ok()).filter(|line| *line > 0)
    }
}
