//! The end of a turn is stored once and in its place, also when nobody could wait for it.

use std::{
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use accord_agent::{
    Serve, StopReason,
    protocol::v1::SessionUpdate,
    runtime::{Projection, Runtime, Turn},
    store::{Position, Record, SessionStore as _, Store, jsonl::JsonlStore},
};
use serde_json::json;

use crate::{
    hooked::Hooked,
    stage::{Script, Stage, catalogue},
    support::{Peer, cancel, stop, texts},
};

/// What a log holds, a word for each record.
fn log(stage: &Stage, id: &str) -> Vec<String> {
    let mut store = JsonlStore::open(stage.state()).expect("a store");
    let slice = store.read(&id.into(), Position::START, 1 << 20).expect("readable");
    let word = |record: &Record| match record {
        Record::Update(update) => {
            match serde_json::from_str::<SessionUpdate>(update.get()).expect("an update") {
                SessionUpdate::UserMessageChunk(_) => "user".to_owned(),
                SessionUpdate::AgentMessageChunk(_) => "agent".to_owned(),
                other => format!("{other:?}"),
            }
        }
        Record::TurnEnd(end) => end.stop.clone(),
        other => format!("{other:?}"),
    };
    slice.records.iter().map(word).collect()
}

// D4, D13, ACPX-RESTART-003: the grace runs out while the disk is slow
#[tokio::test]
async fn the_next_turn_comes_behind_the_end_of_the_last() {
    let stage = Stage::new();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let (told, stuck) = tokio::sync::mpsc::unbounded_channel();
    // The first answer waits on its way to the disk.
    let mut first = true;
    let slow = move |records: &[Record]| {
        let said = |record: &Record| matches!(record, Record::Update(update) if update.get().contains("one"));
        if records.iter().any(said) && std::mem::take(&mut first) {
            told.send(()).expect("the test waits");
            released.lock().expect("nobody panics with it").recv().expect("the test lets go");
        }
        Ok(())
    };
    let backend = Script::new(|turn: Turn| async move {
        turn.say(turn.text()).await?;
        turn.end_message().await?;
        if turn.text() == "one" {
            turn.cancelled().await;
        }
        Ok(StopReason::EndTurn)
    });
    let runtime: Runtime<_> = Runtime::builder(backend)
        .store(Store::start(Hooked::new(stage.state(), slow)).unwrap())
        .projection(Projection::Live)
        .build();
    let mut peer = Peer::of(Serve::new(runtime).grace(Duration::from_millis(1)));
    peer.initialize(json!({})).await;
    let (id, _) = stage.open(&mut peer).await;
    let prompt = peer.prompt(&id, "one");
    peer.send(prompt.clone()).await;
    let mut stuck = stuck;
    stuck.recv().await.expect("the store is at work");
    peer.send(cancel(&id)).await;
    assert_eq!(stop(&peer.answer(&prompt).await.1), "cancelled");
    let prompt = peer.prompt(&id, "two");
    peer.send(prompt.clone()).await;
    release.send(()).unwrap();
    assert_eq!(stop(&peer.answer(&prompt).await.1), "end_turn");
    assert_eq!(log(&stage, &id), ["user", "agent", "cancelled", "user", "agent", "end_turn"]);
}

// D4: a backend that does not end is dropped, and its turn ended nevertheless; a close waits for that
#[tokio::test]
async fn a_turn_whose_backend_is_dropped_has_one_end() {
    let stage = Stage::new();
    let kept = Arc::new(Mutex::new(None));
    let keeps = Arc::clone(&kept);
    let backend = Script::new(move |turn: Turn| {
        keeps.lock().expect("nobody panics with it").replace(turn.clone());
        async move {
            turn.say("one").await?;
            std::future::pending().await
        }
    });
    let mut peer = Peer::of(Serve::new(stage.builder(backend).build()).grace(Duration::from_millis(1)));
    peer.initialize(json!({})).await;
    let (id, _) = stage.open(&mut peer).await;
    let prompt = peer.prompt(&id, "x");
    peer.send(prompt.clone()).await;
    peer.next().await;
    peer.send(cancel(&id)).await;
    assert_eq!(stop(&peer.answer(&prompt).await.1), "cancelled");
    // A clone that outlives the turn adds nothing.
    let turn = kept.lock().unwrap().take().expect("the turn");
    assert!(turn.end_message().await.is_err());
    peer.call("session/close", json!({"sessionId": id})).await;
    assert_eq!(log(&stage, &id), ["user", "agent", "cancelled"]);
}

// D10: what is stored and what holds are the same, also when nobody waited for it
#[tokio::test]
async fn a_change_whose_request_is_withdrawn_holds_where_it_is_stored() {
    let stage = Stage::new();
    let (release, released) = mpsc::channel::<()>();
    let released = Mutex::new(released);
    let (told, mut stuck) = tokio::sync::mpsc::unbounded_channel();
    let slow = move |records: &[Record]| {
        if records.iter().any(|record| matches!(record, Record::Config(_))) {
            told.send(()).expect("the test waits");
            released.lock().expect("nobody panics with it").recv().expect("the test lets go");
        }
        Ok(())
    };
    let runtime: Runtime<_> = Runtime::builder(Script::telling())
        .store(Store::start(Hooked::new(stage.state(), slow)).unwrap())
        .projection(Projection::Live)
        .catalogue(catalogue())
        .build();
    let mut peer = Peer::connected(runtime, json!({})).await;
    let (id, _) = stage.open(&mut peer).await;
    let set = peer.request(
        "session/set_config_option",
        json!({"sessionId": id, "configId": "reasoning_effort", "value": "high"}),
    );
    peer.send(set.clone()).await;
    stuck.recv().await.expect("it is on its way to the disk");
    peer.send(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": set["id"]}}))
        .await;
    assert_eq!(peer.answer(&set).await.1["error"]["code"], -32800);
    release.send(()).unwrap();
    // The next change waits for it, and changes nothing.
    let again = peer.call(
        "session/set_config_option",
        json!({"sessionId": id, "configId": "reasoning_effort", "value": "high"}),
    );
    let options = again.await["result"]["configOptions"].clone();
    assert_eq!(options[1]["currentValue"], "high");
    assert!(texts(&peer.turn(&id, "x").await.0)[0].ends_with("high"));
    drop(peer.hang_up().await);
    let mut peer = stage.start(Script::telling()).await;
    peer.call("session/resume", stage.params(&id)).await;
    peer.next().await;
    assert!(texts(&peer.turn(&id, "x").await.0)[0].ends_with("high"));
}
