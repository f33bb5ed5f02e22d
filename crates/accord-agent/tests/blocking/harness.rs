//! A client that is only lines of JSON, and an agent that does what the test says.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, Mutex},
};

use accord_agent::{
    blocking::{
        ApprovalSlot, Blocking, BlockingAgent, BlockingBuilder, BlockingSession, Callbacks, Compacting,
        Failure, Interrupter, Login, Prompt, Reply, Setup, Usage,
    },
    protocol::v1::{Implementation, PromptCapabilities},
    runtime::{Catalogue, Choice, Runtime},
    store::{Store, jsonl::JsonlStore},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};

/// What a turn of the puppet does.
pub(crate) type Script = dyn Fn(&mut Strings, &Prompt, &Callbacks) -> Result<Reply, Failure> + Send + Sync;

/// An agent that does what the test says.
#[derive(Clone)]
pub(crate) struct Puppet {
    pub(crate) script: Arc<Script>,
    pub(crate) catalogue: Catalogue,
    pub(crate) login: Arc<Mutex<Login>>,
    /// Every conversation that was set up, and every choice that a conversation was told of.
    pub(crate) setups: Arc<Mutex<Vec<Setup>>>,
    pub(crate) choices: Arc<Mutex<Vec<Choice>>>,
    pub(crate) approvals: ApprovalSlot,
    pub(crate) interrupts: Arc<Mutex<usize>>,
    pub(crate) images: bool,
}

/// A conversation of the puppet: the strings of what it is told to do.
pub(crate) struct Strings {
    pub(crate) setup: Setup,
    pub(crate) history: Vec<Value>,
    pub(crate) approvals: ApprovalSlot,
    pub(crate) usage: Option<Usage>,
    agent: Puppet,
}

impl Puppet {
    pub(crate) fn new(
        script: impl Fn(&mut Strings, &Prompt, &Callbacks) -> Result<Reply, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self {
            script: Arc::new(script),
            catalogue: Catalogue::default(),
            login: Arc::new(Mutex::new(Login::NotNeeded)),
            setups: Arc::default(),
            choices: Arc::default(),
            approvals: ApprovalSlot::default(),
            interrupts: Arc::default(),
            images: false,
        }
    }
}

impl BlockingAgent for Puppet {
    type Session = Strings;

    fn info(&self) -> Implementation {
        Implementation::new("puppet", "4.5.6")
    }

    fn create(&self, setup: &Setup) -> Result<Strings, Failure> {
        self.setups.lock().expect("no panic while held").push(setup.clone());
        Ok(Strings {
            setup: setup.clone(),
            history: Vec::new(),
            approvals: self.approvals.clone(),
            usage: None,
            agent: self.clone(),
        })
    }

    fn catalogue(&self) -> Catalogue {
        self.catalogue.clone()
    }

    fn accepts(&self) -> PromptCapabilities {
        PromptCapabilities::new().image(self.images)
    }

    fn login(&self) -> Login {
        self.login.lock().expect("no panic while held").clone()
    }
}

impl BlockingSession for Strings {
    fn run(&mut self, prompt: &Prompt, callbacks: &Callbacks) -> Result<Reply, Failure> {
        self.history.push(json!({ "role": "user", "content": prompt.text() }));
        let script = self.agent.script.clone();
        let reply = script(self, prompt, callbacks)?;
        self.history.push(json!({ "role": "assistant", "content": reply.text }));
        Ok(reply)
    }

    fn interrupter(&self) -> Option<Interrupter> {
        let interrupts = self.agent.interrupts.clone();
        Some(Arc::new(move || *interrupts.lock().expect("no panic while held") += 1))
    }

    fn history(&self) -> Vec<Value> {
        self.history.clone()
    }

    fn restore(&mut self, history: Vec<Value>) -> Result<(), Failure> {
        self.history = history;
        Ok(())
    }

    fn configure(&mut self, choice: &Choice) -> Result<(), Failure> {
        self.agent.choices.lock().expect("no panic while held").push(choice.clone());
        Ok(())
    }

    fn approvals(&self) -> Option<&ApprovalSlot> {
        Some(&self.approvals)
    }

    fn compacting(&mut self) -> Option<&mut dyn Compacting> {
        Some(self)
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }
}

impl Compacting for Strings {
    fn compact(&mut self, _: &Callbacks) -> Result<String, Failure> {
        self.history = vec![json!({ "role": "user", "content": "summary" })];
        Ok("It is short now.".to_owned())
    }
}

/// A folder that is gone when the test is.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// The sessions in a folder.
pub(crate) fn store(state: &Path) -> Store {
    Store::start(JsonlStore::open(state.join("sessions")).expect("a store")).expect("a thread")
}

/// A connection of a client that is only lines of JSON.
pub(crate) struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    served: JoinHandle<()>,
    next: i64,
    /// What the agent said of itself.
    pub(crate) introduced: Value,
    /// What has come and was not asked for yet, in order.
    pub(crate) come: VecDeque<Value>,
}

impl Wire {
    /// Serves the agent, on a store in `state`, and introduces a client with these capabilities.
    pub(crate) async fn open(
        agent: Puppet,
        state: &Path,
        build: impl FnOnce(BlockingBuilder<Puppet>) -> BlockingBuilder<Puppet>,
        capabilities: Value,
    ) -> Self {
        let runtime = build(Blocking::builder(agent)).build().runtime();
        Self::serve(runtime.store(store(state)).unstable_fork().build(), capabilities).await
    }

    /// Serves the runtime, and introduces a client with these capabilities.
    pub(crate) async fn serve(runtime: Runtime<Blocking<Puppet>>, capabilities: Value) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (read, write) = tokio::io::split(theirs);
        let served = tokio::spawn(async move {
            accord_agent::serve(runtime, read, write).await.expect("it serves to the end");
        });
        let (read, write) = tokio::io::split(ours);
        let lines = BufReader::new(read).lines();
        let mut wire = Self { lines, write, served, next: 0, introduced: Value::Null, come: VecDeque::new() };
        let params = json!({ "protocolVersion": 1, "clientCapabilities": capabilities });
        wire.introduced = wire.call("initialize", params).await;
        wire
    }

    /// The same with the defaults.
    pub(crate) async fn simple(agent: Puppet, state: &Path) -> Self {
        Self::open(agent, state, |builder| builder, json!({})).await
    }

    /// Sends a request and returns its id.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.line(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        id
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.line(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    /// Answers a request of the agent.
    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.line(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    pub(crate) async fn line(&mut self, line: Value) {
        let line = format!("{line}\n");
        self.write.write_all(line.as_bytes()).await.expect("the agent reads");
    }

    /// The next frame that `wanted` names; others wait.
    pub(crate) async fn take(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.come.iter().position(&wanted) {
            return self.come.remove(index).expect("it is there");
        }
        loop {
            let line = self.lines.next_line().await.expect("a line").expect("the agent has not gone");
            let frame: Value = serde_json::from_str(&line).expect("JSON");
            if wanted(&frame) {
                return frame;
            }
            self.come.push_back(frame);
        }
    }

    /// The response to a request.
    pub(crate) async fn response(&mut self, id: i64) -> Value {
        self.take(|frame| frame["id"] == id && frame.get("method").is_none()).await
    }

    /// Sends a request and returns its result, which must be one.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let response = self.response(id).await;
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    /// Sends a request and returns its error, which must be one.
    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let response = self.response(id).await;
        assert!(response.get("result").is_none(), "{method}: {response}");
        response["error"].clone()
    }

    /// Opens a session in `cwd`.
    pub(crate) async fn session(&mut self, cwd: &Path) -> String {
        let result = self.call("session/new", json!({ "cwd": cwd, "mcpServers": [] })).await;
        result["sessionId"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn start(&mut self, session: &str, text: &str) -> i64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.send("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await
    }

    /// Runs a turn and returns how it stopped and its updates.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> (String, Vec<Value>) {
        self.updates(session);
        let id = self.start(session, text).await;
        let response = self.response(id).await;
        let stop =
            response["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned();
        (stop, self.updates(session))
    }

    pub(crate) async fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({ "sessionId": session })).await;
    }

    /// The next question of the agent.
    pub(crate) async fn question(&mut self) -> Value {
        self.take(|frame| frame["method"] == "session/request_permission").await
    }

    pub(crate) async fn choose(&mut self, question: &Value, option: &str) {
        self.answer(question, json!({ "outcome": { "outcome": "selected", "optionId": option } })).await;
    }

    /// The updates of a session that have come so far.
    pub(crate) fn updates(&mut self, session: &str) -> Vec<Value> {
        let mut updates = Vec::new();
        self.come.retain(|frame| {
            let ours = frame["method"] == "session/update" && frame["params"]["sessionId"] == session;
            if ours {
                updates.push(frame["params"]["update"].clone());
            }
            !ours
        });
        updates
    }

    /// Goes away and waits until the agent has noticed.
    pub(crate) async fn close(self) {
        let Self { lines, write, served, .. } = self;
        drop((lines, write));
        served.await.expect("no panic");
    }
}

/// The updates of one kind.
pub(crate) fn of<'a>(updates: &'a [Value], kind: &str) -> Vec<&'a Value> {
    updates.iter().filter(|update| update["sessionUpdate"] == kind).collect()
}

/// The text of all message chunks.
pub(crate) fn said(updates: &[Value]) -> String {
    of(updates, "agent_message_chunk").iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
}
