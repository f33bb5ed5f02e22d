//! What had one name in the recording and has another now: sessions and directories.

use serde_json::Value;

use crate::wire::frame::Frame;
use crate::wire::run;

/// Recorded names with what stands for them now.
#[derive(Debug, Default)]
pub(super) struct Names(Vec<(String, String)>);

impl Names {
    /// From here on `now` stands for `recorded`.
    pub(super) fn learn(&mut self, recorded: &Value, now: &Value) {
        if let (Some(recorded), Some(now)) = (recorded.as_str(), now.as_str())
            && recorded.len() > 1
            && recorded != now
            && !self.0.iter().any(|(known, _)| known == recorded)
        {
            self.0.push((recorded.to_owned(), now.to_owned()));
        }
    }

    /// Puts the new names into a message.
    pub(super) fn put(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                for (recorded, now) in &self.0 {
                    // A directory stands at the start of a path, a session's id alone.
                    let inside = text.strip_prefix(recorded.as_str());
                    if let Some(inside) = inside.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                        *text = format!("{now}{inside}");
                        break;
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.put(item)),
            Value::Object(members) => members.values_mut().for_each(|member| self.put(member)),
            _ => {}
        }
    }
}

/// A recorded line, for people.
pub(super) fn title(frame: &Frame) -> String {
    format!("the {}'s {}", frame.direction.writer(), run::title(frame))
}

/// A prompt's text, or its blocks where they are more than that.
pub(super) fn words(prompt: &Value) -> String {
    const SHOWN: usize = 200;
    let whole = match prompt.as_array().map(Vec::as_slice) {
        Some([block]) if block["type"] == "text" => block["text"].to_string(),
        _ => prompt.to_string(),
    };
    match whole.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &whole[..cut]),
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_put_where_they_stand_whole() {
        let mut names = Names::default();
        names.learn(&json!("/old"), &json!("/new/place"));
        names.learn(&json!("s-1"), &json!("s-2"));
        let mut message = json!({"a": ["/old/file", "/older", "s-1", "s-12"], "b": {"cwd": "/old"}});
        names.put(&mut message);
        assert_eq!(
            message,
            json!({"a": ["/new/place/file", "/older", "s-2", "s-12"], "b": {"cwd": "/new/place"}})
        );
    }
}
