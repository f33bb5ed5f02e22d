//! Where a turn's callbacks lead: to the client, through the runtime, from a thread that may block.

use std::time::Duration;

use accord_protocol::v1::{PermissionOption, PermissionOptionId, SessionUpdate, ToolCallUpdate};
use serde_json::Value;

use super::{agent::Failure, history::Record, tools::ToolResult};
use crate::runtime::Route;

/// What callbacks need of the wire. Every call blocks until it is done, and gives up once the outlet is shut.
pub(super) trait Outlet: Send + Sync {
    /// Sends an update, after those sent before it; waits while the client is slow.
    fn update(&self, update: SessionUpdate);

    /// Puts a question to the client, for at most `patience`.
    fn ask(&self, call: ToolCallUpdate, options: Vec<PermissionOption>, patience: Option<Duration>) -> Asked;

    /// Stores a record; it is durable with the turn's end.
    fn record(&self, record: &Record);

    /// Chooses the model of the turns to come.
    fn choose_model(&self, model: &Route) -> Result<(), Failure>;

    /// The tools of the session's MCP servers.
    fn tools(&self) -> Vec<MountedTool>;

    /// Runs one of them.
    fn call_tool(&self, name: &str, arguments: Value) -> ToolResult;

    /// Gives up whatever still waits, and lets nothing through from here on.
    fn shut(&self);
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

/// A tool of an MCP server that is mounted in the session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MountedTool {
    /// The name to call it by, unique in the session.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}
