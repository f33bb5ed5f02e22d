//! Cases from the field, in the very exchange they were reported with, where no topic's test has it.

use accord_client::{
    Client, Error, Permissions, SessionUpdate, StopReason, TurnError,
    permission::allow_once,
    protocol::v1::{LoadSessionRequest, McpServer, McpServerStdio, NewSessionRequest},
};
use serde_json::json;
use tokio::sync::Notify;

use crate::script::{CWD, connected, opened};

// B038: the agent closes its output during a prompt: the turn fails at once, and so does everything after it.
#[tokio::test]
async fn after_the_end_every_call_fails_at_once() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let turn = session.prompt("go").await.unwrap();
    agent.expect("session/prompt").await;
    drop(agent);
    assert!(matches!(turn.finish().await, Err(TurnError::Lost(_))));
    let client = session.client().clone();
    let error = client.new_session(NewSessionRequest::new(CWD, [])).await.unwrap_err();
    assert!(matches!(error, Error::Lost(_)), "{error:?}");
    let error = session.prompt("again").await.unwrap_err();
    assert!(error.to_string().contains("it is closed"), "{error}");
    assert!(client.call_raw("_x", &json!({})).await.is_err());
    assert!(client.notify_raw("_x", &json!({})).await.is_err());
    session.cancel();
}

// B136: a load carries the one stdio server, with its arrays, as the opening did.
#[tokio::test]
async fn a_load_carries_the_servers_too() {
    let (client, mut agent) = connected(Client::builder(), json!({"loadSession": true})).await;
    let stdio = McpServer::Stdio(McpServerStdio::new("fs", "/bin/mcp", [], []));
    let server = json!({"name": "fs", "command": "/bin/mcp", "args": [], "env": []});
    let opening = client.new_session(NewSessionRequest::new(CWD, [stdio.clone()]));
    let serving = async {
        let request = agent.expect("session/new").await;
        assert_eq!(request["params"]["mcpServers"], json!([server]));
        agent.answer(&request, json!({"sessionId": "sess_1"})).await;
    };
    let (session, ()) = tokio::join!(opening, serving);
    session.unwrap();
    let loading = client.load_session(LoadSessionRequest::new("sess_1", CWD, [stdio]));
    let serving = async {
        let request = agent.expect("session/load").await;
        assert_eq!(request["params"]["mcpServers"], json!([server]));
        agent.answer(&request, json!({})).await;
    };
    let (session, ()) = tokio::join!(loading, serving);
    session.unwrap();
}

// B211: the tool call goes on while its permission is asked for: the question stays open until the person answers.
#[tokio::test]
async fn a_question_outlives_its_calls_progress() {
    let decided = std::sync::Arc::new(Notify::new());
    let person = std::sync::Arc::clone(&decided);
    let permissions = Permissions::ask(move |request| {
        let person = std::sync::Arc::clone(&person);
        async move {
            person.notified().await;
            allow_once(&request)
        }
    });
    let (session, mut agent) = opened(Client::builder().permissions(permissions), json!({})).await;
    let mut turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    agent
        .update(json!({
            "sessionUpdate": "tool_call", "toolCallId": "call_1", "title": "Tool", "status": "pending", "kind": "other",
        }))
        .await;
    let question = json!({
        "sessionId": "sess_1",
        "toolCall": {"toolCallId": "call_1", "title": "Run command", "kind": "execute", "status": "pending"},
        "options": [
            {"optionId": "a1", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "r1", "name": "Reject once", "kind": "reject_once"},
        ],
    });
    agent.ask(7, "session/request_permission", question).await;
    agent
        .update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "call_1", "status": "in_progress"}))
        .await;
    assert!(matches!(turn.next().await, Some(SessionUpdate::ToolCall(_))));
    assert!(matches!(turn.next().await, Some(SessionUpdate::ToolCallUpdate(_))));
    // Everything the client has to say so far is said: the question is not among it.
    agent.assert_quiet().await;
    decided.notify_one();
    let answer = agent.expect_answer(7).await;
    assert_eq!(answer["result"], json!({"outcome": {"outcome": "selected", "optionId": "a1"}}));
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::EndTurn);
}
