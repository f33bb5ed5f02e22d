//! What a blocking agent implements: sessions that run a turn on the calling thread and report through callbacks.

use std::{path::PathBuf, sync::Arc};

use accord_protocol::v1::{AvailableCommand, Implementation, PromptCapabilities, SessionId, StopReason};
use serde_json::Value;

use super::{
    approval::ApprovalSlot,
    callbacks::Callbacks,
    prompt::Prompt,
    tools::{ToolResult, ToolTable},
};
use crate::runtime::{Catalogue, Choice};

/// A program that blocks: it holds conversations on whatever thread it is called on.
///
/// Everything here may block; nothing is called on a thread that carries the connection. What it says of itself (`info`,
/// `catalogue`, `tools`, `accepts`, `commands`) is asked once, when the adapter is made.
pub trait BlockingAgent: Send + Sync + 'static {
    /// One conversation.
    type Session: BlockingSession;

    /// The agent's name and version.
    fn info(&self) -> Implementation;

    /// Opens a conversation, also one that is then given its history back.
    ///
    /// # Errors
    ///
    /// When it can't be opened; the client is told so, and nothing of it is left.
    fn create(&self, setup: &Setup) -> Result<Self::Session, Failure>;

    /// The models, efforts and modes that a session can be set to; nothing where there is no choice.
    fn catalogue(&self) -> Catalogue {
        Catalogue::default()
    }

    /// What its tools look like, by name.
    fn tools(&self) -> ToolTable {
        ToolTable::standard()
    }

    /// Which content a prompt may have besides text, links and embedded resources, which the adapter turns into text.
    fn accepts(&self) -> PromptCapabilities {
        PromptCapabilities::default()
    }

    /// Whether it can reach its model. Asked anew before each session and turn: a login may come, or go, elsewhere.
    fn login(&self) -> Login {
        Login::NotNeeded
    }

    /// Slash commands of its own, besides those of the adapter; they reach [`BlockingSession::run`] as any prompt.
    fn commands(&self) -> Vec<AvailableCommand> {
        Vec::new()
    }
}

/// One conversation of a [`BlockingAgent`]. Only one thread at a time calls it.
pub trait BlockingSession: Send + 'static {
    /// Runs a turn to its end, and reports through `callbacks` what happens meanwhile.
    ///
    /// It should end soon once [`Callbacks::is_cancelled`]; what it returns then does not matter. What needs to be
    /// interrupted from outside is given to [`Cancel::on_cancel`](super::Cancel::on_cancel), or to
    /// [`interrupter`](Self::interrupter).
    ///
    /// # Errors
    ///
    /// When the turn failed. The session goes on.
    fn run(&mut self, prompt: &Prompt, callbacks: &Callbacks) -> Result<Reply, Failure>;

    /// Interrupts a turn from another thread while it runs. It must not block, and is never called while none runs.
    fn interrupter(&self) -> Option<Interrupter> {
        None
    }

    /// The conversation, as entries that only the agent has to understand; an object's `role` is used for statistics.
    fn history(&self) -> Vec<Value>;

    /// Takes the place of another: the conversation is now what these entries say.
    ///
    /// # Errors
    ///
    /// When they can't be understood.
    fn restore(&mut self, history: Vec<Value>) -> Result<(), Failure>;

    /// Takes another model, effort or mode, before the turn that is to run with it. The conversation stays.
    ///
    /// # Errors
    ///
    /// When it can't; the turn fails.
    fn configure(&mut self, choice: &Choice) -> Result<(), Failure> {
        let _ = choice;
        Ok(())
    }

    /// Where its tools ask before something dangerous, if they ask there and not through [`Callbacks::approve`].
    fn approvals(&self) -> Option<&ApprovalSlot> {
        None
    }

    /// Shortens the conversation, for `/compact`; the command is offered where the agent hands this out.
    fn compacting(&mut self) -> Option<&mut dyn Compacting> {
        None
    }

    /// How full the model's context is, as far as the agent can tell.
    fn usage(&self) -> Option<Usage> {
        None
    }
}

/// Shortening a conversation.
pub trait Compacting {
    /// Replaces the conversation by a shorter one that says the same; returns a sentence for the user.
    ///
    /// # Errors
    ///
    /// When it can't be done; the conversation is what it was.
    fn compact(&mut self, callbacks: &Callbacks) -> Result<String, Failure>;
}

/// Interrupts a running turn from outside.
pub type Interrupter = Arc<dyn Fn() + Send + Sync>;

/// What a session is opened with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Setup {
    /// The session's id.
    pub session_id: SessionId,
    /// The directory that its file and terminal tools work in, wherever the process was started.
    pub cwd: PathBuf,
    /// Further directories that they may work in.
    pub additional_directories: Vec<PathBuf>,
    /// What it is set to: model, effort, mode.
    pub choice: Choice,
    /// What drives the agent: `acp`. An agent with several front ends chooses its tools by it.
    pub front_end: &'static str,
}

/// Whether an agent has what it needs to reach its model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Login {
    /// It needs nothing.
    NotNeeded,
    /// It has its own credentials for this provider.
    Configured {
        /// The provider's name.
        provider: String,
    },
    /// Something is missing: no session can start until the program has been run with `--setup`.
    Missing {
        /// What, in a few words.
        what: String,
    },
}

/// How a turn ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// The whole final message. It is sent only if none of it was streamed.
    pub text: Option<String>,
    /// Why the turn ended.
    pub stop: StopReason,
}

impl Reply {
    /// The turn came to its end.
    pub fn done() -> Self {
        Self { text: None, stop: StopReason::EndTurn }
    }

    /// The turn came to its end with this message.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::done() }
    }

    /// The turn ended for this reason.
    #[must_use]
    pub fn stopped(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }
}

/// Why something failed. The text goes to the client: no secrets in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The model's provider wants a login.
    #[error("{0}")]
    Login(String),
    /// The request can't be met as it was made.
    #[error("{0}")]
    Invalid(String),
    /// Anything else.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// A failure that is not the user's.
    pub fn failed(why: impl std::fmt::Display) -> Self {
        Self::Failed(why.to_string())
    }
}

/// How full a model's context is, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// How much is used.
    pub used: u64,
    /// How much there is.
    pub size: u64,
}

impl Usage {
    /// `used` of `size` tokens.
    pub fn new(used: u64, size: u64) -> Self {
        Self { used, size }
    }
}

/// What an agent knows after a step: one request to its model and the tools it called for.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// The model's reasoning in this step, whole. It is sent only as far as it was not streamed.
    pub reasoning: Option<String>,
    /// The tools that have ended in this step, in the order in which they began.
    ///
    /// One that was reported by [`Callbacks::tool_finished`] is passed over.
    pub tools: Vec<StepTool>,
}

impl Step {
    /// A step with neither.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the model's reasoning.
    #[must_use]
    pub fn reasoning(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = Some(reasoning.into());
        self
    }

    /// Adds a tool that has ended.
    #[must_use]
    pub fn tool(
        mut self,
        name: impl Into<String>,
        arguments: impl Into<Value>,
        result: impl Into<ToolResult>,
    ) -> Self {
        self.tools.push(StepTool { name: name.into(), arguments: arguments.into(), result: result.into() });
        self
    }
}

/// A tool that has ended within a step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepTool {
    /// The tool's name.
    pub name: String,
    /// What it was called with.
    pub arguments: Value,
    /// What it gave back.
    pub result: ToolResult,
}
