//! One connected server, whatever carries the connection: its tools, kept up to date.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation, Tool},
    service::{NotificationContext, RunningService},
};

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

/// What a server may tell its client.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) listed: Listed,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let me = Implementation::new("accord-agent", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), me)
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
