//! The end, asked for from outside: how long it takes, on a clock that jumps, and what happens meanwhile.

use std::{future, sync::Arc, time::Duration};

use accord_protocol::v1::StopReason;
use serde_json::{Value, json};
use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
        duplex, split,
    },
    sync::{Notify, oneshot},
    task::JoinHandle,
    time::Instant,
};

use super::{Serve, ServeError};
use crate::{
    handler::{Agent, Error},
    turn::Turn,
};

/// A client on raw lines, and the other end's serving.
struct Served {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl Served {
    fn start(agent: impl Agent, grace: Duration) -> Self {
        let (ours, theirs) = duplex(64 << 10);
        let (read, write) = split(theirs);
        let (stop, stopped) = oneshot::channel();
        let serving = Serve::new(agent).grace(grace).until(read, write, async {
            stopped.await.expect("it is told");
        });
        let serving = tokio::spawn(serving);
        let (read, write) = split(ours);
        Self { lines: BufReader::new(read).lines(), write, stop: Some(stop), serving }
    }

    async fn say(&mut self, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
        self.write.write_all(format!("{request}\n").as_bytes()).await.expect("it is read");
    }

    async fn hear(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("UTF-8").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        self.say(method, params).await;
        self.hear().await
    }

    fn stop(&mut self) {
        self.stop.take().expect("once").send(()).expect("it listens");
    }

    /// Begins a turn, and hears it begin.
    async fn prompt(&mut self) {
        self.call("initialize", json!({"protocolVersion": 1})).await;
        let new = self.call("session/new", json!({"cwd": "/", "mcpServers": []})).await;
        let prompt = json!([{"type": "text", "text": "go"}]);
        let params = json!({"sessionId": new["result"]["sessionId"], "prompt": prompt});
        self.call("session/prompt", params).await;
    }
}

/// Fills the pipe, does not listen to cancels, and leaves work behind that never ends.
struct Unstoppable;

impl Agent for Unstoppable {
    async fn prompt(&self, turn: Turn) -> Result<StopReason, Error> {
        drop(turn.at_the_end(future::pending::<()>()));
        loop {
            // Once it is over the calls fail at once.
            if turn.say("x".repeat(1000)).await.is_err() {
                future::pending::<()>().await;
            }
        }
    }
}

// X5, D4: whatever the handlers and the client do
#[tokio::test(start_paused = true)]
async fn the_end_takes_at_most_twice_the_grace() {
    let grace = Duration::from_secs(5);
    let mut served = Served::start(Unstoppable, grace);
    served.prompt().await;
    // From here on nobody reads.
    let asked = Instant::now();
    served.stop();
    drop(served.serving.await.expect("no panic"));
    assert!(asked.elapsed() <= 2 * grace, "{:?}", asked.elapsed());
}

/// Ends its turn when it is allowed to, whatever the client says.
struct Stubborn(Arc<Notify>);

impl Agent for Stubborn {
    async fn prompt(&self, turn: Turn) -> Result<StopReason, Error> {
        turn.say("here").await?;
        self.0.notified().await;
        Ok(StopReason::EndTurn)
    }
}

// D4: what runs is waited for, and nothing new begins meanwhile
#[tokio::test]
async fn nothing_is_taken_on_while_it_ends() {
    let allowed = Arc::new(Notify::new());
    let mut served = Served::start(Stubborn(Arc::clone(&allowed)), Duration::from_secs(3600));
    served.prompt().await;
    served.stop();
    // Until it has heard of the end it opens sessions.
    let refused = loop {
        let answer = served.call("session/new", json!({"cwd": "/", "mcpServers": []})).await;
        if !answer["result"].is_object() {
            break answer;
        }
    };
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    let told = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(told.contains("about to end"), "{refused}");
    allowed.notify_one();
    let answer = served.hear().await;
    assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    served.serving.await.expect("no panic").expect("a good end");
}
