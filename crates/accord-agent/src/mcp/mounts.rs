//! The servers of one session, and the names of their tools.

use std::{
    fmt,
    sync::{Arc, PoisonError},
    time::Duration,
};

use accord_protocol::open::Json;
use rmcp::model::CallToolRequestParams;
use serde_json::Value;
use tokio::{task::JoinSet, time::timeout};
use tokio_util::task::TaskTracker;

use super::calling::Caller;
use super::check::normalised;
use super::outcome::{CallError, CallOutcome};
use super::peer::{Listed, Running};
use super::stdio::Process;

/// The servers mounted in a session. Clones are the same servers.
#[derive(Clone, Debug, Default)]
pub struct Mounts {
    servers: Arc<[Server]>,
}

/// A tool of a mounted server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// Its name in the session, for the model: the server's and its own, joined by two underscores.
    pub name: String,
    /// The server as it was declared.
    pub server: String,
    /// What the server calls it.
    pub own_name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Json,
}

/// One mounted server. Dropped without a release it is ended all the same.
pub(super) struct Server {
    pub(super) caller: Caller,
    pub(super) listed: Listed,
    pub(super) held: std::sync::Mutex<Option<Held>>,
    pub(super) undoing: TaskTracker,
}

/// What has to be ended.
pub(super) struct Held {
    pub(super) running: Running,
    pub(super) process: Option<Process>,
    pub(super) grace: Duration,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.caller.server).finish_non_exhaustive()
    }
}

impl Mounts {
    pub(super) fn new(servers: Vec<Server>) -> Self {
        Self { servers: servers.into() }
    }

    /// The tools of all servers, as they were listed last.
    pub fn tools(&self) -> Vec<Tool> {
        self.servers.iter().flat_map(Server::tools).collect()
    }

    /// Calls a tool by its name in the session, or by its own if only one server has it.
    ///
    /// # Errors
    /// There is no such tool, the arguments are no object, or the server refused the call or gave no answer: it is gone,
    /// said nothing for [so long](super::McpSettings::call_limit), or more than can be read. A tool that failed is an
    /// outcome.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<CallOutcome, CallError> {
        let (server, own_name) = self.find(name).ok_or_else(|| CallError::NoSuchTool(name.to_owned()))?;
        let mut request = CallToolRequestParams::new(own_name);
        request.arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            // A model that has nothing to say says so in several ways.
            Value::Null => None,
            _ => return Err(CallError::NotAnObject),
        };
        server.caller.call(request).await
    }

    /// Ends every server and waits until it is gone.
    pub(crate) async fn release(&self) {
        let mut ending = JoinSet::new();
        for held in self.servers.iter().filter_map(Server::take) {
            ending.spawn(held.end());
        }
        while ending.join_next().await.is_some() {}
    }

    fn find(&self, name: &str) -> Option<(&Server, String)> {
        let tools =
            self.servers.iter().flat_map(|server| server.tools().into_iter().map(move |tool| (server, tool)));
        let mut by_own_name = None;
        let mut ambiguous = false;
        for (server, tool) in tools {
            if tool.name == name {
                return Some((server, tool.own_name));
            }
            if tool.own_name == name {
                ambiguous = by_own_name.is_some();
                by_own_name = Some((server, tool.own_name));
            }
        }
        by_own_name.filter(|_| !ambiguous)
    }
}

impl Server {
    fn take(&self) -> Option<Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn tools(&self) -> Vec<Tool> {
        let listed = self.listed.get().into_iter();
        let tools = listed.filter_map(|tool| {
            Some(Tool {
                name: format!("{}__{}", normalised(&self.caller.server), tool.name),
                server: self.caller.server.clone(),
                input_schema: Json::new(&*tool.input_schema).ok()?,
                description: tool.description.map(Into::into),
                own_name: tool.name.into(),
            })
        });
        tools.collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Without a runtime the process is killed, by dropping it.
        if let (Some(held), Ok(runtime)) = (self.take(), tokio::runtime::Handle::try_current()) {
            self.undoing.spawn_on(held.end(), &runtime);
        }
    }
}

impl Held {
    async fn end(self) {
        // Closes the connection; a server over stdio sees the end of its input.
        drop(timeout(self.grace, self.running.cancel()).await);
        if let Some(process) = self.process {
            process.end(self.grace).await;
        }
    }
}
