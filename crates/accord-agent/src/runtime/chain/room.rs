//! How much of a session may be on its way: whoever hands over waits for room first, and for nothing afterwards.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SetOnce};

use crate::{handler::Error, session::Session};

/// How many bytes may wait before whoever hands over waits too.
const ROOM: usize = 1 << 20;

/// Room for all that is on its way, and for what is kept until the client knows the session.
#[derive(Debug)]
pub(super) struct Rooms {
    inside: Arc<Semaphore>,
    aside: Arc<Semaphore>,
    session: Arc<SetOnce<Session>>,
    /// The backend is still opening the session. Whoever waits for the client now may be what the client waits for.
    opening: AtomicBool,
}

/// Room for something; free again when it is dropped.
#[derive(Debug, Default)]
pub(in crate::runtime) struct Room {
    inside: Option<OwnedSemaphorePermit>,
    _aside: Option<OwnedSemaphorePermit>,
}

impl Default for Rooms {
    fn default() -> Self {
        Self {
            inside: Arc::new(Semaphore::new(ROOM)),
            aside: Arc::new(Semaphore::new(ROOM)),
            session: Arc::new(SetOnce::new()),
            opening: AtomicBool::new(true),
        }
    }
}

impl Rooms {
    pub(super) fn session(&self) -> Arc<SetOnce<Session>> {
        Arc::clone(&self.session)
    }

    pub(super) fn connect(&self, session: &Session) {
        // Whoever comes first is the same session as whoever comes second.
        drop(self.session.set(session.clone()));
    }

    pub(super) fn opened(&self) {
        self.opening.store(false, Ordering::Release);
    }

    pub(super) async fn reserve(&self, bytes: usize, sent: usize) -> Result<Room, Error> {
        let aside = if sent > 0 { self.aside(sent).await? } else { None };
        Ok(Room { _aside: aside, ..self.inside(bytes).await })
    }

    /// Room for what is not sent.
    pub(super) async fn inside(&self, bytes: usize) -> Room {
        // The semaphore is never closed.
        let inside = Arc::clone(&self.inside).acquire_many_owned(wanted(bytes)).await.ok();
        Room { inside, _aside: None }
    }

    async fn aside(&self, bytes: usize) -> Result<Option<OwnedSemaphorePermit>, Error> {
        if self.session.get().is_some() {
            return Ok(None);
        }
        let aside = Arc::clone(&self.aside);
        if self.opening.load(Ordering::Acquire) {
            let permit = aside.try_acquire_many_owned(wanted(bytes)).map_err(|_| {
                Error::internal("the session said more than can be kept before its client knows it")
            })?;
            return Ok(Some(permit));
        }
        tokio::select! {
            permit = aside.acquire_many_owned(wanted(bytes)) => Ok(permit.ok()),
            _ = self.session.wait() => Ok(None),
        }
    }
}

impl Room {
    /// What was stored and is only kept for the client takes no room of what is on its way.
    pub(super) fn stored(&mut self) {
        self.inside = None;
    }
}

/// Something larger than all the room has it for itself.
fn wanted(bytes: usize) -> u32 {
    u32::try_from(bytes.min(ROOM)).unwrap_or(u32::MAX)
}
