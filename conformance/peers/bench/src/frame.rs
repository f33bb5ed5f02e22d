//! What the driver has to know of a frame: an update, a request to answer, or the answer it waits for.

use std::{borrow::Cow, sync::LazyLock};

use anyhow::{Context, Result};
use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A frame as the driver sees it.
#[derive(Debug)]
pub enum Frame<'a> {
    /// A `session/update`.
    Update,
    /// A request of the peer, with its id as it stands on the wire.
    Request(&'a RawValue),
    /// An answer, with its id as it stands on the wire and its result, or `Err` with the error.
    Answer(&'a str, Result<&'a str, &'a str>),
    /// Any other notification.
    Other,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Tells what kind of frame a line is.
///
/// An update is told by its head where the method stands there, so that the driver costs little beside what it measures.
///
/// # Errors
///
/// Fails when the line is no JSON object.
pub fn classify(line: &[u8]) -> Result<Frame<'_>> {
    static UPDATE: LazyLock<Finder<'static>> =
        LazyLock::new(|| Finder::new(b"\"method\":\"session/update\""));
    if UPDATE.find(&line[..line.len().min(96)]).is_some() {
        return Ok(Frame::Update);
    }
    let envelope: Envelope<'_> = serde_json::from_slice(line)
        .with_context(|| format!("no frame: {}", String::from_utf8_lossy(&line[..line.len().min(200)])))?;
    Ok(match (envelope.method.as_deref(), envelope.id) {
        (Some("session/update"), _) => Frame::Update,
        (Some(_), Some(id)) => Frame::Request(id),
        (None, Some(id)) => Frame::Answer(
            id.get(),
            match envelope.error {
                Some(error) => Err(error.get()),
                None => Ok(envelope.result.map_or("null", RawValue::get)),
            },
        ),
        (_, None) => Frame::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::{Frame, classify};

    #[test]
    fn frames_are_told_by_their_members() {
        let update = br#"{"params":{"long":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},"method":"session/update"}"#;
        assert!(matches!(classify(update).unwrap(), Frame::Update));
        let Frame::Request(id) = classify(br#"{"id":"a","method":"x"}"#).unwrap() else {
            panic!("a request")
        };
        assert_eq!(id.get(), "\"a\"");
        assert!(matches!(classify(br#"{"id":3,"error":{}}"#).unwrap(), Frame::Answer("3", Err("{}"))));
        assert!(matches!(classify(br#"{"id":3,"result":[]}"#).unwrap(), Frame::Answer("3", Ok("[]"))));
    }
}
