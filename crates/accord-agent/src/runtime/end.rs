//! The end of a turn: it is stored exactly once, before the next turn begins, whatever becomes of whom it was left to.

use std::sync::Arc;

use tokio::{
    sync::{Mutex, OwnedMutexGuard},
    task::JoinHandle,
};

use super::turn::Turn;
use crate::handler::Error;

/// The one place for a turn in a session. It is free again when the end of the turn before is stored.
#[derive(Debug, Default)]
pub(super) struct Slot(Arc<Mutex<()>>);

/// A turn's hold on the slot.
#[derive(Debug)]
pub(super) struct Held {
    _guard: OwnedMutexGuard<()>,
}

impl Slot {
    /// Waits for the end of the turn before.
    pub(super) async fn take(&self) -> Held {
        Held { _guard: Arc::clone(&self.0).lock_owned().await }
    }
}

/// Sees to it that a turn gets its end, also when its backend had to be dropped.
pub(super) struct EndOfTurn(Option<(Turn, Held)>);

impl EndOfTurn {
    pub(super) fn new(turn: Turn, held: Held) -> Self {
        Self(Some((turn, held)))
    }

    /// The turn has come to its end. Once this was polled the end is stored, also if nobody waits for it.
    pub(super) async fn reached(mut self, stop: &str) -> Result<(), Error> {
        match self.begin(stop.to_owned()) {
            Some(ending) => {
                ending.await.unwrap_or_else(|_| Err(Error::internal("the turn was not ended properly")))
            }
            None => Ok(()),
        }
    }

    /// Ends the turn in a task of its own, which keeps the slot until it is done.
    fn begin(&mut self, stop: String) -> Option<JoinHandle<Result<(), Error>>> {
        let (turn, held) = self.0.take()?;
        tokio::runtime::Handle::try_current().ok()?;
        Some(turn.clone().at_the_end(async move {
            let ended = turn.end(&stop).await;
            if let Err(error) = &ended {
                tracing::warn!(session = %turn.session_id(), %error, "a turn was not ended properly");
            }
            drop(held);
            ended
        }))
    }
}

impl Drop for EndOfTurn {
    fn drop(&mut self) {
        drop(self.begin("cancelled".to_owned()));
    }
}
