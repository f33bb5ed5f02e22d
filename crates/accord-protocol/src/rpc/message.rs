//! One line of the wire, told apart by the members it has.

use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::method::Notification as _;
use crate::rpc::envelope::{Envelope, Member};
use crate::rpc::usual::{Usual, usual};
use crate::rpc::{self, Answer, Error, Fault, Id, Malformed, Params, Shape, depth};
use crate::v1::SessionNotification;

/// What a line turned out to be.
///
/// | members | variant |
/// | --- | --- |
/// | `method` and `id` | [`Request`](Self::Request) |
/// | `method` alone | [`Notification`](Self::Notification), or [`Update`](Self::Update) |
/// | `result` or `error` | [`Response`](Self::Response) |
///
/// What has `result` or `error` is a response, whatever else it has: a response is never answered, or two strict
/// peers would answer each other's errors for ever.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Message {
    /// A call that wants one answer.
    Request {
        /// Echoed in the answer.
        id: Id,
        /// The name of the method.
        method: Box<str>,
        /// The parameters.
        params: Params,
    },
    /// A message that wants no answer.
    Notification {
        /// The name of the method.
        method: Box<str>,
        /// The parameters; absent and `null` are the same.
        params: Option<Box<RawValue>>,
    },
    /// A `session/update` that has its form. One that has not is a [`Notification`](Self::Notification).
    Update(Box<SessionNotification>),
    /// The answer to a request of ours.
    Response {
        /// The id that the request had.
        id: Id,
        /// The result, or the refusal.
        outcome: Result<Answer, Error>,
    },
}

/// Reads one line, without its line end.
///
/// # Errors
/// The line is no message.
pub fn decode(line: &[u8]) -> Result<Message, Malformed> {
    let mut update = None;
    let message = decode_into(line, &mut update)?;
    // Either there is a message, or it is in its place.
    match (message, update) {
        (Some(message), _) => Ok(message),
        (None, Some(update)) => Ok(Message::Update(Box::new(update))),
        (None, None) => Err(Malformed::new(Fault::NoMessage)),
    }
}

/// As [`decode`], with a place for a session update, which spares the allocation and the moves: nothing is returned
/// when the line was an update and `update` has it.
///
/// # Errors
/// As [`decode`]. What is in `update` then means nothing.
pub fn decode_into(
    line: &[u8],
    update: &mut Option<SessionNotification>,
) -> Result<Option<Message>, Malformed> {
    let text = str::from_utf8(line).map_err(|_| Malformed::glimpsed(Fault::NotUtf8, line))?;
    let too_deep = depth::too_deep(line);
    // Nearly all lines have their members in the usual order.
    match usual(text).filter(|_| !too_deep) {
        Some(Usual::Notification { method: SessionNotification::METHOD, params }) => {
            if let Ok(read) = serde_json::from_str(params) {
                *update = Some(read);
                return Ok(None);
            }
        }
        Some(members) => {
            if let Some(message) = well_formed(members) {
                return Ok(Some(message));
            }
        }
        None => {}
    }
    *update = None;
    let envelope =
        serde_json::from_str(text).map_err(|error| Malformed::glimpsed(not_an_object(text, &error), line))?;
    classify(envelope, too_deep).map(Some)
}

/// The message that has these members. What is not well-formed has to be read with more care.
fn well_formed(members: Usual<'_>) -> Option<Message> {
    Some(match members {
        Usual::Notification { method, params } => {
            let params = owned(Some(serde_json::from_str(params).ok()?));
            Message::Notification { method: method.into(), params }
        }
        Usual::Request { id, method, params } => {
            Message::Request { id, params: Params::of(method, params)?, method: method.into() }
        }
        Usual::Answer { id, result } => Message::Response { id, outcome: Ok(Answer::of(result)?) },
    })
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
    let invalid = |fault, shape, id| Err(Malformed { fault, shape, id });
    if envelope.result.is_some() || envelope.error.is_some() {
        return response(envelope, fault);
    }
    match (envelope.method, envelope.id) {
        (_, Member::Odd) => invalid(Fault::BadId, Shape::Unknown, None),
        (Member::Odd, Member::Is(id)) => invalid(Fault::BadMethod, Shape::Request, Some(id)),
        (Member::Odd, Member::Absent) => invalid(Fault::BadMethod, Shape::Unknown, None),
        (Member::Absent, Member::Absent) => invalid(Fault::NoMessage, Shape::Unknown, None),
        (Member::Absent, Member::Is(id)) => invalid(fault.unwrap_or(Fault::Empty), Shape::Unknown, Some(id)),
        (Member::Is(method), Member::Is(id)) => match fault {
            Some(fault) => invalid(fault, Shape::Request, Some(id)),
            None => Ok(Message::Request { id, method, params: envelope.params.into() }),
        },
        (Member::Is(method), Member::Absent) => match fault {
            Some(fault) => invalid(fault, Shape::Notification, None),
            None => Ok(notification(method, envelope.params)),
        },
    }
}

/// An update whose members came in an unusual order, or that needs a repair, is an update all the same.
fn notification(method: Box<str>, params: Option<&RawValue>) -> Message {
    if &*method == SessionNotification::METHOD
        && let Ok(update) = rpc::params(params)
    {
        return Message::Update(Box::new(update));
    }
    Message::Notification { method, params: owned(params) }
}

fn response(envelope: Envelope<'_>, fault: Option<Fault>) -> Result<Message, Malformed> {
    let result = match (fault, &envelope.method, envelope.result, present(envelope.error)) {
        (Some(fault), ..) => Err(fault),
        (None, Member::Is(_) | Member::Odd, ..) => Err(Fault::Ambiguous),
        (None, _, Some(result), Some(_)) if result.get() != "null" => Err(Fault::Ambiguous),
        (None, _, _, Some(error)) => serde_json::from_str(error.get()).map(Err).map_err(|_| Fault::BadError),
        (None, _, Some(result), None) => Ok(Ok(Answer::from(result.to_owned()))),
        (None, _, None, None) => Err(Fault::BadError),
    };
    let id = match (envelope.id, &result) {
        (Member::Is(id), _) => Some(id),
        // Some agents complain about notifications this way. It is the answer to no request, as with the id null.
        (Member::Absent, Ok(Err(_))) => Some(Id::Null),
        (Member::Absent | Member::Odd, _) => None,
    };
    match (id, result) {
        (Some(id), Ok(outcome)) => Ok(Message::Response { id, outcome }),
        (None, Ok(_)) => Err(Malformed { fault: Fault::BadId, shape: Shape::Response, id: None }),
        (id, Err(fault)) => Err(Malformed { fault, shape: Shape::Response, id }),
    }
}

/// Some peers write the member that does not apply as `null`.
fn present(member: Option<&RawValue>) -> Option<&RawValue> {
    member.filter(|raw| raw.get() != "null")
}

fn owned(params: Option<&RawValue>) -> Option<Box<RawValue>> {
    present(params).map(ToOwned::to_owned)
}
