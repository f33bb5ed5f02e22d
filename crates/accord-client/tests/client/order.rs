//! Updates in the order of the wire: within turns, before their session is known, while it is loaded, between turns.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use accord_client::{
    Client, Handler, SessionId, SessionUpdate, StopReason,
    protocol::v1::{LoadSessionRequest, ResumeSessionRequest},
};
use serde_json::json;

use crate::script::{CWD, chunk, connected, open, opened, play, update_of};

/// Keeps the texts of the updates between turns.
#[derive(Clone, Default)]
struct Idle(Arc<Mutex<Vec<String>>>, Arc<tokio::sync::Notify>);

impl Handler for Idle {
    async fn update(&self, _: &SessionId, update: SessionUpdate) {
        if let SessionUpdate::AgentMessageChunk(chunk) = update {
            self.0
                .lock()
                .expect("no test panicked")
                .push(chunk.content.as_text().unwrap_or_default().to_owned());
            self.1.notify_one();
        }
    }
}

// T4, E2, B004: the last update and the answer in one write; the answer does not overtake the update.
#[tokio::test]
async fn the_answer_is_behind_the_updates() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    let answer = json!({"jsonrpc": "2.0", "id": prompt["id"], "result": {"stopReason": "end_turn"}});
    let many: String = (0..500).fold(String::new(), |many, n| {
        many + &update_of("sess_1", &chunk(&format!("{n} "))).to_string() + "\n"
    });
    let writing = tokio::spawn(async move {
        agent.write(&format!("{many}{answer}\n")).await;
        agent
    });
    let (text, end) = play(turn).await;
    let expected: String = (0..500).fold(String::new(), |all, n| all + &format!("{n} "));
    assert_eq!(text, expected);
    assert_eq!(end.unwrap(), StopReason::EndTurn);
    writing.await.unwrap();
}

// B005, quirk 15: an update for a session comes before the answer that opens it.
#[tokio::test]
async fn an_update_before_its_session_is_held() {
    let idle = Idle::default();
    let (client, mut agent) = connected(Client::builder().handler(idle.clone()), json!({})).await;
    let opening = client.clone();
    let opening = tokio::spawn(async move { opening.new_session(Path::new(CWD)).await });
    let request = agent.expect("session/new").await;
    agent.send(update_of("sess_9", &chunk("early"))).await;
    agent.update(json!({"sessionUpdate": "session_info_update", "title": "T"})).await;
    let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": {"sessionId": "sess_1"}});
    // The session is registered before the next frame is looked at.
    agent.write(&format!("{answer}\n{}\n", update_of("sess_1", &chunk("first")))).await;
    let session = opening.await.unwrap().unwrap();
    assert_eq!(session.state().title.as_deref(), Some("T"));
    idle.1.notified().await;
    assert_eq!(*idle.0.lock().unwrap(), ["first"]);
}

// B007, ACPX-SESS-014: an update for no session of ours is dropped, and the turn works.
#[tokio::test]
async fn an_update_for_an_unknown_session_does_no_harm() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    agent.send(update_of("sess_unknown", &chunk("x"))).await;
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    agent.update(chunk("ok")).await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    let (text, end) = play(turn).await;
    assert_eq!((text.as_str(), end.unwrap()), ("ok", StopReason::EndTurn));
}

// B008, ACPX-PROMPT-015: what comes between turns is in the session's state, before any prompt.
#[tokio::test]
async fn what_comes_before_a_prompt_is_known() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    agent
        .update(json!({
            "sessionUpdate": "available_commands_update",
            "availableCommands": [{"name": "plan", "description": "Plan"}],
        }))
        .await;
    agent.update(json!({"sessionUpdate": "session_info_update", "title": "T"})).await;
    agent.assert_quiet().await;
    let state = session.state();
    assert_eq!(state.commands[0].name, "plan");
    assert_eq!(state.title.as_deref(), Some("T"));
    // ACPX-LIST-012: absent stays, null clears.
    agent.update(json!({"sessionUpdate": "session_info_update", "title": null})).await;
    agent.assert_quiet().await;
    assert_eq!(session.state().title, None);
}

// B010, B013, B014, ACPX-LOAD-008: the history is complete when the session is loaded, and no part of the next turn.
#[tokio::test]
async fn a_loaded_sessions_history_comes_before_it() {
    let idle = Idle::default();
    let builder = Client::builder().handler(idle.clone());
    let (client, mut agent) = connected(builder, json!({"loadSession": true})).await;
    let loading = client.clone();
    let loading =
        tokio::spawn(async move { loading.load_session(LoadSessionRequest::new("sess_1", CWD, [])).await });
    let request = agent.expect("session/load").await;
    assert_eq!(request["params"], json!({"sessionId": "sess_1", "cwd": CWD, "mcpServers": []}));
    agent.update(chunk("old 1")).await;
    agent.update(chunk("old 2")).await;
    // B145: some answer null.
    agent.answer(&request, json!(null)).await;
    let session = loading.await.unwrap().unwrap();
    let history = session.take_history();
    assert_eq!(history.len(), 2);
    assert!(session.take_history().is_empty());

    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    agent.update(chunk("new")).await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(play(turn).await.0, "new");
    assert!(idle.0.lock().unwrap().is_empty());
}

// B095: a load that fails is an error with its data; nothing is opened instead.
#[tokio::test]
async fn a_load_that_fails_opens_nothing_else() {
    let (client, mut agent) = connected(Client::builder(), json!({"loadSession": true})).await;
    let loading = client.clone();
    let loading =
        tokio::spawn(async move { loading.load_session(LoadSessionRequest::new("old", CWD, [])).await });
    let request = agent.expect("session/load").await;
    agent.refuse(&request, -32603, "Internal error", json!({"details": "database is locked"})).await;
    let error = loading.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("database is locked"), "{error}");
    agent.assert_quiet().await;
}

// ACPX-RESUME-001: resumed without its history; modes and options are known.
#[tokio::test]
async fn a_resumed_session_is_known_at_once() {
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let (client, mut agent) = connected(Client::builder(), capabilities).await;
    let resuming = client.clone();
    let resuming =
        tokio::spawn(
            async move { resuming.resume_session(ResumeSessionRequest::new("a:b/ü %20", CWD)).await },
        );
    let request = agent.expect("session/resume").await;
    // B097: ids are sent back as they came.
    assert_eq!(request["params"]["sessionId"], "a:b/ü %20");
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]});
    agent.answer(&request, json!({"modes": modes})).await;
    let session = resuming.await.unwrap().unwrap();
    assert_eq!(session.modes().unwrap().current_mode_id, "ask");
}

// Rule 1: sessions do not wait for each other.
#[tokio::test]
async fn two_sessions_have_their_own_updates() {
    let (client, mut agent) = connected(Client::builder(), json!({})).await;
    let one = open(&client, &mut agent, json!({"sessionId": "one"})).await;
    let two = open(&client, &mut agent, json!({"sessionId": "two"})).await;
    let first = one.prompt("1").await.unwrap();
    let prompt_one = agent.expect("session/prompt").await;
    let second = two.prompt("2").await.unwrap();
    let prompt_two = agent.expect("session/prompt").await;
    agent.send(update_of("two", &chunk("for two"))).await;
    agent.send(update_of("one", &chunk("for one"))).await;
    agent.answer(&prompt_two, json!({"stopReason": "end_turn"})).await;
    // The first turn is not looked at until the second is over.
    assert_eq!(play(second).await.0, "for two");
    agent.answer(&prompt_one, json!({"stopReason": "end_turn"})).await;
    assert_eq!(play(first).await.0, "for one");
}
