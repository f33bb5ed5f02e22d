//! New, list, load, resume, close, delete: what is durable, what is refused, and what is left.

use std::time::Duration;

use accord_agent::{
    Serve, StopReason,
    runtime::{Runtime, Turn},
    store::{Query, SessionStore as _, jsonl::JsonlStore},
};
use serde_json::json;

use crate::{
    stage::{Script, Stage, listed},
    support::{Peer, stop, texts},
};

/// Runs until it is cancelled.
fn endless() -> Script {
    Script::new(|turn: Turn| async move {
        turn.think("started").await?;
        turn.update(accord_agent::protocol::v1::UsageUpdate::new(1_u64, 2_u64)).await?;
        turn.cancelled().await;
        Ok(StopReason::EndTurn)
    })
}

// D1, D9
#[tokio::test]
async fn without_a_store_nothing_durable_is_offered() {
    let runtime: Runtime<_> = Runtime::builder(Script::telling()).build();
    let mut peer = Peer::new(runtime);
    let answer = peer.initialize(json!({})).await;
    assert_eq!(answer["agentCapabilities"]["loadSession"], false);
    assert_eq!(answer["agentCapabilities"]["sessionCapabilities"], json!({"additionalDirectories": {}}));
    let stage = Stage::new();
    let answer = peer.call("session/new", stage.new_params()).await;
    assert!(answer["result"]["sessionId"].is_string(), "{answer}");
    assert_eq!(peer.call("session/list", json!({})).await["error"]["code"], -32601);
}

// D6, D8, ACPX-RESTART-001, ACPX-RESTART-002
#[tokio::test]
async fn a_session_is_durable_before_it_is_announced() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let (id, _) = stage.open(&mut peer).await;
    // Another store sees it at this moment: nothing waits for a close.
    let mut other = JsonlStore::open(stage.state()).unwrap();
    let page = other.list(&Query::newest(10).with_active()).unwrap();
    assert_eq!(page.entries[0].header.id.as_str(), id);
    assert_eq!(peer.call("session/close", json!({"sessionId": id})).await["result"], json!({}));
    assert_eq!(listed(&peer.call("session/list", json!({})).await), [&id]);
}

// D6
#[tokio::test]
async fn what_could_not_be_opened_leaves_nothing() {
    let stage = Stage::new();
    let mut backend = Script::telling();
    backend.refuses_to_open = true;
    let mut peer = stage.start(backend).await;
    let answer = peer.call("session/new", stage.new_params()).await;
    assert_eq!(answer["error"]["message"], "no session today");
    assert_eq!(stage.files(), 0);
}

// D5, ACP-LIST-002, ACPX-LIST-003, ACPX-LIST-005, ACPX-LIST-009, ACPX-LIST-016, B088, B103
#[tokio::test]
async fn lists_are_filtered_by_physical_directory_and_paged() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let mut ids = Vec::new();
    for _ in 0..60 {
        let (id, _) = stage.open(&mut peer).await;
        peer.call("session/close", json!({"sessionId": id})).await;
        ids.insert(0, id);
    }
    let (active, _) = stage.open(&mut peer).await;
    let first = peer.call("session/list", json!({"cwd": null, "cursor": null})).await;
    let cursor = first["result"]["nextCursor"].as_str().unwrap().to_owned();
    let second = peer.call("session/list", json!({"cursor": cursor})).await;
    assert!(second["result"]["nextCursor"].is_null());
    let all: Vec<_> = listed(&first).into_iter().chain(listed(&second)).collect();
    assert_eq!(all, ids, "newest first, each once, without the active {active}");
    let entry = &first["result"]["sessions"][0];
    assert_eq!(entry["cwd"], json!(stage.cwd()));
    assert!(entry["updatedAt"].as_str().unwrap().ends_with('Z'));

    let link = stage.state().join("link");
    std::os::unix::fs::symlink(stage.cwd(), &link).unwrap();
    for (cwd, expected) in [(stage.cwd(), 50), (link, 50), ("/no/such".into(), 0)] {
        let answer = peer.call("session/list", json!({"cwd": cwd})).await;
        assert_eq!(listed(&answer).len(), expected, "{cwd:?}");
    }
    for (params, path) in [(json!({"cursor": "garbage"}), "cursor"), (json!({"cwd": "relative"}), "cwd")] {
        let answer = peer.call("session/list", params).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["error"]["data"]["path"]),
            (&json!(-32602), &json!(path))
        );
    }
}

// D7, ACPX-LOAD-006, ACPX-LOAD-007, ACPX-SESS-012, B098, B112
#[tokio::test]
async fn resuming_is_refused_where_it_should_be() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let (id, _) = stage.open(&mut peer).await;
    for method in ["session/resume", "session/load"] {
        let active = peer.call(method, stage.params(&id)).await;
        assert_eq!(active["error"]["code"], -32600, "{active}");
        let mut unknown = stage.params("../../etc/passwd");
        assert_eq!(peer.call(method, unknown.clone()).await["error"]["code"], -32002);
        unknown["sessionId"] = json!(id);
        unknown["cwd"] = json!("/");
        let elsewhere = peer.call(method, unknown).await;
        assert_eq!(elsewhere["error"]["data"]["path"], "cwd", "{elsewhere}");
    }
    // The session is as it was.
    assert_eq!(stop(&peer.turn(&id, "x").await.1), "end_turn");
    // D5, D7: what is active elsewhere is not listed and not opened.
    let mut other = stage.start(Script::telling()).await;
    assert_eq!(listed(&other.call("session/list", json!({})).await), Vec::<&str>::new());
    assert_eq!(other.call("session/resume", stage.params(&id)).await["error"]["code"], -32600);
    peer.call("session/close", json!({"sessionId": id})).await;
    let answer = other.call("session/resume", stage.params(&id)).await;
    assert!(answer["result"].is_object(), "{answer}");
}

// ACPX-ADDDIRS-003, ACPX-ADDDIRS-006: a list tells the roots a session had last
#[tokio::test]
async fn additional_directories_are_listed() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let told = |answer: &serde_json::Value| answer["result"]["sessions"][0]["additionalDirectories"].clone();
    let (one, two) = (json!(["/tmp", "/usr"]), json!(["/usr"]));
    let mut params = stage.new_params();
    params["additionalDirectories"] = one.clone();
    let answer = peer.call("session/new", params).await;
    let id = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    peer.next().await;
    peer.call("session/close", json!({"sessionId": id})).await;
    assert_eq!(told(&peer.call("session/list", json!({})).await), one);
    // Others for this time, and none for the next; what a turn ran with is what the list tells.
    for directories in [two, serde_json::Value::Null] {
        let mut params = stage.params(&id);
        params["additionalDirectories"] = directories.clone();
        peer.call("session/resume", params).await;
        peer.next().await;
        peer.turn(&id, "x").await;
        peer.call("session/close", json!({"sessionId": id})).await;
        assert_eq!(told(&peer.call("session/list", json!({})).await), directories);
    }
}

// D4, ACP-CLOSE-001, ACP-CLOSE-002, ACPX-CLOSE-002, ACPX-CLOSE-003
#[tokio::test]
async fn closing_cancels_the_turn_and_frees_the_session() {
    let stage = Stage::new();
    let backend = endless();
    let closed = backend.closed.clone();
    let mut peer = stage.start(backend).await;
    let (id, _) = stage.open(&mut peer).await;
    let prompt = peer.prompt(&id, "x");
    peer.send(prompt.clone()).await;
    assert_eq!(peer.next().await["params"]["update"]["sessionUpdate"], "agent_thought_chunk");
    let close = peer.request("session/close", json!({"sessionId": id}));
    peer.send(close.clone()).await;
    let (before, answer) = peer.answer(&close).await;
    assert_eq!(answer["result"], json!({}));
    let cancelled =
        before.iter().find(|message| message["id"] == prompt["id"]).expect("the prompt is answered");
    assert_eq!(stop(cancelled), "cancelled");
    assert_eq!(*closed.lock().unwrap(), std::slice::from_ref(&id));
    assert_eq!(peer.turn(&id, "x").await.1["error"]["code"], -32002);
    assert_eq!(peer.call("session/close", json!({"sessionId": id})).await["error"]["code"], -32002);
}

// D4: calls about a session go in their order, also where a turn runs while they are read
#[tokio::test]
async fn a_load_right_behind_a_close_waits_for_it() {
    let stage = Stage::new();
    let mut peer = stage.start(endless()).await;
    let (id, _) = stage.open(&mut peer).await;
    let prompt = peer.prompt(&id, "x");
    peer.send(prompt).await;
    assert_eq!(peer.next().await["params"]["update"]["sessionUpdate"], "agent_thought_chunk");
    let under = peer.request("session/load", stage.params(&id));
    peer.send(under.clone()).await;
    assert_eq!(peer.answer(&under).await.1["error"]["code"], -32600, "the turn runs, and nobody ends it");
    let close = peer.request("session/close", json!({"sessionId": id}));
    let load = peer.request("session/load", stage.params(&id));
    peer.send(close).await;
    peer.send(load.clone()).await;
    let (_, answer) = peer.answer(&load).await;
    assert!(answer["result"].is_object(), "{answer}");
}

// D4, ACPX-CREQ-004: half a close would leave a session that nobody can reach
#[tokio::test]
async fn a_close_that_is_withdrawn_is_carried_through() {
    let stage = Stage::new();
    let backend = endless();
    let closed = backend.closed.clone();
    let mut peer = stage.start(backend).await;
    for method in ["session/close", "session/delete"] {
        let (id, _) = stage.open(&mut peer).await;
        let prompt = peer.prompt(&id, "x");
        peer.send(prompt).await;
        peer.next().await;
        let close = peer.request(method, json!({"sessionId": id}));
        let withdrawn =
            json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": close["id"]}});
        peer.send_all([close.clone(), withdrawn]).await;
        assert_eq!(peer.answer(&close).await.1["result"], json!({}), "{method}");
        assert_eq!(closed.lock().unwrap().last(), Some(&id));
        let resumed = peer.call("session/resume", stage.params(&id)).await;
        assert_eq!(resumed["result"].is_object(), method == "session/close", "{resumed}");
        if method == "session/close" {
            peer.next().await;
        }
    }
}

// D4: the end of the connection closes what it opened
#[tokio::test]
async fn losing_the_connection_closes_every_session() {
    let stage = Stage::new();
    let backend = endless();
    let closed = backend.closed.clone();
    let mut peer = stage.start(backend).await;
    let (one, _) = stage.open(&mut peer).await;
    let (two, _) = stage.open(&mut peer).await;
    let prompt = peer.prompt(&one, "x");
    peer.send(prompt).await;
    assert_eq!(peer.next().await["params"]["update"]["sessionUpdate"], "agent_thought_chunk");
    let (_, served) = peer.hang_up().await;
    assert!(served.is_ok());
    let mut seen = closed.lock().unwrap().clone();
    seen.sort();
    assert_eq!(seen, [one.clone(), two.clone()]);
    let mut peer = stage.start(Script::telling()).await;
    assert_eq!(listed(&peer.call("session/list", json!({})).await), [&two, &one], "nothing is locked");
}

// B112: only a delete takes a session from the store: a restore that fails, or a prompt to what is not open, leaves it as it was
#[tokio::test]
async fn what_fails_takes_nothing_from_the_store() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    let (id, _) = stage.open(&mut peer).await;
    peer.turn(&id, "x").await;
    drop(peer.hang_up().await);
    let mut refusing = Script::telling();
    refusing.refuses_to_open = true;
    let mut peer = stage.start(refusing).await;
    for method in ["session/resume", "session/load"] {
        let request = peer.request(method, stage.params(&id));
        peer.send(request.clone()).await;
        assert_eq!(peer.answer(&request).await.1["error"]["message"], "no session today", "{method}");
        assert_eq!(peer.turn(&id, "y").await.1["error"]["code"], -32002, "{method}");
    }
    drop(peer.hang_up().await);
    let mut peer = stage.start(Script::telling()).await;
    assert_eq!(listed(&peer.call("session/list", json!({})).await), [&id]);
    peer.call("session/resume", stage.params(&id)).await;
    peer.next().await;
    assert_eq!(texts(&peer.turn(&id, "z").await.0), ["\"x\" a%2Fb/m low"]);
}

// ACP-DELETE-001, ACP-DELETE-002, ACPX-DELETE-002, ACPX-DELETE-004, B109, B110
#[tokio::test]
async fn deleting_removes_for_good() {
    let stage = Stage::new();
    let mut peer = stage.start(endless()).await;
    let (id, _) = stage.open(&mut peer).await;
    let prompt = peer.prompt(&id, "x");
    peer.send(prompt.clone()).await;
    assert_eq!(peer.next().await["params"]["update"]["sessionUpdate"], "agent_thought_chunk");
    let delete = peer.request("session/delete", json!({"sessionId": id}));
    peer.send(delete.clone()).await;
    let (before, answer) = peer.answer(&delete).await;
    assert_eq!(answer["result"], json!({}));
    assert!(before.iter().any(|message| message["id"] == prompt["id"] && stop(message) == "cancelled"));
    for gone in [&id, "never"] {
        assert_eq!(peer.call("session/delete", json!({"sessionId": gone})).await["result"], json!({}));
    }
    assert_eq!(stage.files(), 0);
}

// D5, D9: children have logs of their own, are neither listed nor resumed, and go with their parent
#[tokio::test]
async fn children_belong_to_their_parent() {
    let stage = Stage::new();
    let backend = Script::new(|turn: Turn| async move {
        let child = turn.session().child().await?;
        child.record(&"worked it out").await?;
        child.end_turn("end_turn").await?;
        turn.say(child.id().to_string()).await?;
        Ok(StopReason::EndTurn)
    });
    let mut peer = stage.start(backend).await;
    let (id, _) = stage.open(&mut peer).await;
    let (updates, _) = peer.turn(&id, "x").await;
    let child = texts(&updates)[0].to_owned();
    peer.call("session/close", json!({"sessionId": id})).await;
    assert_eq!(listed(&peer.call("session/list", json!({})).await), [&id]);
    assert_eq!(peer.call("session/resume", stage.params(&child)).await["error"]["code"], -32002);
    assert_eq!(stage.files(), 2);
    peer.call("session/delete", json!({"sessionId": id})).await;
    assert_eq!(stage.files(), 0);
}

// D9 and the unstable method: a fork is a session of its own
#[tokio::test]
async fn a_fork_is_a_copy_and_goes_its_own_way() {
    let stage = Stage::new();
    let mut peer = stage.start(Script::telling()).await;
    assert_eq!(
        peer.call("session/fork", stage.params("s")).await["error"]["code"],
        -32601,
        "only where asked for"
    );
    let runtime: Runtime<_> = stage.builder(Script::telling()).unstable_fork().build();
    let mut peer = Peer::connected(runtime, json!({})).await;
    let (id, _) = stage.open(&mut peer).await;
    peer.turn(&id, "one").await;
    let answer = peer.call("session/fork", stage.params(&id)).await;
    let fork = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    assert_ne!(fork, id);
    peer.next().await;
    let (updates, _) = peer.turn(&fork, "two").await;
    assert!(texts(&updates)[0].starts_with("\"one\" "), "{updates:?}");
    let (updates, _) = peer.turn(&id, "three").await;
    assert!(texts(&updates)[0].starts_with("\"one\" "), "{updates:?}");
    for session in [&id, &fork] {
        peer.call("session/close", json!({"sessionId": session})).await;
    }
    assert_eq!(listed(&peer.call("session/list", json!({})).await), [&fork, &id]);
}

// ACPX-CLOSE-002, D4: the grace is longer than this test waits, so a close and a prompt that wait for each other show
#[tokio::test]
async fn a_prompt_right_behind_a_close_waits_for_nothing() {
    for method in ["session/close", "session/delete"] {
        let stage = Stage::new();
        let runtime: Runtime<_> = stage.builder(Script::telling()).build();
        let mut peer = Peer::of(Serve::new(runtime).grace(Duration::from_secs(3600)));
        peer.initialize(json!({})).await;
        let (id, _) = stage.open(&mut peer).await;
        let close = peer.request(method, json!({"sessionId": id}));
        let prompt = peer.prompt(&id, "late");
        peer.send_all([close.clone(), prompt.clone()]).await;
        let (before, answer) = peer.answer(&prompt).await;
        assert_eq!(stop(&answer), "cancelled");
        if !before.iter().any(|message| message["id"] == close["id"]) {
            let (_, closed) = peer.answer(&close).await;
            assert_eq!(closed["result"], json!({}));
        }
    }
}
