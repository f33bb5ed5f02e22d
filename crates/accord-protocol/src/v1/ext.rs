//! Methods outside the protocol, as they came.

use serde::{Deserialize, Serialize};

use crate::open::Json;

/// A request with a method that is not the protocol's. Names of extensions start with `_`.
///
/// See [Extensibility](https://agentclientprotocol.com/protocol/v1/extensibility).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExtRequest {
    /// The method's name.
    pub method: Box<str>,
    /// Its params, if it has any.
    pub params: Option<Json>,
}

impl ExtRequest {
    /// Names a method and gives it params.
    #[must_use]
    pub fn new(method: impl Into<Box<str>>, params: Option<Json>) -> Self {
        Self { method: method.into(), params }
    }
}

/// A notification with a method that is not the protocol's. Names of extensions start with `_`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExtNotification {
    /// The method's name.
    pub method: Box<str>,
    /// Its params, if it has any.
    pub params: Option<Json>,
}

impl ExtNotification {
    /// Names a method and gives it params.
    #[must_use]
    pub fn new(method: impl Into<Box<str>>, params: Option<Json>) -> Self {
        Self { method: method.into(), params }
    }
}

/// The answer to an [`ExtRequest`]: any JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing to add to any JSON")]
pub struct ExtResponse(pub Json);
