//! A session of a connection, and the handle through which updates about it go out.

use std::sync::{Arc, Mutex, PoisonError};

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
    /// Updates go out in the order of the calls; above the high-water mark a call waits for the client to read.
    /// What the client did not ask for (notices, compaction, boolean options) is left out silently.
    ///
    /// # Errors
    /// [`ClientError::Ended`] when the session is closed or the connection gone; [`ClientError::TooLarge`] for an update
    /// longer than a line may be.
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn update(&self, update: impl Into<SessionUpdate> + Send) -> Result<(), ClientError> {
        let notification = self.notification(update.into());
        self.send(&notification).await
    }

    /// An update as it goes to this client.
    pub(crate) fn notification(&self, mut update: SessionUpdate) -> SessionNotification {
        if let SessionUpdate::ConfigOptionUpdate(options) = &mut update {
            self.wire.fit_options(&mut options.config_options);
        }
        SessionNotification::new(self.id().clone(), update)
    }

    /// Sends it unless the client did not ask for its kind. Borrowed, since updates are large and futures are moved.
    pub(crate) async fn send(&self, notification: &SessionNotification) -> Result<(), ClientError> {
        if !self.wire.takes(&notification.update) {
            return Ok(());
        }
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
