//! Order on the wire is the order of the calls, and the order of the calls is the order of what is handed over.

use accord_protocol::v1::{ContentBlock, ContentChunk, SessionNotification, SessionUpdate};
use accord_transport::{Handle, Options, pair};
use serde_json::json;

use crate::support::{Raw, Recorder, Told, within};

pub(crate) fn chunk(text: &str) -> SessionNotification {
    SessionNotification::new(
        "s1",
        SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::text(text))),
    )
}

async fn stream(agent: &Handle, count: usize) {
    for n in 0..count {
        agent.notify(&chunk(&n.to_string())).await.expect("the client is there");
    }
}

// T4, B001, B002
#[tokio::test]
async fn an_answer_never_overtakes_an_update() {
    let (recorder, mut told) = Recorder::new();
    let (agent_service, mut agent_told) = Recorder::new();
    let (agent, client) = pair((Options::agent(), agent_service), (Options::client(), recorder));
    let started = client.call_raw("session/prompt", &());
    let turn = async {
        let Some(Told::Call(call)) = agent_told.recv().await else { panic!("the prompt comes first") };
        stream(&agent, 1000).await;
        call.answer(Ok(json!({"stopReason": "end_turn"})));
    };
    let (outcome, ()) = within(async { tokio::join!(started, turn) }).await;
    outcome.expect("answered");
    for n in 0..1000 {
        match told.try_recv().expect("handed over before the answer") {
            Told::Update(update) => assert_eq!(update.notification, chunk(&n.to_string())),
            other => panic!("an update was expected, not {other:?}"),
        }
    }
}

// T3, T17: members in another order, and a character cut in two
#[tokio::test]
async fn every_form_of_an_update_is_an_update() {
    let (recorder, mut told) = Recorder::new();
    let (_handle, mut raw) = Raw::connected(Options::client(), recorder);
    let params = r#"{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a�"}}}"#;
    for line in [
        format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#),
        format!(r#"{{"params":{params},"method":"session/update","jsonrpc":"2.0"}}"#),
        format!(r#"{{"method":"session/update","params":{params},"jsonrpc":"2.0"}}"#),
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{}}}"#,
            params.replace('�', "\\ud83d")
        ),
    ] {
        raw.send(format!("{line}\n")).await;
        match within(told.recv()).await {
            Some(Told::Update(update)) => assert_eq!(update.notification, chunk("a\u{fffd}"), "{line}"),
            other => panic!("an update was expected, not {other:?}"),
        }
    }
    // One that does not fit is a notification, and one with an id is a request.
    raw.send(concat!(
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{},\"id\":900}\n"
    ))
    .await;
    assert!(
        matches!(within(told.recv()).await, Some(Told::Notification(n)) if &*n.method == "session/update")
    );
    assert!(matches!(within(told.recv()).await, Some(Told::Call(call)) if call.method() == "session/update"));
}
