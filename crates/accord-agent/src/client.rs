//! What an agent may ask of its client, checked against what the client offers before anything is sent.

mod elicitation;
mod form;
mod terminal;

use std::{path::Path, pin::pin, sync::Arc};

use accord_protocol::{
    method::Request,
    rpc,
    v1::{ClientCapabilities, Implementation, ReadTextFileRequest, SessionId, WriteTextFileRequest},
};
use accord_transport::CallError;

pub use self::elicitation::{Filled, Visit};
pub use self::terminal::{Command, Output, Terminal};

use crate::{fence::Latch, session::Session, text, turn::Running};

/// The client of one session: its files, its terminals, its person.
///
/// What is asked through a turn's handle is given up when the turn is cancelled, through a session's when it is closed.
#[derive(Clone, Debug)]
pub struct Client {
    pub(crate) session: Session,
    /// The turn whose cancel ends what is asked; without one it is the session's end.
    turn: Option<Arc<Running>>,
}

impl Client {
    pub(crate) fn new(session: Session) -> Self {
        Self { session, turn: None }
    }

    pub(crate) fn in_turn(session: Session, turn: Arc<Running>) -> Self {
        Self { session, turn: Some(turn) }
    }

    /// What the client offers.
    pub fn capabilities(&self) -> &ClientCapabilities {
        self.session.wire.capabilities()
    }

    /// The client's name and version, if it gave them.
    pub fn info(&self) -> Option<&Implementation> {
        self.session.wire.client_info()
    }

    /// Whether [`read_text_file`](Self::read_text_file) is offered.
    pub fn reads_files(&self) -> bool {
        self.capabilities().fs.as_ref().and_then(|fs| fs.read_text_file) == Some(true)
    }

    /// Whether [`write_text_file`](Self::write_text_file) is offered.
    pub fn writes_files(&self) -> bool {
        self.capabilities().fs.as_ref().and_then(|fs| fs.write_text_file) == Some(true)
    }

    /// Whether [`create_terminal`](Self::create_terminal) is offered.
    pub fn has_terminals(&self) -> bool {
        self.capabilities().terminal == Some(true)
    }

    /// A file's text as the person sees it, unsaved changes included.
    ///
    /// # Errors
    /// [`ClientError::Unsupported`], [`ClientError::NotAbsolute`], or what the client said; `-32002` for a file that is not there.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the request.
    pub async fn read_text_file(&self, path: impl AsRef<Path> + Send) -> Result<String, ClientError> {
        self.read(path.as_ref(), |request| request).await
    }

    /// Part of a file's text: `limit` lines from `line` on, counted from 1.
    ///
    /// # Errors
    /// As [`read_text_file`](Self::read_text_file).
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the request.
    pub async fn read_lines(
        &self,
        path: impl AsRef<Path> + Send,
        line: u32,
        limit: u32,
    ) -> Result<String, ClientError> {
        self.read(path.as_ref(), |request| request.line(line.max(1)).limit(limit)).await
    }

    /// Writes a file where the person sees it; a file that is not there is made.
    ///
    /// # Errors
    /// [`ClientError::Unsupported`], [`ClientError::NotAbsolute`], or what the client said.
    ///
    /// # Cancel safety
    /// The file may be written although the future was dropped.
    pub async fn write_text_file(
        &self,
        path: impl AsRef<Path> + Send,
        text: impl Into<String> + Send,
    ) -> Result<(), ClientError> {
        need(self.writes_files(), "fs.writeTextFile")?;
        let request = WriteTextFileRequest::new(self.id(), absolute(path.as_ref())?, text);
        self.call(&request).await.map(drop)
    }

    async fn read(
        &self,
        path: &Path,
        window: impl FnOnce(ReadTextFileRequest) -> ReadTextFileRequest + Send,
    ) -> Result<String, ClientError> {
        need(self.reads_files(), "fs.readTextFile")?;
        let request = window(ReadTextFileRequest::new(self.id(), absolute(path)?));
        Ok(self.call(&request).await?.content)
    }

    pub(crate) fn id(&self) -> SessionId {
        self.session.id().clone()
    }

    /// A call that is given up with the turn or the session.
    pub(crate) async fn call<R: Request + Sync>(&self, request: &R) -> Result<R::Answer, ClientError> {
        self.still_in_turn()?;
        let call = pin!(self.session.wire.handle.call(request));
        match self.given_up().or(call).await {
            Some(answer) => answer.map_err(ClientError::from),
            None => Err(ClientError::Cancelled),
        }
    }

    /// A turn's handle may have been kept beyond the turn's answer.
    fn still_in_turn(&self) -> Result<(), ClientError> {
        match &self.turn {
            Some(turn) if turn.fence.is_shut() => Err(ClientError::Ended),
            _ => Ok(()),
        }
    }

    /// Set when what is asked is given up.
    fn given_up(&self) -> &Latch {
        self.turn.as_ref().map_or(&self.session.entry.ended, |turn| &turn.cancel)
    }
}

/// Why something asked of the client did not come.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The client does not offer it; nothing was sent.
    #[error("the client does not offer {capability}")]
    Unsupported {
        /// The capability's path in the client's `initialize`, such as `fs.readTextFile`.
        capability: &'static str,
    },
    /// A path must be absolute; nothing was sent.
    #[error("the path is not absolute")]
    NotAbsolute,
    /// The turn was cancelled.
    #[error("the turn was cancelled")]
    Cancelled,
    /// The turn or the session is over, or the connection gone.
    #[error("the turn or the session is over")]
    Ended,
    /// The client refused.
    #[error("the client refused: {}", text::one_line(&.0.to_string()))]
    Refused(rpc::Error),
    /// The client accepted a form with a value that does not fit it.
    #[error("the value of {field} does not fit the form")]
    Misfit {
        /// The field.
        field: String,
    },
    /// A field of a form has a pattern that values cannot be checked against; nothing was sent.
    #[error("the pattern of {field} cannot be checked")]
    Pattern {
        /// The field.
        field: String,
    },
    /// What was to be sent is longer than a line may be; nothing was sent.
    #[error("a message of {bytes} bytes is over the limit of {limit}")]
    TooLarge {
        /// How long the line would have been.
        bytes: usize,
        /// The limit of this connection.
        limit: usize,
    },
    /// What was to be sent does not serialise; nothing was sent.
    #[error("what was to be sent does not serialise")]
    Unserialisable(#[source] CallError),
    /// The client's answer was not of the promised form.
    #[error("the client's answer cannot be read")]
    Unreadable(#[source] CallError),
}

impl ClientError {
    /// The code the client refused with.
    pub fn code(&self) -> Option<rpc::ErrorCode> {
        match self {
            Self::Refused(error) => Some(error.code),
            _ => None,
        }
    }
}

impl From<CallError> for ClientError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(error) => Self::Refused(error),
            CallError::Lost(_) => Self::Ended,
            CallError::TooLarge { bytes, limit } => Self::TooLarge { bytes, limit },
            error @ CallError::Unserialisable(_) => Self::Unserialisable(error),
            other => Self::Unreadable(other),
        }
    }
}

pub(super) fn need(offered: bool, capability: &'static str) -> Result<(), ClientError> {
    if offered { Ok(()) } else { Err(ClientError::Unsupported { capability }) }
}

pub(super) fn absolute(path: &Path) -> Result<&Path, ClientError> {
    if path.is_absolute() { Ok(path) } else { Err(ClientError::NotAbsolute) }
}
