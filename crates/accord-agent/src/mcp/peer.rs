//! One connected server, whatever carries the connection: its tools, kept up to date.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, Tool},
    service::{NotificationContext, RunningService},
};
use tokio::sync::watch;

use super::lines::Lines;

/// The tools a server last listed.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed(Arc<Mutex<Vec<Tool>>>);

impl Listed {
    pub(super) fn get(&self) -> Vec<Tool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, tools: Vec<Tool>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = tools;
    }
}

/// Signs of life of a server, and of the opposite.
#[derive(Clone, Debug, Default)]
pub(super) struct Signs {
    progress: watch::Sender<usize>,
    too_long: watch::Sender<usize>,
}

impl Signs {
    /// Changes whenever the server tells of its progress with anything.
    pub(super) fn progress(&self) -> watch::Receiver<usize> {
        self.progress.subscribe()
    }

    /// Changes whenever the server says a line that is too long to be read.
    pub(super) fn too_long(&self) -> watch::Receiver<usize> {
        self.too_long.subscribe()
    }

    /// What the server says, watched for such lines.
    pub(super) fn watch<R>(&self, read: R) -> Lines<R> {
        Lines::watch(read, self.too_long.clone())
    }
}

/// What a server may tell its client.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) listed: Listed,
    pub(super) signs: Signs,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let me = Implementation::new("accord-agent", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), me)
    }

    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.signs.progress.send_modify(|count| *count += 1);
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        match context.peer.list_all_tools().await {
            Ok(tools) => self.listed.set(tools),
            Err(error) => tracing::warn!(%error, "an MCP server did not list its tools again"),
        }
    }
}

/// A connection to a server.
pub(super) type Running = RunningService<RoleClient, Client>;
