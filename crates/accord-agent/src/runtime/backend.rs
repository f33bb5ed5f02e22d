//! What a backend is: how a turn runs and which models there are. The runtime does the rest.

use std::{
    future::{Future, ready},
    path::PathBuf,
};

use accord_protocol::v1::{AvailableCommand, Implementation, PromptCapabilities, SessionId, StopReason};
use serde_json::value::RawValue;

use super::choice::Choice;
use super::handle::SessionHandle;
use super::turn::Turn;
use crate::{
    handler::{Auth, Error, LoggingOut, Never},
    store::{Position, Record, Store, StoreError},
};

/// How turns run.
pub trait Backend: Send + Sync + 'static {
    /// What the backend keeps for an open session.
    type Session: Send + Sync + 'static;

    /// The agent's name and version.
    fn info(&self) -> Implementation;

    /// Which content turns may have besides text and links.
    fn prompt_capabilities(&self) -> PromptCapabilities {
        PromptCapabilities::default()
    }

    /// Logging in.
    fn auth(&self) -> Option<&impl Auth> {
        None::<&Never>
    }

    /// Logging out.
    fn logging_out(&self) -> Option<&impl LoggingOut> {
        None::<&Never>
    }

    /// Opens a session: a new one, or one that was stored. When it fails nothing of a new session is left.
    fn open(&self, opening: Opening) -> impl Future<Output = Result<Self::Session, Error>> + Send;

    /// The slash commands of an open session; the client is told of them once it knows the session.
    fn commands(&self, session: &Self::Session) -> Vec<AvailableCommand> {
        let _ = session;
        Vec::new()
    }

    /// Runs a turn. There is never more than one in a session.
    ///
    /// After a cancel the answer is [`StopReason::Cancelled`], whatever this returns; it should return soon, because a
    /// client's next prompt is refused until then. An error goes to the client as it is.
    fn turn(
        &self,
        session: &Self::Session,
        turn: Turn,
    ) -> impl Future<Output = Result<StopReason, Error>> + Send;

    /// A session is closed: its last turn has ended, and nothing it sends reaches anybody any more.
    fn closed(&self, session: &Self::Session) -> impl Future<Output = ()> + Send {
        let _ = session;
        ready(())
    }
}

/// A session that is being opened.
#[derive(Debug)]
#[non_exhaustive]
pub struct Opening {
    /// The session, as far as it outlives a turn.
    pub session: SessionHandle,
    /// Its working directory, absolute and without links.
    pub cwd: PathBuf,
    /// The directories it has besides.
    pub directories: Vec<PathBuf>,
    /// Where it comes from.
    pub origin: Origin,
    /// What it is set to at this moment.
    pub choice: Choice,
    /// What the backend recorded in it before; of a fork, what was recorded in its source.
    pub history: History,
}

/// Where an opened session comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// It is new.
    New,
    /// It was stored.
    Stored,
    /// It begins as a copy of another one.
    Fork(SessionId),
}

/// What a backend recorded in a session, read a little at a time, however much it is.
#[derive(Debug)]
pub struct History {
    store: Option<Store>,
    id: SessionId,
    next: Option<Position>,
    read: std::vec::IntoIter<Record>,
}

impl History {
    pub(super) fn new(store: Option<Store>, id: SessionId) -> Self {
        let next = store.as_ref().map(|_| Position::START);
        Self { store, id, next, read: Vec::new().into_iter() }
    }

    /// The next record, oldest first.
    ///
    /// # Errors
    /// The store could not be read.
    ///
    /// # Cancel safety
    /// Nothing is skipped by dropping the future.
    pub async fn next(&mut self) -> Result<Option<Box<RawValue>>, Error> {
        /// Bytes in memory at a time.
        const PIECE: usize = 256 << 10;
        loop {
            for record in self.read.by_ref() {
                if let Record::Backend(record) = record {
                    return Ok(Some(record));
                }
            }
            let (Some(store), Some(from)) = (&self.store, self.next) else { return Ok(None) };
            let slice = match store.read(self.id.clone(), from, PIECE).await {
                // Not written yet: a new session.
                Err(StoreError::Unknown(_)) => return Ok(None),
                slice => slice.map_err(super::store_error)?,
            };
            self.next = slice.next;
            self.read = slice.records.into_iter();
        }
    }

    /// All of it at once.
    ///
    /// # Errors
    /// The store could not be read.
    ///
    /// # Cancel safety
    /// What was read is lost with the future.
    pub async fn all(mut self) -> Result<Vec<Box<RawValue>>, Error> {
        let mut all = Vec::new();
        while let Some(record) = self.next().await? {
            all.push(record);
        }
        Ok(all)
    }
}
