//! The far end of a chain: sends what is stored, and keeps it in order until there is somebody to send it to.

use std::{collections::VecDeque, future::pending, sync::Arc};

use accord_protocol::v1::SessionUpdate;
use tokio::sync::SetOnce;

use super::room::Room;
use crate::{client::ClientError, session::Session, turn::Turn};

/// Where updates leave the chain.
#[derive(Debug)]
pub(super) struct Outbox {
    session: Arc<SetOnce<Session>>,
    /// What was said before the client knew the session, with the room it takes.
    kept: VecDeque<(SessionUpdate, Room)>,
}

impl Outbox {
    pub(super) fn new(session: Arc<SetOnce<Session>>) -> Self {
        Self { session, kept: VecDeque::new() }
    }

    /// Resolves when what was kept can be sent.
    pub(super) async fn connected(&self) {
        if self.kept.is_empty() {
            return pending().await;
        }
        self.session.wait().await;
    }

    /// Sends what was kept.
    pub(super) async fn empty(&mut self) {
        let Some(session) = self.session.get() else { return };
        while let Some((update, room)) = self.kept.pop_front() {
            told(session.update(update).await);
            drop(room);
        }
    }

    /// Sends, or keeps until there is somebody to send to.
    pub(super) async fn send(&mut self, update: SessionUpdate, turn: Option<Turn>, mut room: Room) {
        self.empty().await;
        match (turn, self.session.get()) {
            (Some(turn), _) => told(turn.update(update).await),
            (None, Some(session)) => told(session.update(update).await),
            (None, None) => {
                room.stored();
                self.kept.push_back((update, room));
            }
        }
    }
}

/// A client that is gone, or a session that is closed, gets nothing more; the store still gets all.
fn told(sent: Result<(), ClientError>) {
    if let Err(error @ (ClientError::TooLarge { .. } | ClientError::Unserialisable(_))) = sent {
        tracing::warn!(%error, "an update was stored and could not be sent");
    }
}
