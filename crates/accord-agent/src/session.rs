//! A session of a connection, and the handle through which updates about it go out.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use accord_protocol::v1::{SessionId, SessionNotification, SessionUpdate};

use crate::{
    client::{Client, ClientError},
    fence::{Fence, Latch},
    permission::{Grant, Standing},
    wire::Wire,
};

/// What is known of an open session.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) id: SessionId,
    /// Closes when the session does: nothing is sent about it afterwards.
    pub(crate) fence: Fence,
    /// The session has been closed or deleted, or the connection is gone.
    pub(crate) ended: Latch,
    /// What the person decided for good.
    pub(crate) standing: Mutex<Standing>,
}

impl Entry {
    pub(crate) fn new(id: SessionId) -> Self {
        Self { id, fence: Fence::default(), ended: Latch::default(), standing: Mutex::default() }
    }

    /// Nothing more is asked of the client for this session, and nothing sent.
    pub(crate) async fn end(&self) {
        self.ended.set();
        self.fence.close().await;
    }

    /// The same at once: who is sending already still sends.
    pub(crate) fn cut(&self) {
        self.ended.set();
        self.fence.shut();
    }
}

/// An open session, as far as its agent may use it outside a turn. Clones are the same session.
#[derive(Clone, Debug)]
pub struct Session {
    pub(crate) entry: Arc<Entry>,
    pub(crate) wire: Arc<Wire>,
}

impl Session {
    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.entry.id
    }

    /// Tells the client something about the session.
    ///
    /// Calls that are awaited one after the other go out in that order; above the high-water mark a call waits for the client
    /// to read.
    /// What the client did not ask for (notices, compaction, boolean options) is left out silently.
    ///
    /// # Errors
    /// [`ClientError::Ended`] when the session is closed or the connection gone; [`ClientError::TooLarge`] for an update
    /// longer than a line may be.
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn update(&self, update: impl Into<SessionUpdate> + Send) -> Result<(), ClientError> {
        self.send(update.into()).done().await
    }

    /// An update as it goes to this client.
    pub(crate) fn notification(&self, mut update: SessionUpdate) -> SessionNotification {
        if let SessionUpdate::ConfigOptionUpdate(options) = &mut update {
            self.wire.fit_options(&mut options.config_options);
        }
        SessionNotification::new(self.id().clone(), update)
    }

    fn send(&self, update: SessionUpdate) -> Sending<'_> {
        let notification = self.notification(update);
        match self.send_now(&notification) {
            Some(sent) => Sending::Done(sent),
            None => Sending::Waiting(Box::pin(async move { self.send_in_time(&notification).await })),
        }
    }

    /// Sends it, if there is room now, unless the client did not ask for its kind.
    pub(crate) fn send_now(&self, notification: &SessionNotification) -> Option<Result<(), ClientError>> {
        if !self.wire.takes(&notification.update) {
            return Some(Ok(()));
        }
        let Some(_inside) = self.entry.fence.enter() else { return Some(Err(ClientError::Ended)) };
        let sent = self.wire.handle.try_notify(notification)?;
        Some(sent.map_err(ClientError::from))
    }

    /// Waits for room, and sends it.
    pub(crate) async fn send_in_time(&self, notification: &SessionNotification) -> Result<(), ClientError> {
        let _inside = self.entry.fence.enter().ok_or(ClientError::Ended)?;
        self.wire.handle.notify(notification).await.map_err(ClientError::from)
    }

    /// The client's files, terminals and forms, for this session.
    pub fn client(&self) -> Client {
        Client::new(self.clone())
    }

    /// What the person decided for good in this session holds.
    pub(crate) fn restore(&self, grants: Vec<Grant>) {
        // Nothing panics while the lock is held.
        self.entry.standing.lock().unwrap_or_else(PoisonError::into_inner).restore(grants);
    }

    /// Returns when the session is closed or deleted, or the connection is gone.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn ended(&self) {
        self.entry.ended.wait().await;
    }
}

/// What became of an update: it went out or could not, or it waits for room.
///
/// The waiting is rare, and in a place of its own: the future of a handler has room for everything that it may ever wait
/// for, and is moved.
pub(crate) enum Sending<'a> {
    Done(Result<(), ClientError>),
    Waiting(Pin<Box<dyn Future<Output = Result<(), ClientError>> + Send + 'a>>),
}

impl Sending<'_> {
    #[expect(clippy::manual_async_fn, reason = "the future of an `async fn` holds its arguments twice")]
    pub(crate) fn done(self) -> impl Future<Output = Result<(), ClientError>> + Send {
        async move {
            match self {
                Self::Done(sent) => sent,
                Self::Waiting(sending) => sending.await,
            }
        }
    }
}
