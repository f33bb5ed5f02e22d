//! A client that reads slowly: what the backend then drops is nowhere, and all else is on the wire and in the history.

use std::{
    future::ready,
    sync::{Arc, Mutex},
};

use accord_agent::{
    StopReason,
    protocol::v1::{SessionUpdate, ToolCall},
    runtime::{Projection, Turn},
};
use serde_json::json;

use crate::{
    stage::{Script, Stage},
    support::{Peer, stop, texts},
};

// D12, D13, X5
#[tokio::test]
async fn what_is_dropped_while_the_chain_is_full_is_nowhere_and_the_rest_everywhere() {
    for projection in [Projection::Live, Projection::Committed] {
        let stage = Stage::new();
        let taken = Arc::new(Mutex::new(String::new()));
        let notes = Arc::clone(&taken);
        let backend = Script::new(move |turn: Turn| {
            let notes = Arc::clone(&notes);
            async move {
                // Nothing here waits, so nothing of it leaves the chain.
                let mut dropped = 0;
                for number in 0.. {
                    let text = format!("{number:05} {}", "x".repeat(30_000));
                    tokio::select! {
                        biased;
                        said = turn.say(text.as_str()) => said?,
                        () = ready(()) => dropped += 1,
                    }
                    if dropped == 3 {
                        break;
                    }
                    if dropped == 0 {
                        notes.lock().expect("nobody panics with it").push_str(&text);
                    }
                }
                let lost = SessionUpdate::from(ToolCall::new("lost", "x".repeat(1 << 20)));
                tokio::select! {
                    biased;
                    told = turn.update(lost) => panic!("there is no room: {told:?}"),
                    () = ready(()) => {}
                }
                turn.update(SessionUpdate::from(ToolCall::new("kept", "Kept"))).await?;
                turn.say("the end").await?;
                Ok(StopReason::EndTurn)
            }
        });
        let mut peer =
            Peer::connected(stage.builder(backend).projection(projection).build(), json!({})).await;
        let (id, _) = stage.open_quietly(&mut peer).await;
        let (updates, answer) = peer.turn(&id, "go").await;
        assert_eq!(stop(&answer), "end_turn");
        let taken = taken.lock().unwrap().clone() + "the end";
        assert!(texts(&updates).concat() == taken, "{projection:?}: what the client saw");
        let calls = |messages: &[serde_json::Value]| -> Vec<String> {
            let calls =
                messages.iter().filter_map(|message| message["params"]["update"]["toolCallId"].as_str());
            calls.map(str::to_owned).collect()
        };
        assert_eq!(calls(&updates), ["kept", "kept"], "announced and ended");
        peer.call("session/close", json!({"sessionId": id})).await;
        let load = peer.request("session/load", stage.params(&id));
        peer.send(load.clone()).await;
        let (replayed, _) = peer.answer(&load).await;
        assert!(texts(&replayed).concat() == taken, "{projection:?}: what is remembered");
        assert_eq!(calls(&replayed), ["kept", "kept"]);
    }
}
