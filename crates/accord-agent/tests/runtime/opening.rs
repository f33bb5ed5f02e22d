//! A backend that has something to say while it opens a session: the client hears it behind the answer.

use accord_agent::{
    Error,
    protocol::v1::{Implementation, SessionUpdate, StopReason},
    runtime::{Backend, Opening, Origin, Projection, Runtime, SessionHandle, Turn},
    store::{Store, jsonl::JsonlStore},
};
use serde_json::{Value, json};

use crate::{
    stage::{Stage, listed},
    support::{Peer, texts},
};

/// Greets in pieces of so many bytes.
#[derive(Clone, Copy)]
struct Greeter {
    pieces: usize,
    bytes: usize,
    forks: bool,
}

impl Backend for Greeter {
    type Session = SessionHandle;

    fn info(&self) -> Implementation {
        Implementation::new("greeter", "1")
    }

    async fn open(&self, opening: Opening) -> Result<SessionHandle, Error> {
        for number in 0..self.pieces {
            let text = format!("{number}{}", "x".repeat(self.bytes));
            opening.session.update(SessionUpdate::agent_message(text.as_str())).await?;
        }
        opening.session.set_title("Greeting").await?;
        if matches!(opening.origin, Origin::Fork(_)) && !self.forks {
            return Err(Error::internal("no copies"));
        }
        // It may look at what it said.
        opening.session.records().await?;
        Ok(opening.session)
    }

    async fn turn(&self, _: &SessionHandle, turn: Turn) -> Result<StopReason, Error> {
        turn.say("done").await?;
        Ok(StopReason::EndTurn)
    }
}

async fn start(stage: &Stage, backend: Greeter) -> Peer {
    let store = Store::start(JsonlStore::open(stage.state()).expect("a store")).expect("a thread");
    let runtime: Runtime<_> =
        Runtime::builder(backend).store(store).projection(Projection::Live).unstable_fork().build();
    Peer::connected(runtime, json!({})).await
}

async fn greeting(peer: &mut Peer, pieces: usize) -> Vec<Value> {
    let mut heard = Vec::new();
    for _ in 0..pieces {
        heard.push(peer.next().await);
    }
    heard
}

// T5, D6, D9, ACPX-SESS-004
#[tokio::test]
async fn what_is_said_while_a_session_opens_comes_behind_its_answer() {
    let stage = Stage::new();
    let mut peer = start(&stage, Greeter { pieces: 20, bytes: 30_000, forks: true }).await;
    let answer = peer.call("session/new", stage.new_params()).await;
    let id = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    let heard = greeting(&mut peer, 21).await;
    let numbers: Vec<_> = texts(&heard).iter().map(|text| text.trim_end_matches('x').to_owned()).collect();
    assert_eq!(numbers, (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
    assert_eq!(heard[20]["params"]["update"]["title"], "Greeting");
    assert!(heard.iter().all(|update| update["params"]["sessionId"] == *id));
    peer.call("session/close", json!({"sessionId": id})).await;

    // A load shows what there was before, then answers, then says what is new: nothing twice.
    let load = peer.request("session/load", stage.params(&id));
    peer.send(load.clone()).await;
    let (replayed, answer) = peer.answer(&load).await;
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!((replayed.len(), texts(&replayed).len()), (21, 20));
    assert_eq!(texts(&greeting(&mut peer, 21).await).len(), 20);
    peer.quiet().await;
    peer.call("session/close", json!({"sessionId": id})).await;

    let answer = peer.call("session/resume", stage.params(&id)).await;
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(texts(&greeting(&mut peer, 21).await).len(), 20);
    let answer = peer.call("session/fork", stage.params(&id)).await;
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(texts(&greeting(&mut peer, 21).await).len(), 20);
    peer.quiet().await;
}

// D6, X5: without bound it is not kept, and nothing is left of the session
#[tokio::test]
async fn a_session_that_says_too_much_while_it_opens_is_refused() {
    let stage = Stage::new();
    let mut peer = start(&stage, Greeter { pieces: 100, bytes: 30_000, forks: true }).await;
    let answer = peer.call("session/new", stage.new_params()).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    peer.quiet().await;
    assert_eq!(stage.files(), 0);
}

// D6: also of a copy nothing is left
#[tokio::test]
async fn a_copy_that_could_not_be_opened_leaves_nothing() {
    let stage = Stage::new();
    let mut peer = start(&stage, Greeter { pieces: 1, bytes: 10, forks: false }).await;
    let answer = peer.call("session/new", stage.new_params()).await;
    let id = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    greeting(&mut peer, 2).await;
    peer.call("session/close", json!({"sessionId": id})).await;
    assert_eq!(peer.call("session/fork", stage.params(&id)).await["error"]["message"], "no copies");
    assert_eq!(listed(&peer.call("session/list", json!({})).await), [&id]);
}
