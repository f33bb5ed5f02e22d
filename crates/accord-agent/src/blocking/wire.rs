//! The outlet of a turn of the runtime: from the turn's threads to the session's chain and to the client.

use std::time::Duration;

use accord_protocol::v1::{PermissionOption, SessionUpdate, ToolCallUpdate};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::{
    agent::Failure,
    history::Record,
    outlet::{Asked, MountedTool, Outlet},
    park::block_on,
    tools::ToolResult,
};
use crate::{
    permission::{Decision, Question},
    runtime::{MODEL, Route, Turn},
};

/// A turn of the runtime, for threads that block.
pub(super) struct Wire {
    turn: Turn,
    runtime: Handle,
    shut: CancellationToken,
}

impl Wire {
    /// Must be called where the runtime is: its threads have no other way to it.
    pub(super) fn new(turn: Turn) -> Self {
        Self { turn, runtime: Handle::current(), shut: CancellationToken::new() }
    }

    /// Waits for `future`; `None` once the outlet is shut.
    fn wait<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        block_on(&self.runtime, self.shut.run_until_cancelled(future))
    }
}

impl Outlet for Wire {
    fn update(&self, update: SessionUpdate) {
        // Over, or the client is gone: then there is nobody to tell, and the turn's cancel says so.
        let _ = self.wait(self.turn.update(update));
    }

    fn ask(&self, call: ToolCallUpdate, options: Vec<PermissionOption>, patience: Option<Duration>) -> Asked {
        let asked = self.turn.ask(Question::new(call).options(options));
        let answer = self.wait(async {
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

    fn record(&self, record: &Record) {
        if !matches!(self.wait(self.turn.record(record)), Some(Ok(()))) {
            tracing::warn!("something of a turn could not be stored");
        }
    }

    fn choose_model(&self, model: &Route) -> Result<(), Failure> {
        let chosen = self.wait(self.turn.session().set_option(MODEL, model.to_string()));
        match chosen {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => Err(Failure::Invalid(error.message)),
            None => Err(Failure::failed("the turn is over")),
        }
    }

    fn tools(&self) -> Vec<MountedTool> {
        Vec::new()
    }

    fn call_tool(&self, name: &str, _: Value) -> ToolResult {
        ToolResult::failed(format!("there is no tool {name}"))
    }

    fn shut(&self) {
        self.shut.cancel();
    }
}
