//! An agent that does what a test says, line by line, at the other end of an in-memory pipe.

use std::sync::{Arc, Mutex};

use accord_client::{Builder, Client, Handler};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
};

pub(crate) const CWD: &str = "/workspace/proj";

/// The agent's end of the pipe.
pub(crate) struct Agent {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    /// Every line the client wrote, in order.
    pub(crate) log: Arc<Mutex<Vec<Value>>>,
}

/// The client's end of the pipe, and the agent at the other.
pub(crate) fn wire() -> (DuplexStream, Agent) {
    wire_of(64 * 1024)
}

/// As [`wire`], through a pipe of a given size.
pub(crate) fn wire_of(bytes: usize) -> (DuplexStream, Agent) {
    let (ours, theirs) = duplex(bytes);
    let (read, write) = split(theirs);
    let agent = Agent { lines: BufReader::new(read).lines(), write, log: Arc::default() };
    (ours, agent)
}

/// A client whose handshake with the agent is done; the agent advertises `capabilities`.
pub(crate) async fn connected<H: Handler>(builder: Builder<H>, capabilities: Value) -> (Client, Agent) {
    let (ours, agent) = wire();
    connect_over(builder, capabilities, ours, agent).await
}

pub(crate) async fn connect_over<H: Handler>(
    builder: Builder<H>,
    capabilities: Value,
    ours: DuplexStream,
    mut agent: Agent,
) -> (Client, Agent) {
    let (read, write) = split(ours);
    let answer = json!({"protocolVersion": 1, "agentCapabilities": capabilities});
    let (client, ()) = tokio::join!(builder.connect(read, write), agent.serve("initialize", answer));
    (client.expect("the handshake succeeds"), agent)
}

/// A connected client with an open session `sess_1`.
pub(crate) async fn opened<H: Handler>(
    builder: Builder<H>,
    capabilities: Value,
) -> (accord_client::Session, Agent) {
    let (client, mut agent) = connected(builder, capabilities).await;
    let session = open(&client, &mut agent, json!({"sessionId": "sess_1"})).await;
    (session, agent)
}

/// Opens a session that the agent answers with `result`.
pub(crate) async fn open(client: &Client, agent: &mut Agent, result: Value) -> accord_client::Session {
    let cwd = std::path::Path::new(CWD);
    let (session, ()) = tokio::join!(client.new_session(cwd), agent.serve("session/new", result));
    session.expect("the session opens")
}

impl Agent {
    /// The next line of the client.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.expect("the pipe can be read")?;
        let frame: Value = serde_json::from_str(&line).expect("the client writes JSON");
        self.log.lock().expect("the log is whole").push(frame.clone());
        Some(frame)
    }

    /// The next line of the client, which must be a message of this method. Gives all of it.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let frame = self.next().await.unwrap_or_else(|| panic!("the client closed the pipe before {method}"));
        assert_eq!(frame["method"], method, "{frame}");
        frame
    }

    /// The next line of the client, which must answer the request with this id.
    pub(crate) async fn expect_answer(&mut self, id: impl Into<Value>) -> Value {
        let frame = self.next().await.expect("the client answers");
        assert!(frame.get("method").is_none(), "{frame}");
        assert_eq!(frame["id"], id.into(), "{frame}");
        frame
    }

    /// Awaits a request and answers it.
    pub(crate) async fn serve(&mut self, method: &str, result: Value) {
        let request = self.expect(method).await;
        self.answer(&request, result).await;
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).await;
    }

    pub(crate) async fn refuse(&mut self, request: &Value, code: i64, message: &str, data: Value) {
        let error = json!({"code": code, "message": message, "data": data});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error})).await;
    }

    /// A session update of `sess_1`.
    pub(crate) async fn update(&mut self, update: Value) {
        self.send(update_of("sess_1", &update)).await;
    }

    /// A request of the agent.
    pub(crate) async fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})).await;
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        self.write(&format!("{frame}\n")).await;
    }

    pub(crate) async fn write(&mut self, text: &str) {
        self.write_bytes(text.as_bytes()).await;
    }

    pub(crate) async fn write_bytes(&mut self, bytes: &[u8]) {
        self.write.write_all(bytes).await.expect("the client reads");
    }

    /// Nothing is in the pipe: whatever the client writes next comes after what it is made to write here.
    pub(crate) async fn assert_quiet(&mut self) {
        self.ask("quiet?", "_test/quiet", json!({})).await;
        self.expect_answer("quiet?").await;
    }
}

pub(crate) fn update_of(session: &str, update: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})
}

pub(crate) fn chunk(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

pub(crate) fn permission(session: &str) -> Value {
    json!({
        "sessionId": session,
        "toolCall": {"toolCallId": "call_1", "title": "Run command", "kind": "execute", "status": "pending"},
        "options": [
            {"optionId": "a1", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "ra", "name": "Never", "kind": "reject_always"},
            {"optionId": "r1", "name": "Reject once", "kind": "reject_once"},
        ],
    })
}

/// The text of a turn's messages, and how it ended.
pub(crate) async fn play(
    mut turn: accord_client::Turn,
) -> (String, Result<accord_client::StopReason, accord_client::TurnError>) {
    let mut text = String::new();
    while let Some(update) = turn.next().await {
        if let accord_client::SessionUpdate::AgentMessageChunk(chunk) = update {
            text.push_str(chunk.content.as_text().unwrap_or_default());
        }
    }
    (text, turn.finish().await)
}
