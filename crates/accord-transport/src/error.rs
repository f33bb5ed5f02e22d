//! Errors that say whose fault it was.

use std::io;

use accord_peer::{Failed, SendError};
use accord_protocol::rpc::{self, ErrorCode, Fault, Misfit};

use crate::End;

/// The connection ended before there was an outcome.
#[derive(Clone, Debug, thiserror::Error)]
#[error("connection lost: {0}")]
#[expect(clippy::exhaustive_structs, reason = "the end says everything")]
pub struct Lost(pub End);

impl Lost {
    /// How the connection ended.
    pub fn end(&self) -> &End {
        &self.0
    }
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The peer answered with an error.
    #[error("the peer refused: {0}")]
    Refused(rpc::Error),
    /// The connection ended first.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The peer's answer is not of the promised type.
    #[error("the answer to {method} is not of its type: {misfit}")]
    Undecodable {
        /// The method that was called.
        method: String,
        /// Where it did not fit.
        misfit: Misfit,
    },
    /// The peer's answer is no JSON-RPC response.
    #[error("the answer is malformed: {0}")]
    Malformed(Fault),
    /// Our message is over the frame limit; nothing was sent.
    #[error("a message of {bytes} bytes is over the limit of {limit}")]
    TooLarge {
        /// How long the line would have been.
        bytes: usize,
        /// The limit of this connection.
        limit: usize,
    },
    /// The peer's answer is over the frame limit, and was skipped.
    #[error("the answer is over the limit of {limit} bytes")]
    AnswerTooLarge {
        /// The limit of this connection.
        limit: usize,
    },
    /// Our parameters do not serialise; nothing was sent.
    #[error("the parameters do not serialise")]
    Unserialisable(#[source] io::Error),
}

impl CallError {
    pub(crate) fn failed(failed: Failed, limit: usize) -> Self {
        match failed {
            Failed::Refused(error) => Self::Refused(error),
            Failed::Malformed(Fault::TooLong) => Self::AnswerTooLarge { limit },
            Failed::Malformed(fault) => Self::Malformed(fault),
            _ => Self::Malformed(Fault::NoMessage),
        }
    }

    /// `end` says how, if the connection has ended.
    pub(crate) fn unsent(error: SendError, end: impl FnOnce() -> End) -> Self {
        match error {
            SendError::TooLarge { bytes, limit } => Self::TooLarge { bytes, limit },
            SendError::Unserialisable(error) => Self::Unserialisable(error),
            _ => Self::Lost(Lost(end())),
        }
    }
}

/// So that a handler may pass a failure on with `?`: a refusal keeps its code, message and data.
impl From<CallError> for rpc::Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(error) => error,
            CallError::Lost(_) => Self::new(ErrorCode::INTERNAL_ERROR, "the connection was lost"),
            other => Self::new(ErrorCode::INTERNAL_ERROR, other.to_string()),
        }
    }
}
