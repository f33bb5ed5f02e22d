//! What one check has to work with: the subject, a fresh folder, and the agents it starts.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use super::desk::Desk;
use super::leftovers;
use super::process::{Evidence, Launch};
use super::verdict::{Judged, Stop, inconclusive};

/// The agent under test, and what is known of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subject {
    /// How to start it; `{STATE}` in arguments and variables stands for a folder of the check's own.
    pub(crate) launch: Launch,
    /// What to type to provoke a situation, by its name.
    pub(crate) prompts: BTreeMap<String, String>,
    /// The longest a plain answer may take.
    pub(crate) patience: Duration,
    /// How long to listen where nothing should come.
    pub(crate) quiet: Duration,
    /// The method to authenticate with before sessions are made.
    pub(crate) auth: Option<String>,
    /// logout may be called, although it ends the login.
    pub(crate) logout: bool,
    /// The program of an MCP server to mount, with its first arguments.
    pub(crate) mcp: Vec<String>,
    /// What the first handshake showed.
    pub(crate) facts: Facts,
}

/// What a first, ordinary handshake showed of the agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    /// The result of initialize, null if it failed.
    pub(crate) hello: Value,
    /// The result of session/new, null if it failed.
    pub(crate) session: Value,
    /// The code with which session/new was refused, if it was.
    pub(crate) refused: Option<i64>,
    /// How long the process took from its start to the answer to initialize.
    pub(crate) startup: Duration,
}

impl Subject {
    /// How long something may take that is due within `limit` where the agent starts at once: a slow start tells of a heavy agent, or of
    /// a busy machine.
    pub(crate) fn within(&self, limit: Duration) -> Duration {
        limit + self.facts.startup * 3
    }
}

impl Facts {
    /// A capability by its path below `agentCapabilities`, such as `sessionCapabilities/list`.
    pub(crate) fn offers(&self, path: &str) -> bool {
        let capability = self.hello["agentCapabilities"].pointer(&format!("/{path}"));
        !matches!(capability, None | Some(Value::Null | Value::Bool(false)))
    }

    /// How the agent names itself, with its version.
    pub(crate) fn name(&self) -> Option<String> {
        let info = &self.hello["agentInfo"];
        let name = info["title"].as_str().or(info["name"].as_str())?;
        Some(format!("{name} {}", info["version"].as_str().unwrap_or_default()).trim().to_owned())
    }

    /// Whether session/new gave a member that is not null.
    pub(crate) fn session_has(&self, member: &str) -> bool {
        !self.session[member].is_null()
    }
}

/// One run of one check.
#[derive(Debug)]
pub(crate) struct Case<'s> {
    pub(crate) subject: &'s Subject,
    /// The desk that the next agent is started with.
    pub(crate) desk: Desk,
    folder: PathBuf,
    mark: String,
    evidence: Vec<Evidence>,
}

impl<'s> Case<'s> {
    pub(crate) fn new(subject: &'s Subject) -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let mark = format!("{}-{count}", std::process::id());
        let folder = std::env::temp_dir().join(format!("accord-conformance-{mark}"));
        for part in ["work", "other", "state"] {
            fs::create_dir_all(folder.join(part))?;
        }
        // Agents report physical paths, and the temporary folder is a symbolic link on some systems.
        let folder = folder.canonicalize()?;
        Ok(Self { subject, desk: Desk::default(), folder, mark, evidence: Vec::new() })
    }

    /// The check's working directory, fresh and empty.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// A second directory.
    pub(crate) fn other(&self) -> PathBuf {
        self.folder.join("other")
    }

    /// A path in the check's own folder.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The mark that the agent's whole family carries.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Starts the agent; nothing is sent yet.
    pub(crate) fn start(&mut self) -> Judged<Client> {
        let state = self.folder.join("state");
        let expand = |text: &String| text.replace("{STATE}", &state.to_string_lossy());
        let asked = &self.subject.launch;
        let launch = Launch {
            command: asked.command.iter().map(expand).collect(),
            env: asked.env.iter().map(|(name, value)| (name.clone(), expand(value))).collect(),
            cwd: Some(asked.cwd.clone().unwrap_or_else(|| self.folder.clone())),
        };
        let desk = self.desk.clone();
        let client = Client::start(&launch, &self.mark, self.subject.patience, desk)?;
        self.evidence.push(client.process.evidence());
        Ok(client)
    }

    /// Starts the agent and introduces a client with these capabilities.
    pub(crate) fn introduce(&mut self, capabilities: &Value) -> Judged<(Client, Value)> {
        let mut client = self.start()?;
        let hello = client.call("initialize", &hello(capabilities))?;
        Ok((client, hello))
    }

    /// An agent that is ready for sessions, for a client that offers nothing.
    pub(crate) fn ready(&mut self) -> Judged<Client> {
        self.ready_with(&json!({}))
    }

    /// An agent that is ready for sessions.
    pub(crate) fn ready_with(&mut self, capabilities: &Value) -> Judged<Client> {
        let (mut client, _) = self.introduce(capabilities).map_err(|stop| self.without_hello(stop))?;
        if let Some(method) = &self.subject.auth {
            client.call("authenticate", &json!({"methodId": method}))?;
        }
        Ok(client)
    }

    /// A new session in the check's working directory.
    pub(crate) fn session(&self, client: &mut Client) -> Judged<String> {
        let params = json!({"cwd": self.cwd(), "mcpServers": []});
        new_session(client, &params).map_err(|stop| self.without_session(stop))
    }

    /// An agent with one session.
    pub(crate) fn with_session(&mut self) -> Judged<(Client, String)> {
        self.with_session_and(&json!({}))
    }

    /// An agent with one session, for a client that offers something.
    pub(crate) fn with_session_and(&mut self, capabilities: &Value) -> Judged<(Client, String)> {
        let mut client = self.ready_with(capabilities)?;
        let session = self.session(&mut client)?;
        Ok((client, session))
    }

    /// `Subject::within` of this case's subject.
    pub(crate) fn within(&self, limit: Duration) -> Duration {
        self.subject.within(limit)
    }

    /// Where no session can be had at all, that is the fault of one requirement, and the others were not seen.
    fn without_session(&self, stop: Stop) -> Stop {
        match stop {
            Stop::Failed(why) if self.subject.facts.session.is_null() => {
                Stop::Inconclusive(format!("there is no session to be had: {why}"))
            }
            other => other,
        }
    }

    fn without_hello(&self, stop: Stop) -> Stop {
        match stop {
            Stop::Failed(why) if self.subject.facts.hello.is_null() => {
                Stop::Inconclusive(format!("the agent can't be introduced to: {why}"))
            }
            other => other,
        }
    }

    /// What to type to bring a situation about.
    pub(crate) fn words(&self, kind: &str) -> Judged<&'s str> {
        let words = self.subject.prompts.get(kind);
        match words {
            Some(words) => Ok(words),
            None => inconclusive(format!("nobody said what to type: give --prompt-{kind}")),
        }
    }

    /// Words for an ordinary turn, which every agent has.
    pub(crate) fn plain(&self) -> String {
        self.echo("hello")
    }

    /// Words for an ordinary turn that mention `text`.
    pub(crate) fn echo(&self, text: &str) -> String {
        match self.subject.prompts.get("echo") {
            Some(words) if words.contains("{TEXT}") => words.replace("{TEXT}", text),
            Some(words) => words.clone(),
            None => format!("Say {text}."),
        }
    }

    /// Whether an ordinary turn says the text it is given, so that what comes back can be compared.
    pub(crate) fn echoes(&self) -> bool {
        self.subject.prompts.get("echo").is_some_and(|words| words.contains("{TEXT}"))
    }

    /// Moves the evidence of everything that was started out of the case.
    pub(crate) fn take_evidence(&mut self) -> Vec<Evidence> {
        std::mem::take(&mut self.evidence)
    }

    /// The environment's own folder for this check's state.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.join("state")
    }
}

impl Drop for Case<'_> {
    fn drop(&mut self) {
        leftovers::sweep(&self.mark);
        // What can't be removed stays in the temporary folder, where it harms nothing.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The params of an ordinary initialize.
pub(crate) fn hello(capabilities: &Value) -> Value {
    let me = json!({"name": "accord-conformance", "title": "Accord conformance kit", "version": env!("CARGO_PKG_VERSION")});
    json!({"protocolVersion": 1, "clientCapabilities": capabilities, "clientInfo": me})
}

/// The params of a prompt with one text block.
pub(crate) fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

/// session/new with these params; an agent that wants a login first makes the check inconclusive.
pub(crate) fn new_session(client: &mut Client, params: &Value) -> Judged<String> {
    let answer = client.ask("session/new", params)?;
    if answer.code() == Some(-32000) {
        return inconclusive("the agent asks for authentication first: log in, or give --auth METHOD");
    }
    let result = answer.result()?;
    let id = result["sessionId"].as_str().filter(|id| !id.is_empty());
    id.map(str::to_owned).ok_or_else(|| Stop::Failed("session/new gives no sessionId".into()))
}

/// Whether a folder holds no entry.
pub(crate) fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_start_gives_more_time_to_everything() {
        let facts = Facts { startup: Duration::from_secs(10), ..Facts::default() };
        let subject = Subject { facts, ..Subject::default() };
        let case = Case::new(&subject).expect("the temporary folder takes folders");
        assert_eq!(case.within(Duration::from_secs(5)), Duration::from_secs(35));
    }
}
