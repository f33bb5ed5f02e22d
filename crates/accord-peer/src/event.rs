//! What [`Peer::receive`](crate::Peer::receive) says about one message.

use std::fmt;

use accord_protocol::rpc::{Answer, Error, Fault, Id, Params};
use accord_protocol::v1::SessionNotification;
use serde_json::value::RawValue;

use crate::CallKey;

/// What a message means for the application.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<W> {
    /// The peer wants something: answer it once, by its key.
    Call {
        /// Ours, never reused.
        key: CallKey,
        /// The peer's, for logs.
        id: Id,
        /// The name of the method.
        method: Box<str>,
        /// The parameters.
        params: Params,
    },
    /// The peer tells what has happened in a session.
    Update(Box<SessionNotification>),
    /// The peer tells something else.
    Notification {
        /// The name of the method.
        method: Box<str>,
        /// The parameters as they came.
        params: Option<Box<RawValue>>,
    },
    /// A request of ours has its outcome.
    Outcome {
        /// What was handed to [`Peer::request`](crate::Peer::request).
        waiter: W,
        /// The result, or why there is none.
        outcome: Result<Answer, Failed>,
    },
    /// The peer no longer wants the answer to this call. It still has to be answered.
    Cancelled {
        /// The call.
        key: CallKey,
    },
    /// The peer did something it should not. Nothing is to be done; it is for the log.
    Violation(Violation),
}

/// Why a request that was answered has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Failed {
    /// The peer answered with an error.
    #[error(transparent)]
    Refused(Error),
    /// The peer answered in a form that is no answer.
    #[error("malformed answer: {0}")]
    Malformed(Fault),
}

/// Something the peer should not have sent. It holds nothing of what was sent but ids and method names.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Violation {
    /// A line that is no message.
    Malformed(Fault),
    /// A response to something that was never asked, or that was answered already.
    UnknownResponse(Id),
    /// The peer could not read something of ours.
    Complaint(Error),
    /// A request with the id of one that is not answered yet.
    DuplicateId(Id),
    /// A request or notification before the connection was opened.
    TooEarly(Box<str>),
    /// More requests at once than are served.
    TooMany(Id),
    /// A `$/cancel_request` without a request id.
    BadCancel,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(fault) => write!(f, "malformed line: {fault}"),
            Self::UnknownResponse(id) => write!(f, "response to no pending request, id {}", CutId(id)),
            Self::Complaint(error) => write!(f, "the peer could not read a message, code {}", error.code),
            Self::DuplicateId(id) => write!(f, "request id {} is in use", CutId(id)),
            Self::TooEarly(method) => write!(f, "{:?} before the connection was opened", Cut(method)),
            Self::TooMany(id) => write!(f, "too many requests at once, id {}", CutId(id)),
            Self::BadCancel => f.write_str("cancellation without a request id"),
        }
    }
}

/// A name of the peer's, which may be as long as a line.
struct Cut<'a>(&'a str);

impl fmt::Debug for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 80;
        match self.0.char_indices().nth(MOST) {
            None => write!(f, "{:?}", self.0),
            Some((end, _)) => write!(f, "{:?}…", &self.0[..end]),
        }
    }
}

/// An id of the peer's, which may be as long as a line, too.
struct CutId<'a>(&'a Id);

impl fmt::Display for CutId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Id::String(id) => write!(f, "{:?}", Cut(id)),
            short => short.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diagnostic_stays_short_however_long_the_peers_names_are() {
        let long = "é".repeat(1 << 20);
        for violation in
            [Violation::TooEarly(long.as_str().into()), Violation::DuplicateId(Id::from(long.as_str()))]
        {
            assert!(violation.to_string().len() < 300);
        }
    }
}
