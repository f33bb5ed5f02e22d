//! A session that its client opens anew while it is open.

use accord_agent::runtime::{Active, Runtime};
use serde_json::json;

use crate::{
    stage::{Script, Stage},
    support::{Peer, stop, texts},
};

// ACP-LOAD-001, ACP-RESUME-001: a client may open its own session again where the policy says so
#[tokio::test]
async fn a_client_may_open_its_own_session_again() {
    let stage = Stage::new();
    let runtime: Runtime<_> = stage.builder(Script::telling()).active(Active::Reopenable).build();
    let mut peer = Peer::connected(runtime, json!({})).await;
    let (id, _) = stage.open(&mut peer).await;
    assert_eq!(stop(&peer.turn(&id, "one").await.1), "end_turn");
    for method in ["session/load", "session/resume"] {
        let request = peer.request(method, stage.params(&id));
        peer.send(request.clone()).await;
        let (replayed, answer) = peer.answer(&request).await;
        assert!(answer["result"].is_object(), "{answer}");
        assert_eq!(replayed.is_empty(), method == "session/resume");
        assert_eq!(peer.next().await["params"]["update"]["sessionUpdate"], "available_commands_update");
    }
    let (updates, _) = peer.turn(&id, "two").await;
    assert!(texts(&updates)[0].starts_with("\"one\""), "{updates:?}");
}

// D4, ACPX-CREQ-004: half of it would take away the session that was there
#[tokio::test]
async fn a_session_that_is_open_stays_so_when_its_load_is_withdrawn() {
    let stage = Stage::new();
    let runtime: Runtime<_> = stage.builder(Script::telling()).active(Active::Reopenable).build();
    let mut peer = Peer::connected(runtime, json!({})).await;
    let (id, _) = stage.open_quietly(&mut peer).await;
    for method in ["session/load", "session/resume"] {
        let reopen = peer.request(method, stage.params(&id));
        let withdrawn =
            json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": reopen["id"]}});
        peer.send_all([reopen.clone(), withdrawn]).await;
        let (_, answer) = peer.answer(&reopen).await;
        assert!(answer["result"].is_object(), "{method}: {answer}");
        assert_eq!(stop(&peer.turn(&id, "x").await.1), "end_turn", "{method}");
    }
}

// D4, ACP-CLOSE-001: a close gives up what opens the session anew, and the session is closed all the same
#[tokio::test]
async fn a_close_right_behind_a_load_of_an_open_session_closes_it() {
    let stage = Stage::new();
    let runtime: Runtime<_> = stage.builder(Script::telling()).active(Active::Reopenable).build();
    let mut peer = Peer::connected(runtime, json!({})).await;
    for method in ["session/load", "session/resume"] {
        let (id, _) = stage.open_quietly(&mut peer).await;
        let reopen = peer.request(method, stage.params(&id));
        let close = peer.request("session/close", json!({"sessionId": id}));
        peer.send_all([reopen, close.clone()]).await;
        let (_, answer) = peer.answer(&close).await;
        assert_eq!(answer["result"], json!({}), "{method}: {answer}");
        assert_eq!(peer.turn(&id, "x").await.1["error"]["code"], -32002, "{method}");
    }
}
