//! Raw parameters and results into typed values, with errors that name the place and never the value.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::rpc::{Error, surrogates};

/// Where a value did not have the promised form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Misfit {
    /// The place, such as `mcpServers[0].args`; empty for the value itself.
    pub path: String,
    /// What belongs there, such as `a string`.
    pub expected: String,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "expected {}", self.expected),
            path => write!(f, "{path}: expected {}", self.expected),
        }
    }
}

impl From<Misfit> for Error {
    fn from(misfit: Misfit) -> Self {
        Self::invalid_params(misfit.path, misfit.expected)
    }
}

/// Reads parameters; absent and `null` are the empty object.
///
/// # Errors
/// `-32602` with the path of the first misfit and what belongs there.
pub fn params<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, Error> {
    Ok(typed(params.map_or("null", RawValue::get))?)
}

/// Reads one JSON object as a `T`; `null` is the empty object, as some peers write it for an empty answer.
///
/// # Errors
/// The place of the first misfit and what belongs there.
pub fn typed<T: DeserializeOwned>(text: &str) -> Result<T, Misfit> {
    let text = if text == "null" { "{}" } else { text };
    // A derived struct also reads from an array, member by member; on the wire that is a mistake.
    if !text.trim_start().starts_with('{') {
        return Err(Misfit { path: String::new(), expected: "an object".to_owned() });
    }
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    match surrogates::repaired(text) {
        Some(repaired) => locate(&repaired),
        None => locate(text),
    }
}

/// The slow way, which knows where it is.
fn locate<T: DeserializeOwned>(text: &str) -> Result<T, Misfit> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let (path, expected) = expectation(path, &error.into_inner().to_string());
        Misfit { path, expected }
    })
}

/// What the deserializer wanted, without what it found.
///
/// Its messages quote the value first (`invalid type: string "…", expected u32 at line 1 column 9`), so only what
/// follows the last `expected` is kept, and only from messages of these forms.
fn expectation(path: String, mut message: &str) -> (String, String) {
    let mut path = if path == "." { String::new() } else { path };
    // Where members had to be gathered before they could be read, the message begins with the place inside them.
    while let Some((inside, rest)) = message.strip_prefix("in `").and_then(|rest| rest.split_once("`: ")) {
        if !path.is_empty() && !inside.starts_with('[') {
            path.push('.');
        }
        path.push_str(inside);
        message = rest;
    }
    if let Some((name, _)) = message.strip_prefix("missing field `").and_then(|rest| rest.split_once('`')) {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        return (path, "a value".to_owned());
    }
    let standard = ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant `"];
    let expected = standard
        .iter()
        .any(|form| message.starts_with(form))
        .then(|| message.rsplit_once(", expected "))
        .flatten()
        .map(|(_, expected)| expected.split(" at line ").next().unwrap_or(expected));
    (path, in_json_terms(expected.unwrap_or("a valid value")).to_owned())
}

/// The reader of an error knows JSON, not serde.
fn in_json_terms(expected: &str) -> &str {
    match expected {
        "a sequence" => "an array",
        "a map" => "an object",
        "u16" => "an integer from 0 to 65535",
        "u32" | "u64" | "i64" => "an integer",
        "f64" => "a number",
        "path string" => "a string",
        expected if expected.starts_with("struct ") => "an object",
        expected => expected,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Server {
        args: Vec<String>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct New {
        cwd: String,
        #[serde(default)]
        mcp_servers: Vec<Server>,
    }

    fn misfit(text: &str) -> String {
        typed::<New>(text).expect_err("should not fit").to_string()
    }

    // ACPX-RPC-013, B154, T15
    #[test]
    fn a_misfit_names_the_place_and_never_the_value() {
        assert_eq!(misfit(r#"{"cwd":5}"#), "cwd: expected a string");
        assert_eq!(misfit("{}"), "cwd: expected a value");
        assert_eq!(misfit(r#"["/"]"#), "expected an object");
        assert_eq!(
            misfit(r#"{"cwd":"/","mcpServers":[{"args":"s3cret"}]}"#),
            "mcpServers[0].args: expected an array"
        );
        assert_eq!(
            misfit(r#"{"cwd":"/","mcpServers":"s3cret, expected x"}"#),
            "mcpServers: expected an array"
        );
        assert_eq!(misfit(r#"{"cwd":"/","mcpServers":[{}]}"#), "mcpServers[0].args: expected a value");
    }

    // T3
    #[test]
    fn a_lone_surrogate_becomes_a_replacement_character() {
        let new: New = typed(r#"{"cwd":"/a\ud83d"}"#).expect("it is repaired");
        assert_eq!(new.cwd, "/a\u{fffd}");
        assert_eq!(new.mcp_servers, []);
    }
}
