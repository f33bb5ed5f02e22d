//! Cases from the field, in the very exchange they were reported with, where no topic's test has it.

use accord_client::{
    Client, Error, Misuse, Permissions, SessionUpdate, StopReason, TurnError,
    permission::allow_once,
    protocol::v1::{LoadSessionRequest, McpServer, McpServerStdio, NewSessionRequest},
};
use serde_json::json;
use tokio::sync::Notify;

use crate::script::{CWD, chunk, connected, opened, play};

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

// B037: nothing waits its turn here: what was asked for during a turn is refused there and then, and a cancel leaves nothing
// behind that would run after it.
#[tokio::test]
async fn a_cancel_is_followed_by_no_other_prompt() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let turn = session.prompt("a").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    let error = session.prompt("b").await.unwrap_err();
    assert!(matches!(error, Error::Misuse(Misuse::Busy { .. })), "{error:?}");
    session.cancel();
    agent.expect("session/cancel").await;
    agent.answer(&prompt, json!({"stopReason": "cancelled"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::Cancelled);
    agent.assert_quiet().await;
}

// B175: a history with an entry of 17 MiB is loaded whole, and the session goes on.
#[tokio::test]
async fn a_history_with_a_huge_entry_is_loaded() {
    let (client, mut agent) = connected(Client::builder(), json!({"loadSession": true})).await;
    let loading =
        tokio::spawn(async move { client.load_session(LoadSessionRequest::new("sess_1", CWD, [])).await });
    let request = agent.expect("session/load").await;
    let huge = "y".repeat(17 << 20);
    agent.update(chunk(&huge)).await;
    agent.answer(&request, json!({})).await;
    let session = loading.await.unwrap().unwrap();
    let history = session.take_history();
    let [SessionUpdate::AgentMessageChunk(entry)] = &history[..] else { panic!("{} entries", history.len()) };
    assert_eq!(entry.content.as_text().map(str::len), Some(huge.len()));
    let turn = session.prompt("go").await.unwrap();
    agent.serve("session/prompt", json!({"stopReason": "end_turn"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::EndTurn);
}

// B218: two agents, each with a handshake of its own, that give their sessions the same id: each hears what is its own.
#[tokio::test]
async fn a_session_is_its_own_agents() {
    let (one, mut first) = opened(Client::builder(), json!({"loadSession": true})).await;
    let (two, mut second) = opened(Client::builder(), json!({})).await;
    assert_eq!(one.id(), two.id());
    let loads = |session: &accord_client::Session| {
        session.client().agent().agent_capabilities.as_ref().and_then(|offered| offered.load_session)
    };
    assert_eq!((loads(&one), loads(&two)), (Some(true), None));
    let turn = two.prompt("go").await.unwrap();
    let prompt = second.expect("session/prompt").await;
    first.update(chunk("from the first")).await;
    first.assert_quiet().await;
    second.update(chunk("from the second")).await;
    second.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(play(turn).await.0, "from the second");
}
