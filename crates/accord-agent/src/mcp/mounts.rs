//! The servers of one session, and the names of their tools.

use std::{fmt, path::Path, sync::Arc, time::Duration};

use accord_protocol::{
    open::Json,
    v1::{McpServer, Notice, NoticeSeverity},
};
use rmcp::model::CallToolRequestParams;
use serde_json::Value;
use tokio::{task::JoinSet, time::timeout};

use super::check::normalised;
use super::outcome::{CallError, CallOutcome};
use super::peer::{Client, Listed, Running};
use super::secrets::Secrets;
use super::stdio::Process;
use super::{McpPolicy, McpSettings, http, reason};
use crate::handler::Error;

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

/// One mounted server.
struct Server {
    name: String,
    listed: Listed,
    peer: rmcp::Peer<rmcp::RoleClient>,
    held: std::sync::Mutex<Option<Held>>,
}

/// What has to be ended.
struct Held {
    running: Running,
    process: Option<Process>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a server is not there.
struct Failed {
    reason: String,
    program: Option<String>,
    stderr: String,
}

/// Mounts all servers, in parallel, and returns them with what the client is to be told of those that failed.
///
/// # Errors
/// Under the strict policy, the first server that failed; the others are ended again.
pub(crate) async fn mount(
    servers: Vec<McpServer>,
    cwd: &Path,
    settings: McpSettings,
) -> Result<(Mounts, Vec<Notice>), Error> {
    let mut starting = JoinSet::new();
    for (number, server) in servers.into_iter().enumerate() {
        let cwd = cwd.to_owned();
        starting.spawn(async move {
            let name = name(&server).to_owned();
            let started = start(server, &cwd, settings).await;
            (number, name, started)
        });
    }
    let mut started = Vec::new();
    let mut notices = Vec::new();
    while let Some(joined) = starting.join_next().await {
        // A task that panicked has no name to tell; nothing in it does.
        let Ok((number, name, result)) = joined else { continue };
        match result {
            Ok(server) => started.push((number, server)),
            Err(failed) if settings.policy == McpPolicy::Strict => {
                // Dropping the rest kills what has been started.
                return Err(failed.error(number, &name));
            }
            Err(failed) => notices.push((number, failed.notice(&name))),
        }
    }
    started.sort_by_key(|(number, _)| *number);
    notices.sort_by_key(|(number, _)| *number);
    let servers = started.into_iter().map(|(_, server)| server).collect();
    Ok((Mounts { servers }, notices.into_iter().map(|(_, notice)| notice).collect()))
}

impl Mounts {
    /// The tools of all servers, as they were listed last.
    pub fn tools(&self) -> Vec<Tool> {
        self.servers.iter().flat_map(Server::tools).collect()
    }

    /// Calls a tool by its name in the session, or by its own if only one server has it.
    ///
    /// # Errors
    /// There is no such tool, the arguments are no object, or the server gave no answer. A tool that failed is an outcome.
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
        let failed = |source| CallError::Server { server: server.name.clone(), source: Box::new(source) };
        server.peer.call_tool(request).await.map(CallOutcome::of).map_err(failed)
    }

    /// Ends every server and waits until it is gone.
    pub(crate) async fn release(&self, settings: McpSettings) {
        let mut ending = JoinSet::new();
        for server in &*self.servers {
            let held = server.held.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            if let Some(held) = held {
                ending.spawn(held.end(settings));
            }
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
    fn tools(&self) -> Vec<Tool> {
        let listed = self.listed.get().into_iter();
        let tools = listed.filter_map(|tool| {
            Some(Tool {
                name: format!("{}__{}", normalised(&self.name), tool.name),
                server: self.name.clone(),
                input_schema: Json::new(&*tool.input_schema).ok()?,
                description: tool.description.map(Into::into),
                own_name: tool.name.into(),
            })
        });
        tools.collect()
    }
}

impl Held {
    async fn end(self, settings: McpSettings) {
        // Closes the connection; a server over stdio sees the end of its input.
        drop(timeout(settings.grace, self.running.cancel()).await);
        if let Some(process) = self.process {
            process.end(settings.grace).await;
        }
    }
}

impl Failed {
    fn new(reason: impl fmt::Display) -> Self {
        Self { reason: reason.to_string(), program: None, stderr: String::new() }
    }

    fn error(self, number: usize, name: &str) -> Error {
        let data = serde_json::json!({
            "path": format!("mcpServers[{number}]"),
            "server": name,
            "program": self.program,
            "stderr": self.stderr,
        });
        Error::internal(format!("the MCP server {name} did not start: {}", self.reason)).with_data(data)
    }

    fn notice(self, name: &str) -> Notice {
        let words =
            if self.stderr.is_empty() { self.reason } else { format!("{}\n{}", self.reason, self.stderr) };
        Notice::new(NoticeSeverity::Warning, format!("The MCP server {name} is not available"))
            .description(words)
    }
}

fn name(server: &McpServer) -> &str {
    match server {
        McpServer::Stdio(server) => &server.name,
        McpServer::Http(server) => &server.name,
        McpServer::Sse(server) => &server.name,
        _ => "",
    }
}

/// Connects to one server and lists its tools, within the limit.
async fn start(server: McpServer, cwd: &Path, settings: McpSettings) -> Result<Server, Failed> {
    let client = Client::default();
    let listed = client.listed.clone();
    let limit = settings.start_limit;
    // A server may say them in its refusal.
    let secrets = Secrets::of(&server);
    let (name, running, process) = match server {
        McpServer::Stdio(declared) => {
            let program = Some(declared.command.clone());
            let (process, output, input) =
                Process::start(&declared, secrets.clone(), cwd).map_err(|error| Failed {
                    program: program.clone(),
                    ..Failed::new(format!("its program cannot be run: {error}"))
                })?;
            match within(limit, connect(client, (output, input), &secrets)).await {
                Ok(running) => (declared.name, running, Some(process)),
                Err(reason) => {
                    let (exited, stderr) = process.end(settings.grace).await;
                    let reason =
                        exited.map_or(reason.clone(), |how| format!("{reason}; {}", reason::exit(how)));
                    return Err(Failed { reason, program, stderr });
                }
            }
        }
        McpServer::Http(declared) => {
            let transport = http::transport(&declared).map_err(Failed::new)?;
            let running = within(limit, connect(client, transport, &secrets)).await.map_err(Failed::new)?;
            (declared.name, running, None)
        }
        _ => return Err(Failed::new("its type is not offered")),
    };
    let peer = running.peer().clone();
    Ok(Server { name, listed, peer, held: Some(Held { running, process }).into() })
}

async fn within<T>(limit: Duration, starting: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    timeout(limit, starting).await.unwrap_or_else(|_| Err("it did not answer in time".to_owned()))
}

async fn connect<T, E, A>(client: Client, transport: T, secrets: &Secrets) -> Result<Running, String>
where
    T: rmcp::transport::IntoTransport<rmcp::RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let listed = client.listed.clone();
    // Boxed, because it is large and waits inside every session that opens.
    let running = Box::pin(rmcp::serve_client(client, transport)).await;
    let running = running.map_err(|error| reason::not_ready(&error, secrets))?;
    // A server without tools may have resources or prompts.
    let has_tools = running.peer().peer_info().is_some_and(|info| info.capabilities.tools.is_some());
    if has_tools {
        let tools = Box::pin(running.peer().list_all_tools()).await;
        listed.set(tools.map_err(|error| reason::not_listed(&error, secrets))?);
    }
    Ok(running)
}
