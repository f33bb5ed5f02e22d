//! Mounting MCP servers, per session.
//!
//! A session's servers start in parallel, each with a limit, in the session's directory and in process groups of their
//! own; their tools are known under names that only the session sees, and closing the session ends all of it.

mod calling;
mod check;
mod http;
mod lines;
mod mounts;
mod outcome;
mod peer;
mod reason;
mod secrets;
mod starting;
mod stdio;

use std::time::Duration;

pub use self::mounts::{Mounts, Tool};
pub use self::outcome::{CallError, CallOutcome};

pub(crate) use self::check::check;
pub(crate) use self::starting::mount;

/// What a server that does not start means for its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpPolicy {
    /// The session is not opened.
    #[default]
    Strict,
    /// The session is opened without the server, and the client is told by a notice.
    Lenient,
}

/// How servers are mounted.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct McpSettings {
    /// What a server that does not start means for its session.
    pub policy: McpPolicy,
    /// How long a server may take to start and to list its tools.
    pub start_limit: Duration,
    /// How long a tool call may go on while its server says nothing of any progress.
    pub call_limit: Duration,
    /// How long a server may take to end by itself, and again after it was asked to.
    pub grace: Duration,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            policy: McpPolicy::Strict,
            start_limit: Duration::from_secs(30),
            // Builds and tests take minutes; what takes longer in silence is more likely stuck.
            call_limit: Duration::from_secs(600),
            grace: Duration::from_secs(1),
        }
    }
}

impl McpSettings {
    /// What a server that does not start means for its session.
    #[must_use]
    pub fn policy(mut self, policy: McpPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// How long a tool call may go on while its server says nothing of any progress; 10 minutes if nothing is said.
    #[must_use]
    pub fn call_limit(mut self, limit: Duration) -> Self {
        self.call_limit = limit;
        self
    }

    /// How long a server may take to start and to list its tools; 30 seconds if nothing is said.
    #[must_use]
    pub fn start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }
}
