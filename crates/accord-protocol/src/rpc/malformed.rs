//! Lines that are no messages: what was wrong, and what they would have been.

use std::fmt;

use crate::rpc::glimpse::Glimpse;
use crate::rpc::{Error, Id};

/// A line that is no message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed line: {fault}")]
#[non_exhaustive]
pub struct Malformed {
    /// What was wrong with it.
    pub fault: Fault,
    /// What it would have been.
    pub shape: Shape,
    /// The id it came with, where it could be read.
    pub id: Option<Id>,
}

/// What a malformed line would have been, by the members that could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Nobody can tell.
    Unknown,
    /// It has a method and an id.
    Request,
    /// It has a method and no id, so it is not answered even when it is invalid.
    Notification,
    /// It has a result or an error, so it is never answered; it may end the request it was meant for.
    Response,
}

impl Malformed {
    /// A line of which nothing could be read.
    pub fn new(fault: Fault) -> Self {
        Self { fault, shape: Shape::Unknown, id: None }
    }

    /// What a line that is too long would have been, judged by how it begins.
    pub fn too_long(start: &[u8]) -> Self {
        Self::glimpsed(Fault::TooLong, start)
    }

    /// What the beginning of a line gives away about what it would have been.
    pub(crate) fn glimpsed(fault: Fault, start: &[u8]) -> Self {
        let seen = Glimpse::of(start);
        let shape = match (seen.response, seen.method, &seen.id) {
            (true, ..) => Shape::Response,
            (false, true, Some(_)) => Shape::Request,
            // The id may be in the part that cannot be read.
            (false, ..) => Shape::Unknown,
        };
        Self { fault, shape, id: seen.id }
    }

    /// The error a side that answers bad lines answers this one with, and the id it is answered to.
    pub fn answer(&self) -> (Id, Error) {
        match self.fault {
            // Whatever seemed to be the id may be a piece of something else.
            Fault::NotUtf8 | Fault::NotJson => {
                (Id::Null, Error::new(-32700, format!("parse error: {}", self.fault)))
            }
            fault => {
                // Only a request has a caller who waits for an answer. One that is too long may have its method
                // where nobody could look.
                let asked = self.shape == Shape::Request || fault == Fault::TooLong;
                let id = self.id.clone().filter(|_| asked).unwrap_or(Id::Null);
                (id, Error::invalid_request(format!("invalid request: {fault}")))
            }
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
