//! The result of a request on its way from the line to whoever asked.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::rpc::held::{self, Held, Reader};
use crate::rpc::{Misfit, typed};
use crate::v1::{NewSessionResponse, PromptResponse, RequestPermissionResponse};

/// The result of a request that succeeded.
///
/// A line does not say which method it answers. What begins like an answer that comes all the time is read as that with
/// its line, once; [`take`](Self::take) gives what is there. The text stays as it came.
#[derive(Clone)]
pub struct Answer(Held);

impl Answer {
    /// The result as it stands in a line, unless it is anything but one JSON value.
    pub(crate) fn of(text: &str) -> Option<Self> {
        Held::of(text, reader(text)).map(Self)
    }

    /// The JSON text as it came.
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// The result as it came.
    pub fn into_raw(self) -> Box<RawValue> {
        self.0.into_raw()
    }

    /// The result as a `T`; `null` is the empty object. Call it once: what was read already is given away.
    ///
    /// # Errors
    /// As [`typed`].
    pub fn take<T: DeserializeOwned + 'static>(&mut self) -> Result<T, Misfit> {
        match self.0.take() {
            Some(read) => Ok(read),
            None => typed(self.text()),
        }
    }
}

impl From<Box<RawValue>> for Answer {
    fn from(raw: Box<RawValue>) -> Self {
        Self(Held::Raw(raw))
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answer").field(&self.text()).finish()
    }
}

/// Judges by the first member, which each of them has, and most peers write first.
fn reader(text: &str) -> Option<Reader> {
    const READERS: [(&str, Reader); 3] = [
        (r#"{"outcome""#, held::read::<RequestPermissionResponse>),
        (r#"{"stopReason""#, held::read::<PromptResponse>),
        (r#"{"sessionId""#, held::read::<NewSessionResponse>),
    ];
    READERS.iter().find(|(start, _)| text.starts_with(start)).map(|(_, reader)| *reader)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::v1::StopReason;

    const ANSWER: &str = r#"{"stopReason":"end_turn","more":1.50}"#;

    fn answer(text: &str) -> Answer {
        Answer::of(text).expect("JSON")
    }

    fn is_read(text: &str) -> bool {
        matches!(answer(text).0, Held::Read { .. })
    }

    #[test]
    fn the_busiest_answers_are_read_with_their_line() {
        assert!(is_read(ANSWER));
        assert!(is_read(r#"{"outcome": {"outcome": "cancelled"}}"#));
        assert!(is_read(r#"{"sessionId":"s","modes":5}"#));
        for other in ["null", "{}", r#"{"stopReason":5}"#, r#"{"\u006futcome":1}"#, r#"{ "sessionId":"s"}"#] {
            assert!(!is_read(other), "{other}");
        }
    }

    #[test]
    fn what_was_read_is_given_once_and_the_text_stays() {
        let mut answer = answer(&format!(" {ANSWER} "));
        assert_eq!(answer.take(), Ok(PromptResponse::new(StopReason::EndTurn)));
        assert_eq!(answer.take(), Ok(PromptResponse::new(StopReason::EndTurn)));
        assert_eq!(answer.clone().into_raw().get(), ANSWER);
        assert_eq!(answer.text(), ANSWER);
    }

    // What begins like one answer may be another.
    #[test]
    fn whoever_wants_another_type_gets_it() {
        let mut answer = answer(ANSWER);
        assert_eq!(answer.take().map(|value: Value| value["more"].clone()), Ok(1.5.into()));
        assert_eq!(answer.take(), Ok(PromptResponse::new(StopReason::EndTurn)));
    }

    #[test]
    fn what_does_not_fit_is_told_when_it_is_wanted() {
        let misfit = answer(r#"{"outcome":{"outcome":"selected","optionId":5}}"#)
            .take::<RequestPermissionResponse>()
            .expect_err("it does not fit");
        assert_eq!(misfit.to_string(), "outcome.optionId: expected a string");
        assert!(answer("null").take::<PromptResponse>().is_err());
    }

    #[test]
    fn nothing_but_one_value_will_do() {
        assert!(Answer::of(r#"{"stopReason":"end_turn"},"x":1"#).is_none());
        assert!(Answer::of(r#"{"outcome":{"outcome":"cancelled"}"#).is_none());
    }
}
