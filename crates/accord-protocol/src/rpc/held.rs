//! The parameters of a request on their way from the line to whoever serves it.

use std::{any::Any, fmt};

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::method::Request;
use crate::rpc::{Error, params};
use crate::v1::{NewSessionRequest, PromptRequest, RequestPermissionRequest};

/// The parameters of a request. Absent and `null` are the same.
///
/// Those of the methods that are called all the time are read with their line, once; [`take`](Self::take) gives what is
/// there. The text stays as it came.
#[derive(Default)]
pub struct Params {
    /// One JSON value, if it is not `null`.
    text: Option<Box<str>>,
    read: Option<Read>,
}

type Read = Box<dyn Any + Send + Sync>;

impl Params {
    /// Parameters as they stand in a line, unless they are anything but one JSON value.
    pub(crate) fn of(method: &str, text: &str) -> Option<Self> {
        let read = match method {
            PromptRequest::METHOD => read::<PromptRequest>(text),
            NewSessionRequest::METHOD => read::<NewSessionRequest>(text),
            RequestPermissionRequest::METHOD => read::<RequestPermissionRequest>(text),
            _ => None,
        };
        if read.is_none() {
            serde_json::from_str::<&RawValue>(text).ok()?;
        }
        Some(Self { text: present(text.trim_ascii()), read })
    }

    /// The parameters as they came.
    pub fn raw(&self) -> Option<&RawValue> {
        serde_json::from_str(self.text.as_deref()?).ok()
    }

    /// The parameters as a `T`; absent ones are the empty object.
    ///
    /// # Errors
    /// As [`params`].
    pub fn take<T: DeserializeOwned + 'static>(&mut self) -> Result<T, Error> {
        match self.read.take().map(<Read>::downcast) {
            Some(Ok(read)) => Ok(*read),
            _ => params(self.raw()),
        }
    }
}

impl From<Option<&RawValue>> for Params {
    fn from(params: Option<&RawValue>) -> Self {
        Self { text: params.and_then(|params| present(params.get())), read: None }
    }
}

/// The copy has the text alone.
impl Clone for Params {
    fn clone(&self) -> Self {
        Self { text: self.text.clone(), read: None }
    }
}

impl fmt::Debug for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Params").field(&self.text).finish()
    }
}

fn present(text: &str) -> Option<Box<str>> {
    (text != "null").then(|| text.into())
}

fn read<T: Request + Sync>(text: &str) -> Option<Read> {
    let read: T = serde_json::from_str(text).ok()?;
    Some(Box::new(read))
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
