//! A line whose members come in the order and spelling that everybody writes, taken apart without a parser.

use crate::rpc::Id;

/// The members of such a line. The last of them has not been looked at: only if it is one JSON value and nothing else is
/// the line a message, and the one that this says.
#[derive(Debug, PartialEq)]
pub(crate) enum Usual<'a> {
    Request { id: Id, method: &'a str, params: &'a str },
    Notification { method: &'a str, params: &'a str },
    Answer { id: Id, result: &'a str },
}

/// The members, unless anything about the line is unusual.
pub(crate) fn usual(line: &str) -> Option<Usual<'_>> {
    let rest = line.strip_prefix(r#"{"jsonrpc":"2.0","#)?.strip_suffix('}')?;
    let Some(rest) = rest.strip_prefix(r#""id":"#) else {
        let (method, params) = method(rest)?;
        return Some(Usual::Notification { method, params });
    };
    let (id, rest) = id(rest)?;
    let rest = rest.strip_prefix(',')?;
    if let Some(result) = rest.strip_prefix(r#""result":"#) {
        return Some(Usual::Answer { id, result });
    }
    let (method, params) = method(rest)?;
    Some(Usual::Request { id, method, params })
}

/// The members `method` and `params`.
fn method(text: &str) -> Option<(&str, &str)> {
    let (method, rest) = string(text.strip_prefix(r#""method":"#)?)?;
    Some((method, rest.strip_prefix(r#","params":"#)?))
}

fn id(text: &str) -> Option<(Id, &str)> {
    if text.starts_with('"') {
        let (id, rest) = string(text)?;
        return Some((Id::from(id), rest));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    if number.len() > 1 && number.starts_with('0') {
        return None;
    }
    Some((Id::Number(number.parse().ok()?), rest))
}

/// A string without escapes, and what follows it.
fn string(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('"')?;
    let end = text.bytes().position(|byte| matches!(byte, b'"' | b'\\' | ..b' '))?;
    let (string, rest) = text.split_at(end);
    Some((string, rest.strip_prefix('"')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_everybody_writes_is_taken_apart() {
        let line = r#"{"jsonrpc":"2.0","id":70,"method":"session/prompt","params":{"a":[1]}}"#;
        let (method, params) = ("session/prompt", r#"{"a":[1]}"#);
        assert_eq!(usual(line), Some(Usual::Request { id: Id::Number(70), method, params }));
        let line = r#"{"jsonrpc":"2.0","id":"é","result":null}"#;
        assert_eq!(usual(line), Some(Usual::Answer { id: Id::from("é"), result: "null" }));
        let line = r#"{"jsonrpc":"2.0","method":"_x","params":{}}"#;
        assert_eq!(usual(line), Some(Usual::Notification { method: "_x", params: "{}" }));
    }

    #[test]
    fn what_is_no_json_or_has_escapes_is_left_to_the_parser() {
        for line in [
            r#"{"jsonrpc":"2.0","id":070,"method":"_x","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":+7,"method":"_x","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":,"method":"_x","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"_x","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"a\n","method":"_x","params":{}}"#,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"_\u{1}x\",\"params\":{}}",
            r#"{"jsonrpc":"2.0","id":1,"method":"_x"}"#,
            r#"{"jsonrpc":"1.0","method":"_x","params":{}}"#,
        ] {
            assert_eq!(usual(line), None, "{line}");
        }
    }
}
