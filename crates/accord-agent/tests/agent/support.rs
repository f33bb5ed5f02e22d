//! A client of raw lines, and an agent whose turns are closures.

#![expect(
    clippy::needless_pass_by_value,
    reason = "`json!` makes values, and tests read better without a `&` before each"
)]

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use accord_agent::{Agent, Error, Serve, ServeError, StopReason, Turn};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf},
    task::JoinHandle,
};

/// Far more than anything here takes; it turns a hang into a failure.
const HANG: Duration = Duration::from_secs(60);

type Handler = dyn Fn(Turn) -> Pin<Box<dyn Future<Output = Result<StopReason, Error>> + Send>> + Send + Sync;

/// An agent that offers nothing but prompts, run by a closure.
#[derive(Clone)]
pub(crate) struct Scripted(Arc<Handler>);

impl Scripted {
    pub(crate) fn new<F>(handler: impl Fn(Turn) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<StopReason, Error>> + Send + 'static,
    {
        Self(Arc::new(move |turn| Box::pin(handler(turn))))
    }
}

impl Agent for Scripted {
    async fn prompt(&self, turn: Turn) -> Result<StopReason, Error> {
        (self.0)(turn).await
    }
}

/// The client's end.
pub(crate) struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    served: JoinHandle<Result<(), ServeError>>,
    next_id: i64,
}

impl Peer {
    pub(crate) fn new(agent: impl Agent) -> Self {
        Self::of(Serve::new(agent))
    }

    pub(crate) fn of<A: Agent>(serve: Serve<A>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(theirs);
        let served = tokio::spawn(serve.run(read, write));
        let (read, write) = tokio::io::split(ours);
        Self { lines: BufReader::new(read).lines(), write, served, next_id: 100 }
    }

    /// A peer that has introduced itself.
    pub(crate) async fn connected(agent: impl Agent, capabilities: Value) -> Self {
        let mut peer = Self::new(agent);
        peer.initialize(capabilities).await;
        peer
    }

    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Value {
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        self.call("initialize", params).await["result"].clone()
    }

    pub(crate) async fn session(&mut self) -> String {
        let answer = self.call("session/new", json!({"cwd": "/", "mcpServers": []})).await;
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}")).to_owned()
    }

    pub(crate) async fn send(&mut self, message: Value) {
        self.send_all([message]).await;
    }

    /// Several messages in one write.
    pub(crate) async fn send_all(&mut self, messages: impl IntoIterator<Item = Value>) {
        let mut lines = Vec::new();
        for message in messages {
            lines.extend_from_slice(message.to_string().as_bytes());
            lines.push(b'\n');
        }
        self.write.write_all(&lines).await.expect("the agent reads");
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Value {
        let prompt = json!([{"type": "text", "text": text}]);
        self.request("session/prompt", json!({"sessionId": session, "prompt": prompt}))
    }

    /// The next message of the agent.
    pub(crate) async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(HANG, self.lines.next_line()).await.expect("a line in time");
        let line = line.expect("readable").expect("the agent is still there");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Sends a request and returns its answer, which must be the next message.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let request = self.request(method, params);
        self.send(request.clone()).await;
        let (before, answer) = self.answer(&request).await;
        assert_eq!(before, Vec::<Value>::new(), "something came before the answer to {method}");
        answer
    }

    /// Everything up to the answer of a request.
    pub(crate) async fn answer(&mut self, request: &Value) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.next().await;
            if message.get("method").is_none() && message["id"] == request["id"] {
                return (before, message);
            }
            before.push(message);
        }
    }

    /// Nothing more is under way: a request that needs no session is answered next.
    pub(crate) async fn quiet(&mut self) {
        let answer = self.call("_quiet", json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }

    /// Runs a turn and returns its updates and its answer.
    pub(crate) async fn turn(&mut self, session: &str, text: &str) -> (Vec<Value>, Value) {
        let request = self.prompt(session, text);
        self.send(request.clone()).await;
        self.answer(&request).await
    }

    /// Ends the input, reads what still comes, and returns it with how serving ended.
    pub(crate) async fn hang_up(mut self) -> (Vec<Value>, Result<(), ServeError>) {
        self.write.shutdown().await.expect("the agent reads");
        let mut rest = Vec::new();
        while let Some(line) =
            tokio::time::timeout(HANG, self.lines.next_line()).await.expect("in time").expect("readable")
        {
            rest.push(serde_json::from_str(&line).expect("a message"));
        }
        let served = tokio::time::timeout(HANG, self.served).await.expect("serving ends").expect("no panic");
        (rest, served)
    }
}

pub(crate) fn cancel(session: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}})
}

/// The texts of the message chunks among some messages.
pub(crate) fn texts(messages: &[Value]) -> Vec<&str> {
    let update = |message: &&Value| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk";
    let chunks = messages.iter().filter(update);
    chunks.filter_map(|chunk| chunk["params"]["update"]["content"]["text"].as_str()).collect()
}

pub(crate) fn stop(answer: &Value) -> &str {
    answer["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("no stop reason: {answer}"))
}
