//! What is taken one by one is a `Stream`, too.

use std::{future::poll_fn, pin::Pin};

use accord_client::{
    Client, SessionUpdate,
    protocol::v1::{ListSessionsRequest, LoadSessionRequest},
};
use futures_core::Stream;
use serde_json::{Value, json};

use crate::script::{CWD, chunk, connected, opened};

/// All that a stream gives, and that it gives nothing after its end.
async fn all<S: Stream + Unpin>(stream: &mut S) -> Vec<S::Item> {
    let mut items = Vec::new();
    while let Some(item) = poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await {
        items.push(item);
    }
    assert!(poll_fn(|cx| Pin::new(&mut *stream).poll_next(cx)).await.is_none());
    items
}

fn text(update: &SessionUpdate) -> &str {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) => chunk.content.as_text().unwrap_or_default(),
        _ => "",
    }
}

#[tokio::test]
async fn a_turn_is_a_stream_of_its_updates() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let mut turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    for text in ["a", "b"] {
        agent.update(chunk(text)).await;
    }
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(all(&mut turn).await.iter().map(text).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(turn.finish().await.unwrap().to_string(), "end_turn");
}

#[tokio::test]
async fn a_replay_is_a_stream_of_the_history() {
    let (client, mut agent) = connected(Client::builder(), json!({"loadSession": true})).await;
    let mut replay = client.replay_session(LoadSessionRequest::new("sess_1", CWD, [])).unwrap();
    let serving = async {
        let request = agent.expect("session/load").await;
        agent.update(chunk("old")).await;
        agent.answer(&request, json!({})).await;
    };
    let (history, ()) = tokio::join!(all(&mut replay), serving);
    assert_eq!(history.iter().map(text).collect::<Vec<_>>(), ["old"]);
    assert_eq!(replay.finish().await.unwrap().id().as_str(), "sess_1");
}

fn page(ids: &[&str], next: impl Into<Value>) -> Value {
    let next = next.into();
    let sessions: Vec<Value> = ids.iter().map(|id| json!({"sessionId": id, "cwd": CWD})).collect();
    json!({"sessions": sessions, "nextCursor": next})
}

// ACPX-LIST-005: pages are asked for as they are taken; a list that leads back to an earlier page ends.
#[tokio::test]
async fn the_list_is_a_stream_that_ends() {
    let (client, mut agent) =
        connected(Client::builder(), json!({"sessionCapabilities": {"list": {}}})).await;
    let mut sessions = client.all_sessions(ListSessionsRequest::new());
    let serving = async {
        for (ids, next) in [(&["a", "b"][..], "1"), (&[], "2"), (&["c"], "1")] {
            agent.serve("session/list", page(ids, next)).await;
        }
    };
    let (listed, ()) = tokio::join!(all(&mut sessions), serving);
    let ids: Vec<_> = listed.into_iter().map(|session| session.unwrap().session_id.to_string()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    agent.assert_quiet().await;
}

// An error ends the stream; asked otherwise, the list goes on with the page that failed.
#[tokio::test]
async fn an_error_ends_the_stream_and_not_the_list() {
    let (client, mut agent) =
        connected(Client::builder(), json!({"sessionCapabilities": {"list": {}}})).await;
    let mut sessions = client.all_sessions(ListSessionsRequest::new());
    let serving = async {
        agent.serve("session/list", page(&["a"], "1")).await;
        let request = agent.expect("session/list").await;
        agent.refuse(&request, -32603, "busy", Value::Null).await;
    };
    let (listed, ()) = tokio::join!(all(&mut sessions), serving);
    assert!(listed[0].is_ok() && listed[1].is_err() && listed.len() == 2, "{listed:?}");
    let serving = async {
        let request = agent.expect("session/list").await;
        assert_eq!(request["params"]["cursor"], "1");
        agent.answer(&request, page(&["b"], Value::Null)).await;
    };
    let (next, ()) = tokio::join!(sessions.next(), serving);
    assert_eq!(next.unwrap().unwrap().session_id.as_str(), "b");
    assert!(sessions.next().await.unwrap().is_none());
}

// Nothing is lost, and nothing asked twice, by giving up waiting for the next one.
#[tokio::test]
async fn a_page_is_asked_for_once() {
    let (client, mut agent) =
        connected(Client::builder(), json!({"sessionCapabilities": {"list": {}}})).await;
    let mut sessions = client.all_sessions(ListSessionsRequest::new());
    let request = tokio::select! {
        biased;
        _ = sessions.next() => panic!("nobody answered"),
        request = agent.expect("session/list") => request,
    };
    agent.answer(&request, page(&["a"], Value::Null)).await;
    assert_eq!(sessions.next().await.unwrap().unwrap().session_id.as_str(), "a");
    agent.assert_quiet().await;
}
