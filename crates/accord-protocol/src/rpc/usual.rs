//! A line whose members come in the order and spelling that everybody writes, taken apart without a parser: without white
//! space, or with one space behind each colon and comma as Python writes them.

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
    let rest = member(line.strip_prefix('{')?.strip_suffix('}')?, r#""jsonrpc""#)?;
    let rest = next(rest.strip_prefix(r#""2.0""#)?)?;
    let Some(rest) = member(rest, r#""id""#) else {
        let (method, params) = method(rest)?;
        return Some(Usual::Notification { method, params });
    };
    let (id, rest) = id(rest)?;
    let rest = next(rest)?;
    if let Some(result) = member(rest, r#""result""#) {
        return Some(Usual::Answer { id, result });
    }
    let (method, params) = method(rest)?;
    Some(Usual::Request { id, method, params })
}

/// The members `method` and `params`.
fn method(text: &str) -> Option<(&str, &str)> {
    let (method, rest) = string(member(text, r#""method""#)?)?;
    Some((method, member(next(rest)?, r#""params""#)?))
}

/// What follows the name of a member.
fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.strip_prefix(name)?.strip_prefix(':').map(unspaced)
}

/// What follows a comma.
fn next(text: &str) -> Option<&str> {
    text.strip_prefix(',').map(unspaced)
}

fn unspaced(text: &str) -> &str {
    text.strip_prefix(' ').unwrap_or(text)
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
    fn python_writes_spaces() {
        let line = r#"{"jsonrpc": "2.0", "id": 7, "method": "_x", "params": {"a": 1}}"#;
        let (method, params) = ("_x", r#"{"a": 1}"#);
        assert_eq!(usual(line), Some(Usual::Request { id: Id::Number(7), method, params }));
        let line = r#"{"jsonrpc": "2.0", "id": "a", "result": null}"#;
        assert_eq!(usual(line), Some(Usual::Answer { id: Id::from("a"), result: "null" }));
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
            r#"{"jsonrpc" : "2.0","method":"_x","params":{}}"#,
            r#"{ "jsonrpc":"2.0","method":"_x","params":{}}"#,
        ] {
            assert_eq!(usual(line), None, "{line}");
        }
    }
}
