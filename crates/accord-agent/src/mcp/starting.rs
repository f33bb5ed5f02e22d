//! Starting the servers of one session, all at once; given up half-way, or by one that fails, it leaves none behind.

use std::{fmt, mem, path::Path, time::Duration};

use accord_protocol::v1::{McpServer, Notice, NoticeSeverity};
use tokio::{task::JoinSet, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::calling::Caller;
use super::mounts::{Held, Mounts, Server};
use super::peer::{Client, Running};
use super::secrets::Secrets;
use super::stdio::Process;
use super::{McpPolicy, McpSettings, http, reason};
use crate::{handler::Error, text};

/// Mounts all servers, in parallel, and returns them with what the client is to be told of those that failed.
///
/// # Errors
/// Under the strict policy, the first server that failed; the others have been ended again.
///
/// # Cancel safety
/// Dropping the future has `undoing` end what was started.
pub(crate) async fn mount(
    servers: Vec<McpServer>,
    cwd: &Path,
    settings: McpSettings,
    undoing: &TaskTracker,
) -> Result<(Mounts, Vec<Notice>), Error> {
    let mut starting = Starting::new(servers, cwd, settings, undoing);
    let mut started = Vec::new();
    let mut notices = Vec::new();
    while let Some(joined) = starting.tasks.join_next().await {
        // A task that panicked has no name to tell; nothing in it does.
        let Ok((number, name, result)) = joined else { continue };
        match result {
            Ok(server) => started.push((number, server)),
            Err(failed) if settings.policy == McpPolicy::Strict => {
                starting.give_up.cancel();
                while let Some(joined) = starting.tasks.join_next().await {
                    started.extend(joined.ok().and_then(|(number, _, result)| Some((number, result.ok()?))));
                }
                in_order(started, Mounts::new).release().await;
                return Err(failed.error(number, &name));
            }
            Err(failed) => notices.push((number, failed.notice(&name))),
        }
    }
    Ok((in_order(started, Mounts::new), in_order(notices, |notices| notices)))
}

/// What came in any order, in the order of the declarations.
fn in_order<T, U>(mut items: Vec<(usize, T)>, of: impl FnOnce(Vec<T>) -> U) -> U {
    items.sort_by_key(|(number, _)| *number);
    of(items.into_iter().map(|(_, item)| item).collect())
}

/// Servers that start; dropped, those that are not taken are ended.
struct Starting {
    tasks: JoinSet<(usize, String, Result<Server, Failed>)>,
    give_up: CancellationToken,
    undoing: TaskTracker,
}

impl Starting {
    fn new(servers: Vec<McpServer>, cwd: &Path, settings: McpSettings, undoing: &TaskTracker) -> Self {
        let give_up = CancellationToken::new();
        let mut tasks = JoinSet::new();
        for (number, server) in servers.into_iter().enumerate() {
            let (cwd, give_up, undoing) = (cwd.to_owned(), give_up.clone(), undoing.clone());
            tasks.spawn(async move {
                let name = name(&server).to_owned();
                (number, name, start(server, &cwd, settings, &give_up, undoing).await)
            });
        }
        Self { tasks, give_up, undoing: undoing.clone() }
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        self.give_up.cancel();
        let mut tasks = mem::take(&mut self.tasks);
        // Without a runtime nothing runs any more.
        if let (false, Ok(runtime)) = (tasks.is_empty(), tokio::runtime::Handle::try_current()) {
            self.undoing.spawn_on(async move { while tasks.join_next().await.is_some() {} }, &runtime);
        }
    }
}

/// Why a server is not there.
struct Failed {
    reason: String,
    program: Option<String>,
    stderr: String,
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
        let name = text::one_line(name);
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

/// Connects to one server and lists its tools, within the limit and unless it is given up.
async fn start(
    server: McpServer,
    cwd: &Path,
    settings: McpSettings,
    give_up: &CancellationToken,
    undoing: TaskTracker,
) -> Result<Server, Failed> {
    let client = Client::default();
    let (listed, signs) = (client.listed.clone(), client.signs.clone());
    let (limit, grace) = (settings.start_limit, settings.grace);
    // A server may say them in its refusal.
    let secrets = Secrets::of(&server);
    let (server, running, process) = match server {
        McpServer::Stdio(declared) => {
            let program = Some(declared.command.clone());
            let (process, output, input) =
                Process::start(&declared, secrets.clone(), cwd).map_err(|error| Failed {
                    program: program.clone(),
                    ..Failed::new(format!("its program cannot be run: {error}"))
                })?;
            match within(limit, give_up, connect(client, (signs.watch(output), input), &secrets)).await {
                Ok(running) => (declared.name, running, Some(process)),
                Err(reason) => {
                    let (exited, stderr) = process.end(grace).await;
                    let reason =
                        exited.map_or(reason.clone(), |how| format!("{reason}; {}", reason::exit(how)));
                    return Err(Failed { reason, program, stderr });
                }
            }
        }
        McpServer::Http(declared) => {
            let transport = http::transport(&declared).map_err(Failed::new)?;
            let connected = within(limit, give_up, connect(client, transport, &secrets)).await;
            (declared.name, connected.map_err(Failed::new)?, None)
        }
        _ => return Err(Failed::new("its type is not offered")),
    };
    let peer = running.peer().clone();
    let caller = Caller { server, peer, signs, secrets, limit: settings.call_limit };
    Ok(Server { caller, listed, held: Some(Held { running, process, grace }).into(), undoing })
}

async fn within<T>(
    limit: Duration,
    give_up: &CancellationToken,
    starting: impl Future<Output = Result<T, String>>,
) -> Result<T, String> {
    tokio::select! {
        started = timeout(limit, starting) => {
            started.unwrap_or_else(|_| Err("it did not answer in time".to_owned()))
        }
        () = give_up.cancelled() => Err("its start was given up".to_owned()),
    }
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
