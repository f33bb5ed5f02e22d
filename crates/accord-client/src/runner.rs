//! A runner: one session of one agent, started when first needed, told as events, never left hanging.

mod builder;
mod desk;
mod error;
mod opening;
mod shared;
mod sink;
mod teller;

use std::{fmt, sync::Arc};

use accord_protocol::v1::{
    AvailableCommand, InitializeResponse, PermissionOptionId, PermissionOptionKind, StopReason,
};
use tokio::sync::watch;

use crate::{Prompt, Session, elicitation::InputReply, events::CloseReason, turn::begin};

use self::shared::Shared;
pub use self::{
    builder::{ByteStream, Restore, RunnerBuilder, Source},
    error::{AnswerError, RunError},
    sink::{EventSink, Events, SinkError},
};

/// One session of one agent, started when first needed and told as [events](crate::events).
///
/// Clones are the same runner. Dropping the last one ends the agent's program; [`dispose`](Runner::dispose) waits for that.
#[derive(Clone)]
pub struct Runner {
    shared: Arc<Shared>,
}

/// What a runner is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunnerState {
    /// It takes a prompt.
    Idle,
    /// It runs one.
    Running,
    /// It is being disposed of.
    Closing,
    /// It is closed, for this reason, and stays so.
    Closed(CloseReason),
}

/// An answer to a permission question.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The option of that id.
    Option(PermissionOptionId),
    /// The first option of that kind, for instance one that is remembered.
    Kind(PermissionOptionKind),
    /// Yes, this once.
    Approve,
    /// No: once if that is offered, else for good.
    Deny,
    /// No decision.
    Cancel,
}

impl Runner {
    /// Prepares a runner for an agent: a command, a configured one, or one at the other end of a byte stream.
    pub fn builder(source: impl Into<Source>) -> RunnerBuilder {
        RunnerBuilder::new(source.into())
    }

    /// Runs a prompt to its end. The first one starts the agent and opens the session.
    ///
    /// Gives the stop reason, which is `cancelled` at once when the turn is [interrupted](Runner::interrupt). The turn's events
    /// have been told by then, but for those that come late after an interrupt. It ends with the connection at the latest;
    /// the client's [limits](crate::Builder::turn_deadline) may end it earlier.
    ///
    /// # Errors
    /// [`RunError::AlreadyRunning`] while another prompt runs; `Closing` and `Closed` when the runner is; otherwise what
    /// went wrong before the turn started, which no event tells, or in it, which `run.completed` tells as well.
    ///
    /// # Cancel safety
    /// Dropping the future interrupts the turn.
    pub async fn run(&self, prompt: impl Into<Prompt>) -> Result<StopReason, RunError> {
        let prompt = prompt.into();
        let running = self.shared.enter()?;
        let interrupted = running.interrupted_early();
        let session = tokio::select! {
            biased;
            () = interrupted => return Ok(StopReason::Cancelled),
            session = self.shared.session() => session?,
        };
        let interrupted = running.interrupted_early();
        let mut turn = tokio::select! {
            biased;
            () = interrupted => return Ok(StopReason::Cancelled),
            turn = begin(&session, &prompt, self.shared.feed()) => turn?,
        };
        if !self.shared.started(turn.key) {
            return Ok(StopReason::Cancelled);
        }
        if let Err(error) = turn.send(&session, prompt).await {
            self.shared.unsent(turn.key, error);
        }
        running.outcome().await
    }

    /// Starts the agent and opens the session, if that has not happened yet.
    ///
    /// However many callers race, it happens once. An agent that could not be started stays so; a session that could not
    /// be opened is tried again the next time.
    ///
    /// # Errors
    /// As [`Runner::run`] before its turn starts.
    ///
    /// # Cancel safety
    /// The opening goes on when the future is dropped.
    pub async fn open(&self) -> Result<Session, RunError> {
        self.shared.session().await
    }

    /// Ends the running turn for its caller at once, as cancelled.
    ///
    /// The agent is told, once; its open questions are answered `cancelled`. What it still sends belongs to the turn, and
    /// the next prompt waits for its end. A turn whose session is still being opened ends before its prompt is sent.
    /// Without a turn nothing is sent.
    pub fn interrupt(&self) {
        self.shared.interrupt();
    }

    /// Answers a permission question.
    ///
    /// # Errors
    /// [`AnswerError`] if there is no such question open, or it has no such option; the agent does not learn of that.
    pub fn answer_approval(&self, approval_id: &str, decision: &Decision) -> Result<(), AnswerError> {
        self.shared.answer_approval(approval_id, decision)
    }

    /// Answers a form, or a request to visit a page.
    ///
    /// # Errors
    /// [`AnswerError`] if there is no such input open, or the answers have problems; it then stays open.
    pub fn answer_input(&self, input_id: &str, reply: InputReply) -> Result<(), AnswerError> {
        self.shared.answer_input(input_id, reply)
    }

    /// Ends it all: the turn is interrupted, open questions are settled, the agent's program ends.
    ///
    /// Called again, it waits for the same end.
    ///
    /// # Cancel safety
    /// The ending goes on when the future is dropped.
    pub async fn dispose(&self) -> CloseReason {
        self.shared.dispose().await
    }

    /// Waits until the runner is closed: by its agent's end, or by [`dispose`](Runner::dispose).
    ///
    /// An agent that could not be started closes nothing; the runner is then to be disposed of, or dropped.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn closed(&self) -> CloseReason {
        self.shared.closed().await
    }

    /// What it is doing.
    pub fn state(&self) -> RunnerState {
        *self.shared.watch().borrow()
    }

    /// Follows what it is doing.
    pub fn watch_state(&self) -> watch::Receiver<RunnerState> {
        self.shared.watch()
    }

    /// The session, once it is open: for its mode and options.
    pub fn session(&self) -> Option<Session> {
        self.shared.open_session()
    }

    /// What the agent answered to `initialize`, once it did.
    pub fn agent(&self) -> Option<InitializeResponse> {
        self.shared.client().map(|client| client.agent().clone())
    }

    /// The slash commands the agent last offered; none before it did, and none once the runner is closed.
    pub fn commands(&self) -> Vec<AvailableCommand> {
        match self.state() {
            RunnerState::Closed(_) => Vec::new(),
            _ => self.session().map(|session| session.state().commands).unwrap_or_default(),
        }
    }
}

impl fmt::Debug for Runner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runner").field("state", &self.state()).finish_non_exhaustive()
    }
}
