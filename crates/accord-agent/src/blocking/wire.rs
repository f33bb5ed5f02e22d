//! A turn of the runtime as its threads use it: from there to the session's chain and to the client.

use std::time::Duration;

use accord_protocol::v1::{PermissionOption, PermissionOptionId, SessionUpdate, ToolCallUpdate};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{agent::Failure, history::Record, park::block_on};
use crate::{
    permission::{Decision, Question},
    runtime::{MODEL, Route, Turn},
};

/// A turn of the runtime, for threads that block. Every call blocks until it is done, and gives up once this is shut.
pub(super) struct Wire {
    turn: Turn,
    runtime: Handle,
    shut: CancellationToken,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Asked {
    /// One of the options.
    Chosen(PermissionOptionId),
    /// The turn is cancelled, or the client dismissed the question.
    Cancelled,
    /// Nobody answered in time.
    TimedOut,
    /// No answer that can be used.
    Failed,
}

impl Wire {
    /// Must be called where the runtime is: its threads have no other way to it.
    pub(super) fn new(turn: Turn) -> Self {
        Self { turn, runtime: Handle::current(), shut: CancellationToken::new() }
    }

    /// Waits for what `ask` makes of the turn; `None` once this is shut.
    pub(super) fn wait<T, F: Future<Output = T>>(&self, ask: impl FnOnce(Turn) -> F) -> Option<T> {
        block_on(&self.runtime, self.shut.run_until_cancelled(ask(self.turn.clone())))
    }

    /// Sends an update, after those sent before it; waits while the client is slow.
    pub(super) fn update(&self, update: SessionUpdate) {
        // Over, or the client is gone: then there is nobody to tell, and the turn's cancel says so.
        let _ = self.wait(|turn| async move { turn.update(update).await });
    }

    /// Puts a question to the client, for at most `patience`.
    pub(super) fn ask(
        &self,
        call: ToolCallUpdate,
        options: Vec<PermissionOption>,
        patience: Option<Duration>,
    ) -> Asked {
        let answer = self.wait(|turn| async move {
            let asked = turn.ask(Question::new(call).options(options));
            match patience {
                Some(patience) => tokio::time::timeout(patience, asked).await,
                None => Ok(asked.await),
            }
        });
        match answer {
            Some(Ok(Ok(Decision::Allowed(option) | Decision::Rejected(Some(option))))) => {
                Asked::Chosen(option.option_id)
            }
            Some(Ok(Ok(Decision::Cancelled))) | None => Asked::Cancelled,
            Some(Ok(_)) => Asked::Failed,
            Some(Err(_)) => Asked::TimedOut,
        }
    }

    /// Stores a record; it is durable with the turn's end. Says whether it is in the session's log now.
    pub(super) fn record(&self, record: &Record) -> bool {
        let stored = matches!(self.wait(|turn| async move { turn.record(record).await }), Some(Ok(())));
        if !stored {
            tracing::warn!("something of a turn could not be stored");
        }
        stored
    }

    /// Chooses the model of the turns to come.
    pub(super) fn choose_model(&self, model: &Route) -> Result<(), Failure> {
        let value = model.to_string();
        match self.wait(|turn| async move { turn.session().set_option(MODEL, value).await }) {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(Failure::Invalid(error.message)),
            None => Err(Failure::failed("the turn is over")),
        }
    }

    /// Gives up whatever still waits, and lets nothing through from here on.
    pub(super) fn shut(&self) {
        self.shut.cancel();
    }
}
