//! What a refused request is answered with: code, message, optional data.

use std::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::rpc::envelope::LenientString;

/// The number that says what kind of error it was.
///
/// Any integer is allowed on the wire, so an unknown code survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "a code is its number and nothing else")]
pub struct ErrorCode(pub i64);

impl ErrorCode {
    /// The line was not JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON was no request, or one that cannot be served now.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method is not known here, or was not advertised.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// A parameter is missing or has the wrong type.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The fault is on the answering side.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// The request was cancelled by `$/cancel_request`.
    pub const REQUEST_CANCELLED: Self = Self(-32800);
    /// The agent wants to be authenticated to first.
    pub const AUTH_REQUIRED: Self = Self(-32000);
    /// A session, a file or another named thing does not exist.
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<i64> for ErrorCode {
    fn from(code: i64) -> Self {
        Self(code)
    }
}

/// The error a request is answered with.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message} ({code})")]
#[non_exhaustive]
pub struct Error {
    /// What kind of error it is.
    pub code: ErrorCode,
    /// A short sentence for people.
    pub message: String,
    /// Whatever else the answering side wants to say; kept as it came.
    pub data: Option<Box<RawValue>>,
}

impl Error {
    /// An error without data.
    pub fn new(code: impl Into<ErrorCode>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), data: None }
    }

    /// A parameter is missing or of the wrong type.
    ///
    /// `path` is the place, such as `mcpServers[0].args`, and `expected` what belongs there. Never pass a value
    /// that came from the peer: it may be a secret.
    pub fn invalid_params(path: impl Into<String>, expected: impl Into<String>) -> Self {
        let (path, expected) = (path.into(), expected.into());
        let message = match path.as_str() {
            "" => format!("invalid params: expected {expected}"),
            _ => format!("invalid params: {path}: expected {expected}"),
        };
        Self::new(ErrorCode::INVALID_PARAMS, message)
            .with_data(serde_json::json!({ "path": path, "expected": expected }))
    }

    /// The method is not known here.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(ErrorCode::METHOD_NOT_FOUND, "method not found")
            .with_data(serde_json::json!({ "method": clip(method) }))
    }

    /// The fault is on this side.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::INTERNAL_ERROR, message)
    }

    /// The named thing does not exist.
    pub fn resource_not_found(what: impl fmt::Display) -> Self {
        Self::new(ErrorCode::RESOURCE_NOT_FOUND, format!("not found: {what}"))
    }

    /// The agent wants to be authenticated to first.
    pub fn auth_required() -> Self {
        Self::new(ErrorCode::AUTH_REQUIRED, "authentication required")
    }

    /// The request was cancelled by its sender.
    pub fn cancelled() -> Self {
        Self::new(ErrorCode::REQUEST_CANCELLED, "request cancelled")
    }

    /// The request cannot be served in this form or at this time.
    pub fn invalid_request(why: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_REQUEST, why)
    }

    /// The same error with `data`; left out if it does not serialise.
    #[must_use]
    pub fn with_data(mut self, data: impl Serialize) -> Self {
        self.data = to_raw_value(&data).ok();
        self
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
            && self.message == other.message
            && self.data.as_deref().map(RawValue::get) == other.data.as_deref().map(RawValue::get)
    }
}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Error", 2 + usize::from(self.data.is_some()))?;
        object.serialize_field("code", &self.code.0)?;
        object.serialize_field("message", &self.message)?;
        if let Some(data) = &self.data {
            object.serialize_field("data", data)?;
        }
        object.end()
    }
}

/// The code must be an integer; a missing or odd message reads as empty, since the refusal itself is what counts.
impl<'de> Deserialize<'de> for Error {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        struct Wire {
            code: i64,
            #[serde(default)]
            message: LenientString,
            #[serde(default)]
            data: Option<Box<RawValue>>,
        }
        let Wire { code, message, data } = Wire::deserialize(deserializer)?;
        Ok(Self { code: ErrorCode(code), message: message.0.unwrap_or_default().into(), data })
    }
}

/// A method name comes from the peer and goes back to it, and into logs: it must not be long.
fn clip(text: &str) -> &str {
    const LONGEST: usize = 120;
    text.char_indices().nth(LONGEST).map_or(text, |(end, _)| &text[..end])
}
