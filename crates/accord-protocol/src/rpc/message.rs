//! One line of the wire, told apart by the members it has.

use std::fmt;

use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::method::Notification as _;
use crate::rpc::envelope::{Envelope, Member, Reading, whole};
use crate::rpc::{self, Error, Id, depth};
use crate::v1::SessionNotification;

/// What a line turned out to be.
///
/// | members | variant |
/// | --- | --- |
/// | `method` and `id` | [`Request`](Self::Request) |
/// | `method` alone | [`Notification`](Self::Notification), or [`Update`](Self::Update) |
/// | `result` or `error` | [`Response`](Self::Response), or [`BadResponse`](Self::BadResponse) |
/// | `id` alone | [`BadResponse`](Self::BadResponse) with [`Fault::Empty`] |
///
/// What has `result` or `error` is a response, whatever else it has: a response is never answered, or two strict
/// peers would answer each other's errors for ever.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "nearly every message is an update, and none is kept for long")]
pub enum Message {
    /// A call that wants one answer.
    Request {
        /// Echoed in the answer.
        id: Id,
        /// The name of the method.
        method: Box<str>,
        /// The parameters; absent and `null` are the same.
        params: Option<Box<RawValue>>,
    },
    /// A message that wants no answer.
    Notification {
        /// The name of the method.
        method: Box<str>,
        /// The parameters; absent and `null` are the same.
        params: Option<Box<RawValue>>,
    },
    /// A `session/update` that has its form. One that has not is a [`Notification`](Self::Notification).
    Update(SessionNotification),
    /// The answer to a request of ours.
    Response {
        /// The id that the request had.
        id: Id,
        /// The result, or the refusal.
        outcome: Result<Box<RawValue>, Error>,
    },
    /// Something that answers a request, but not in a form one can use.
    BadResponse {
        /// The id, where it could be read.
        id: Option<Id>,
        /// What was wrong with it.
        fault: Fault,
    },
}

/// A line that is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed line: {fault}")]
#[non_exhaustive]
pub struct Malformed {
    /// What was wrong with it.
    pub fault: Fault,
    /// The id of what would have been a request, where it could be read.
    pub id: Option<Id>,
    /// Whether it looked like a notification, which is not answered even when it is invalid.
    pub notification: bool,
}

impl Malformed {
    /// A line of which nothing could be read.
    pub fn new(fault: Fault) -> Self {
        Self { fault, id: None, notification: false }
    }

    /// What would have been the request `id`.
    pub fn request(fault: Fault, id: Id) -> Self {
        Self { fault, id: Some(id), notification: false }
    }

    /// The error a side that answers bad lines answers this one with.
    pub fn error(&self) -> Error {
        match self.fault {
            Fault::NotUtf8 | Fault::NotJson => Error::new(-32700, format!("parse error: {}", self.fault)),
            _ => Error::invalid_request(format!("invalid request: {}", self.fault)),
        }
    }
}

/// What can be wrong with a line. It never quotes the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is longer than the limit of the connection.
    TooLong,
    /// It is not valid UTF-8.
    NotUtf8,
    /// It is not one JSON text.
    NotJson,
    /// It is JSON but no object; batches are not part of the protocol.
    NotObject,
    /// It nests deeper than [`MAX_DEPTH`](crate::rpc::MAX_DEPTH).
    TooDeep,
    /// `jsonrpc` is not `"2.0"`.
    Version,
    /// The id is neither an integer of 64 bits nor a string nor null.
    BadId,
    /// The method is no string.
    BadMethod,
    /// It has none of the members that make a message.
    NoMessage,
    /// It has an id and neither method, result nor error.
    Empty,
    /// It has both a result and an error, or one of them beside a method.
    Ambiguous,
    /// Its error is no object with an integer code.
    BadError,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "longer than the frame limit",
            Self::NotUtf8 => "not valid UTF-8",
            Self::NotJson => "not one JSON text",
            Self::NotObject => "not a JSON object",
            Self::TooDeep => "nested deeper than 128 levels",
            Self::Version => "jsonrpc is not \"2.0\"",
            Self::BadId => "the id is neither an int64, a string nor null",
            Self::BadMethod => "the method is not a string",
            Self::NoMessage => "neither request, notification nor response",
            Self::Empty => "neither method, result nor error",
            Self::Ambiguous => "result, error and method exclude each other",
            Self::BadError => "the error is not an object with an integer code",
        })
    }
}

/// Reads one line, without its line end.
///
/// # Errors
/// The line is no message. A response that is out of order is no error but a [`Message::BadResponse`], because it
/// may end a pending request.
pub fn decode(line: &[u8]) -> Result<Message, Malformed> {
    let text = str::from_utf8(line).map_err(|_| Malformed::new(Fault::NotUtf8))?;
    let too_deep = depth::too_deep(line);
    // Nearly all lines are updates with their members in the usual order, and are done in one pass.
    if !too_deep
        && let Ok(mut envelope) = whole(text, Reading::Ahead)
        && !envelope.is_read_ahead_in_vain()
    {
        return match envelope.update.take() {
            Some(update) => Ok(Message::Update(update)),
            None => classify(envelope, false),
        };
    }
    let envelope = whole(text, Reading::Raw).map_err(|error| Malformed::new(not_an_object(text, &error)))?;
    classify(envelope, too_deep)
}

/// The deserializer complains about the first thing it meets, so an array that is not even JSON needs a second look.
fn not_an_object(text: &str, error: &serde_json::Error) -> Fault {
    let json = error.classify() == Category::Data && serde_json::from_str::<&RawValue>(text).is_ok();
    if json { Fault::NotObject } else { Fault::NotJson }
}

fn classify(envelope: Envelope<'_>, too_deep: bool) -> Result<Message, Malformed> {
    let fault = match envelope.jsonrpc {
        _ if too_deep => Some(Fault::TooDeep),
        Member::Is(()) => None,
        Member::Absent | Member::Odd => Some(Fault::Version),
    };
    if envelope.result.is_some() || envelope.error.is_some() {
        return Ok(response(envelope, fault));
    }
    let told = matches!((&envelope.id, &envelope.method), (Member::Absent, Member::Is(_)));
    let invalid = |fault, id| Err(Malformed { fault, id, notification: told });
    match (envelope.method, envelope.id) {
        (_, Member::Odd) => invalid(Fault::BadId, None),
        (Member::Odd, Member::Is(id)) => invalid(Fault::BadMethod, Some(id)),
        (Member::Odd, Member::Absent) => invalid(Fault::BadMethod, None),
        (Member::Absent, Member::Absent) => invalid(Fault::NoMessage, None),
        (Member::Absent, Member::Is(id)) => {
            Ok(Message::BadResponse { id: Some(id), fault: fault.unwrap_or(Fault::Empty) })
        }
        (Member::Is(method), Member::Is(id)) => match fault {
            Some(fault) => invalid(fault, Some(id)),
            None => Ok(Message::Request { id, method, params: owned(envelope.params) }),
        },
        (Member::Is(method), Member::Absent) => match fault {
            Some(fault) => invalid(fault, None),
            None => Ok(notification(method, envelope.params)),
        },
    }
}

/// An update whose members came in an unusual order, or that needs a repair, is an update all the same.
fn notification(method: Box<str>, params: Option<&RawValue>) -> Message {
    if &*method == SessionNotification::METHOD
        && let Ok(update) = rpc::params(params)
    {
        return Message::Update(update);
    }
    Message::Notification { method, params: owned(params) }
}

fn response(envelope: Envelope<'_>, fault: Option<Fault>) -> Message {
    let id = match envelope.id {
        Member::Is(id) => Some(id),
        Member::Absent | Member::Odd => None,
    };
    let outcome = match (fault, &envelope.method, envelope.result, present(envelope.error)) {
        (Some(fault), ..) => Err(fault),
        (None, Member::Is(_) | Member::Odd, ..) => Err(Fault::Ambiguous),
        (None, _, Some(result), Some(_)) if result.get() != "null" => Err(Fault::Ambiguous),
        (None, _, _, Some(error)) => serde_json::from_str(error.get()).map(Err).map_err(|_| Fault::BadError),
        (None, _, Some(result), None) => Ok(Ok(result.to_owned())),
        (None, _, None, None) => Err(Fault::BadError),
    };
    match (id, outcome) {
        (Some(id), Ok(outcome)) => Message::Response { id, outcome },
        (None, Ok(_)) => Message::BadResponse { id: None, fault: Fault::BadId },
        (id, Err(fault)) => Message::BadResponse { id, fault },
    }
}

/// Some peers write the member that does not apply as `null`.
fn present(member: Option<&RawValue>) -> Option<&RawValue> {
    member.filter(|raw| raw.get() != "null")
}

fn owned(params: Option<&RawValue>) -> Option<Box<RawValue>> {
    present(params).map(ToOwned::to_owned)
}
