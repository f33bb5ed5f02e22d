//! Mounting MCP servers, per session.
//!
//! A session's servers start in parallel, each with a limit, in the session's directory and in process groups of their
//! own; their tools are known under names that only the session sees, and closing the session ends all of it.

mod check;
mod http;
mod mounts;
mod outcome;
mod peer;
mod reason;
mod secrets;
mod stdio;

use std::time::Duration;

pub use self::mounts::{Mounts, Tool};
pub use self::outcome::{CallError, CallOutcome};

pub(crate) use self::check::check;
pub(crate) use self::mounts::mount;

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
    /// How long a server may take to end by itself, and again after it was asked to.
    pub grace: Duration,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            policy: McpPolicy::Strict,
            start_limit: Duration::from_secs(30),
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

    /// How long a server may take to start and to list its tools; 30 seconds if nothing is said.
    #[must_use]
    pub fn start_limit(mut self, limit: Duration) -> Self {
        self.start_limit = limit;
        self
    }
}
