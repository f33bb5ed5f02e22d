//! A backend whose turns are closures, and a directory with a store in which it is started again and again.

use std::{
    fs,
    future::Future,
    path::{Path, PathBuf},
    pin::Pin,
    sync::{Arc, Mutex},
};

use accord_agent::{
    Error,
    protocol::v1::{AvailableCommand, Implementation, PromptCapabilities, SessionMode, StopReason},
    runtime::{
        Backend, Builder, Catalogue, Effort, Model, Opening, Projection, Provider, Runtime, Switch, Turn,
    },
    store::{Store, jsonl::JsonlStore},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::Peer;

type Handler = dyn Fn(Turn) -> Pin<Box<dyn Future<Output = Result<StopReason, Error>> + Send>> + Send + Sync;

/// Runs every turn by one closure, and remembers the text of each.
#[derive(Clone)]
pub(crate) struct Script {
    handler: Arc<Handler>,
    pub(crate) refuses_to_open: bool,
    pub(crate) closed: Arc<Mutex<Vec<String>>>,
}

impl Script {
    pub(crate) fn new<F>(handler: impl Fn(Turn) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<StopReason, Error>> + Send + 'static,
    {
        let handler = Arc::new(move |turn| Box::pin(handler(turn)) as Pin<Box<_>>);
        Self { handler, refuses_to_open: false, closed: Arc::default() }
    }

    /// Says what was said before, and what it is now.
    pub(crate) fn telling() -> Self {
        Self::new(|turn: Turn| async move {
            let before = turn.session().records().await?;
            turn.record(&turn.text()).await?;
            let before: Vec<&str> = before.iter().map(|record| record.get()).collect();
            let choice = turn.choice();
            let route = choice.route.as_ref().map(ToString::to_string).unwrap_or_default();
            let effort = choice.effort.as_deref().unwrap_or("-");
            turn.say(format!("{} {route} {effort}", before.join(","))).await?;
            Ok(StopReason::EndTurn)
        })
    }
}

impl Backend for Script {
    type Session = String;

    fn info(&self) -> Implementation {
        Implementation::new("script", "1")
    }

    fn prompt_capabilities(&self) -> PromptCapabilities {
        PromptCapabilities::new().image(true)
    }

    async fn open(&self, opening: Opening) -> Result<String, Error> {
        if self.refuses_to_open {
            return Err(Error::internal("no session today"));
        }
        Ok(opening.session.id().to_string())
    }

    fn commands(&self, _: &String) -> Vec<AvailableCommand> {
        vec![AvailableCommand::new("help", "Help")]
    }

    async fn turn(&self, _: &String, turn: Turn) -> Result<StopReason, Error> {
        (self.handler)(turn).await
    }

    async fn closed(&self, session: &String) {
        self.closed.lock().expect("nobody panics with it").push(session.clone());
    }
}

/// Two providers, a model of the same name at both, efforts with and without a default.
pub(crate) fn catalogue() -> Catalogue {
    let [low, high] = ["low", "high"].map(|id| Effort::new(id, id));
    let efforts = || [low.clone(), high.clone()];
    Catalogue::new([
        Provider::new(
            "a/b",
            "AB",
            [
                Model::new("m", "M").efforts(efforts()).default_effort("low"),
                Model::new("open", "Open").efforts(efforts()),
                Model::new("plain", "Plain").text_only(),
            ],
        ),
        Provider::new("c", "C", [Model::new("m", "Other M")]),
    ])
    .modes([SessionMode::new("ask", "Ask"), SessionMode::new("auto", "Auto")])
    .switches([Switch::new("web", "Web", false)])
}

/// Where a runtime is started again and again.
pub(crate) struct Stage {
    state: TempDir,
    work: TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let dir = || tempfile::tempdir().expect("a directory");
        Self { state: dir(), work: dir() }
    }

    /// The directory of the store.
    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    /// The sessions' working directory, physically.
    pub(crate) fn cwd(&self) -> PathBuf {
        self.work.path().canonicalize().expect("it is there")
    }

    /// How many sessions are stored, or left half-made.
    pub(crate) fn files(&self) -> usize {
        let entries = fs::read_dir(self.state()).expect("it is there");
        // Which ids were given is no session.
        entries.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name() != "ids")).count()
    }

    pub(crate) fn builder(&self, backend: Script) -> Builder<Script> {
        let store = JsonlStore::open(self.state.path()).expect("a store");
        Runtime::builder(backend)
            .store(Store::start(store).expect("a thread"))
            .projection(Projection::Live)
            .catalogue(catalogue())
    }

    pub(crate) async fn start(&self, backend: Script) -> Peer {
        Peer::connected(self.builder(backend).build(), json!({})).await
    }

    pub(crate) fn new_params(&self) -> Value {
        json!({"cwd": self.cwd(), "mcpServers": []})
    }

    pub(crate) fn params(&self, session: &str) -> Value {
        json!({"sessionId": session, "cwd": self.cwd(), "mcpServers": []})
    }

    /// Opens a session and reads past its commands; returns its id and the answer.
    pub(crate) async fn open(&self, peer: &mut Peer) -> (String, Value) {
        let answer = peer.call("session/new", self.new_params()).await;
        let id = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        let commands = peer.next().await;
        assert_eq!(commands["params"]["update"]["sessionUpdate"], "available_commands_update", "{commands}");
        (id, answer)
    }
}

impl Stage {
    /// The same where the projection keeps the commands back or not: they are read past if they come.
    pub(crate) async fn open_quietly(&self, peer: &mut Peer) -> (String, Value) {
        let answer = peer.call("session/new", self.new_params()).await;
        let id = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        let quiet = peer.request("_quiet", json!({}));
        peer.send(quiet.clone()).await;
        peer.answer(&quiet).await;
        (id, answer)
    }
}

/// The ids of a page.
pub(crate) fn listed(answer: &Value) -> Vec<&str> {
    let sessions = answer["result"]["sessions"].as_array().unwrap_or_else(|| panic!("{answer}"));
    sessions.iter().filter_map(|session| session["sessionId"].as_str()).collect()
}
