//! Secrets out of a frame, by position.

use std::borrow::Cow;

use memchr::memmem;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// Members whose values are secrets, wherever they are.
const SECRET: [&str; 2] = ["env", "headers"];
const REDACTED: &str = "[redacted]";

/// The frame without its secrets, or nothing if it is no JSON.
pub(super) fn redacted(line: &[u8]) -> Option<Cow<'_, RawValue>> {
    let text = str::from_utf8(line).ok()?;
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    // A name may be spelt with escapes, which only a parser sees through.
    let suspicious =
        SECRET.iter().any(|name| memmem::find(line, name.as_bytes()).is_some()) || line.contains(&b'\\');
    if !suspicious {
        return Some(Cow::Borrowed(raw));
    }
    let mut value: Value = serde_json::from_str(text).ok()?;
    if !redact(&mut value) {
        return Some(Cow::Borrowed(raw));
    }
    to_raw_value(&value).ok().map(Cow::Owned)
}

/// Whether anything had to be replaced.
fn redact(value: &mut Value) -> bool {
    let mut any = false;
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if SECRET.contains(&name.as_str()) {
                    cover(value);
                    any = true;
                } else {
                    any |= redact(value);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                any |= redact(item);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    any
}

/// Replaces what is not a name: `[{"name": …, "value": …}]` and `{name: value}` both keep their names.
fn cover(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| match item {
            Value::Object(members) => {
                for (name, value) in members {
                    if name != "name" {
                        *value = REDACTED.into();
                    }
                }
            }
            other => *other = REDACTED.into(),
        }),
        Value::Object(members) => members.values_mut().for_each(|value| *value = REDACTED.into()),
        other => *other = REDACTED.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frame: &str, expected: Option<&str>) {
        let found = redacted(frame.as_bytes()).map(|raw| raw.get().to_owned());
        assert_eq!(found.as_deref(), expected, "{frame}");
    }

    // Rule 6
    #[test]
    fn values_go_and_names_stay() {
        check(r#"{"b":1, "a" :"text about env"}"#, Some(r#"{"b":1, "a" :"text about env"}"#));
        check(
            r#"{"env":[{"name":"N","value":"s3cret"}]}"#,
            Some(r#"{"env":[{"name":"N","value":"[redacted]"}]}"#),
        );
        check(r#"{"x":[{"headers":{"A":"s3cret"}}]}"#, Some(r#"{"x":[{"headers":{"A":"[redacted]"}}]}"#));
        check(r#"{"e\u006ev":"s3cret"}"#, Some(r#"{"env":"[redacted]"}"#));
        check(r#"{"env":["s3cret"]}"#, Some(r#"{"env":["[redacted]"]}"#));
        check(r#"{"env":["s3cret""#, None);
        check("s3cret", None);
    }
}
