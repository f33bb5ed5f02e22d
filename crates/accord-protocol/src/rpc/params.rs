//! The parameters of a request on their way from the line to whoever serves it.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::method::Request;
use crate::rpc::held::{self, Held, Reader};
use crate::rpc::{Error, typed};
use crate::v1::{NewSessionRequest, PromptRequest, RequestPermissionRequest};

/// The parameters of a request. Absent and `null` are the same.
///
/// Those of the methods that are called all the time are read with their line, once; [`take`](Self::take) gives what is
/// there. The text stays as it came.
#[derive(Clone, Default)]
pub struct Params(Option<Held>);

impl Params {
    /// Parameters as they stand in a line, unless they are anything but one JSON value.
    pub(crate) fn of(method: &str, text: &str) -> Option<Self> {
        Some(Self(present(Held::of(text, reader(method))?)))
    }

    /// The parameters as they came.
    pub fn raw(&self) -> Option<&RawValue> {
        self.0.as_ref()?.raw()
    }

    /// The parameters as a `T`; absent ones are the empty object.
    ///
    /// # Errors
    /// As [`params`](crate::rpc::params).
    pub fn take<T: DeserializeOwned + 'static>(&mut self) -> Result<T, Error> {
        match self.0.as_mut().and_then(Held::take) {
            Some(read) => Ok(read),
            None => Ok(typed(self.0.as_ref().map_or("null", Held::text))?),
        }
    }
}

impl From<Option<&RawValue>> for Params {
    fn from(params: Option<&RawValue>) -> Self {
        Self(params.and_then(|params| present(Held::Raw(params.to_owned()))))
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Params").field(&self.0.as_ref().map(Held::text)).finish()
    }
}

fn present(held: Held) -> Option<Held> {
    (held.text() != "null").then_some(held)
}

fn reader(method: &str) -> Option<Reader> {
    Some(match method {
        PromptRequest::METHOD => held::read::<PromptRequest>,
        NewSessionRequest::METHOD => held::read::<NewSessionRequest>,
        RequestPermissionRequest::METHOD => held::read::<RequestPermissionRequest>,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const PROMPT: &str = r#"{"prompt":[],"sessionId":"s","more":1.50}"#;

    #[test]
    fn what_was_read_is_given_once_and_the_text_stays() {
        let mut params = Params::of("session/prompt", PROMPT).expect("JSON");
        assert_eq!(params.take(), Ok(PromptRequest::new("s", [])));
        assert_eq!(params.raw().map(RawValue::get), Some(PROMPT));
        assert_eq!(params.take(), Ok(PromptRequest::new("s", [])));
    }

    #[test]
    fn whoever_wants_another_type_gets_it() {
        let mut params = Params::of("session/prompt", PROMPT).expect("JSON");
        assert_eq!(params.take().map(|value: Value| value["more"].clone()), Ok(1.5.into()));
    }

    // ACPX-RPC-013
    #[test]
    fn what_does_not_fit_is_told_when_it_is_wanted() {
        let mut params = Params::of("session/prompt", r#" {"sessionId":5} "#).expect("JSON");
        assert_eq!(params.raw().map(RawValue::get), Some(r#"{"sessionId":5}"#));
        assert!(params.take::<PromptRequest>().is_err_and(|error| error.to_string().contains("sessionId")));
    }

    #[test]
    fn nothing_but_one_value_will_do() {
        assert!(Params::of("session/prompt", r#"{"prompt":[],"sessionId":"s"},"x":1"#).is_none());
        assert!(Params::of("_x", "1 2").is_none());
        assert!(Params::of("_x", "null").is_some_and(|params| params.raw().is_none()));
    }
}
