//! Agents that block: a synchronous agent with callbacks, served like any other.
//!
//! A coding agent is often a plain loop: ask the model, run the tools it asks for, ask again, and call back with
//! what happens. [`BlockingAgent`] describes such a program; [`Blocking`] makes a [`Backend`](runtime::Backend)
//! of it, and with it gives it everything that the [`Runtime`] has: durable sessions, restore
//! and replay, model selection, MCP servers, a cancel that works.
//!
//! * Each turn runs on a thread of its own; at most so many at once, the others wait in a fair queue without a thread.
//! * A callback returns when what it reports is on its way to the client, so the order of the callbacks is the order on
//!   the wire and a slow client slows the agent down. After the turn's end callbacks change nothing.
//! * Tools are reported by name; ids, kinds, titles, diffs and previews are made here (see [`ToolTable`]).
//! * A panic ends the turn with an error. The session goes on from what was last stored of it.
//! * A prompt that comes while a turn of its session runs is refused, in every session.
//!
//! ```no_run
//! use accord_agent::{
//!     blocking::{Blocking, BlockingAgent, BlockingSession, Callbacks, Failure, Prompt, Reply, Setup},
//!     protocol::v1::Implementation,
//!     store::{Store, jsonl::JsonlStore},
//! };
//! use serde_json::Value;
//!
//! struct Echo;
//! struct Conversation(Vec<Value>);
//!
//! impl BlockingAgent for Echo {
//!     type Session = Conversation;
//!     fn info(&self) -> Implementation {
//!         Implementation::new("echo", "1.0.0")
//!     }
//!     fn create(&self, _: &Setup) -> Result<Conversation, Failure> {
//!         Ok(Conversation(Vec::new()))
//!     }
//! }
//!
//! impl BlockingSession for Conversation {
//!     fn run(&mut self, prompt: &Prompt, callbacks: &Callbacks) -> Result<Reply, Failure> {
//!         self.0.push(prompt.text().into());
//!         callbacks.thinking("What did they say?");
//!         Ok(Reply::text(prompt.text()))
//!     }
//!     fn history(&self) -> Vec<Value> {
//!         self.0.clone()
//!     }
//!     fn restore(&mut self, history: Vec<Value>) -> Result<(), Failure> {
//!         self.0 = history;
//!         Ok(())
//!     }
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Store::start(JsonlStore::open("sessions")?)?;
//! accord_agent::serve_stdio(Blocking::new(Echo).runtime().store(store).build()).await?;
//! # Ok(())
//! # }
//! ```

mod agent;
mod approval;
mod backend;
mod bridge;
mod callbacks;
mod calls;
mod cancel;
mod commands;
mod cut;
mod grants;
mod history;
mod mounted;
mod park;
mod permission;
mod plan;
mod prompt;
mod sessions;
mod tools;
mod turn;
mod wire;
mod workers;

use std::{sync::Arc, time::Duration};

pub use agent::{
    BlockingAgent, BlockingSession, Compacting, Failure, Interrupter, Login, Reply, Setup, Step, StepTool,
    Usage,
};
pub use approval::{Approval, ApprovalCallback, ApprovalRequest, ApprovalSlot, Denial, InstalledApproval};
pub use backend::OpenSession;
pub use callbacks::Callbacks;
pub use cancel::{Cancel, CancelHook};
pub use mounted::MountedTool;
pub use prompt::{Part, Prompt};
pub use sessions::{Opening, SessionState, Sessions, SessionsError};
pub use tools::{Limits, Look, ToolResult, ToolTable};

use backend::Logins;
use turn::{About, Turns};
use workers::Workers;

use crate::runtime::{self, Projection, Runtime};

/// A blocking agent as a backend of the runtime.
pub struct Blocking<A: BlockingAgent> {
    sessions: Arc<Sessions<A>>,
    turns: Arc<Turns<A>>,
    logins: Logins<A>,
    rest_after: Duration,
}

/// How a [`Blocking`] agent is run; every number has a default.
pub struct BlockingBuilder<A: BlockingAgent> {
    turns: Turns<A>,
    rest_after: Duration,
}

impl<A: BlockingAgent> Blocking<A> {
    /// The agent with the defaults.
    pub fn new(agent: A) -> Self {
        Self::builder(agent).build()
    }

    /// The agent, to be told how it is run.
    ///
    /// By default: 8 turns at once, 5 minutes for an answer to a question, 4 seconds to end after a cancel, and an
    /// hour until an unused session is put to rest.
    pub fn builder(agent: A) -> BlockingBuilder<A> {
        let turns = Turns {
            about: About::of(&agent),
            agent: Arc::new(agent),
            workers: Workers::new(8),
            limits: Limits::default(),
            grace: Duration::from_secs(4),
            patience: Some(Duration::from_secs(300)),
        };
        BlockingBuilder { turns, rest_after: Duration::from_secs(3600) }
    }

    /// A runtime to be, with the agent's catalogue and for editors; it lacks only a store.
    pub fn runtime(self) -> runtime::Builder<Self> {
        let catalogue = self.turns.about.catalogue.clone();
        Runtime::builder(self).catalogue(catalogue).projection(Projection::Live)
    }

    /// The agent's open sessions.
    pub fn sessions(&self) -> &Arc<Sessions<A>> {
        &self.sessions
    }

    /// How many more turns could start now without waiting.
    pub fn free_threads(&self) -> usize {
        self.turns.workers.free()
    }
}

impl<A: BlockingAgent> BlockingBuilder<A> {
    /// How many turns run at once, over all sessions; at least one.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.turns.workers = Workers::new(threads);
        self
    }

    /// How long the user may take to answer a question before the answer is no; `None` for as long as it takes.
    #[must_use]
    pub fn patience(mut self, patience: Option<Duration>) -> Self {
        self.turns.patience = patience;
        self
    }

    /// How long the agent may take to end a cancelled turn. Past it the client has its answer and the thread is left to
    /// itself: its seat is free for others, and its session refuses prompts until it has ended.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.turns.grace = grace;
        self
    }

    /// How much of tools' input and output is shown.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.turns.limits = limits;
        self
    }

    /// After how long an unused session is put to rest; looked at whenever a session is opened.
    #[must_use]
    pub fn rest_after(mut self, idle: Duration) -> Self {
        self.rest_after = idle;
        self
    }

    /// The agent, ready to be given to a runtime.
    pub fn build(self) -> Blocking<A> {
        let sessions = Arc::new(Sessions::new(self.turns.agent.clone()));
        let logins = Logins::new(self.turns.agent.clone());
        Blocking { sessions, turns: Arc::new(self.turns), logins, rest_after: self.rest_after }
    }
}

impl<A: BlockingAgent> std::fmt::Debug for Blocking<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocking").field("sessions", &self.sessions).finish_non_exhaustive()
    }
}

impl<A: BlockingAgent> std::fmt::Debug for BlockingBuilder<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockingBuilder").finish_non_exhaustive()
    }
}
