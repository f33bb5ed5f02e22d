//! Agents and callers that do things at the worst moment: late and double answers, closing while loading, futures dropped.

use std::{
    future::{Future, poll_fn},
    path::Path,
    pin::pin,
    task::Poll,
    time::Duration,
};

use accord_client::{
    Client, Error, Permissions, Prompt, SessionStatus, StopReason,
    permission::allow_once,
    protocol::v1::{LoadSessionRequest, ResumeSessionRequest},
};
use serde_json::json;

use crate::script::{CWD, chunk, connect_over, connected, open, opened, permission, play, wire_of};

/// Polls a future so many times, letting everybody else have their turn in between, and drops it. Whether it was done.
pub(crate) async fn give_up<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..polls {
        let polled = poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
        if let Poll::Ready(output) = polled {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}

// Two callers load the same session; the first is refused, which is nothing to the second.
#[tokio::test]
async fn a_load_that_fails_spoils_no_other() {
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    let (client, mut agent) = connected(Client::builder(), capabilities).await;
    let loading = client.load_session(LoadSessionRequest::new("sess_1", CWD, []));
    let resuming = client.resume_session(ResumeSessionRequest::new("sess_1", CWD));
    let serving = async {
        let load = agent.expect("session/load").await;
        let resume = agent.expect("session/resume").await;
        agent.refuse(&load, -32603, "locked", json!(null)).await;
        agent.answer(&resume, json!({})).await;
    };
    let (loaded, resumed, ()) = tokio::join!(loading, resuming, serving);
    assert!(loaded.is_err());
    let session = resumed.unwrap();
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    agent.update(chunk("here")).await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(play(turn).await.0, "here");
}

// A session that is closed while it is loaded is closed; it can be loaded again.
#[tokio::test]
async fn a_session_is_closed_while_it_is_loaded() {
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"close": {}}});
    let (client, mut agent) = connected(Client::builder(), capabilities).await;
    let loading = client.load_session(LoadSessionRequest::new("sess_1", CWD, []));
    let closing = async {
        let load = agent.expect("session/load").await;
        let (closed, ()) =
            tokio::join!(client.close_session("sess_1"), agent.serve("session/close", json!({})));
        closed.unwrap();
        agent.update(chunk("late")).await;
        agent.answer(&load, json!({})).await;
    };
    let (loaded, ()) = tokio::join!(loading, closing);
    let session = loaded.unwrap();
    assert_eq!(session.status(), SessionStatus::Closed);
    assert!(session.prompt("go").await.is_err());
    let (again, ()) = tokio::join!(
        client.load_session(LoadSessionRequest::new("sess_1", CWD, [])),
        agent.serve("session/load", json!({}))
    );
    assert_eq!(again.unwrap().status(), SessionStatus::Idle);
}

// T6, B166: an answer that comes after its deadline is nobody's, and the next request gets its own.
#[tokio::test(start_paused = true)]
async fn a_late_answer_is_nobodys() {
    let builder = Client::builder().request_deadline(Duration::from_secs(1));
    let (client, mut agent) = connected(builder, json!({})).await;
    let opening = client.new_session(Path::new(CWD));
    let (opened, late) = tokio::join!(opening, agent.expect("session/new"));
    let error = opened.unwrap_err();
    assert!(matches!(error, Error::Timeout { method: "session/new", .. }), "{error:?}");
    assert_eq!(error.to_string(), "the agent did not answer session/new within 1s");
    agent.expect("$/cancel_request").await;
    agent.answer(&late, json!({"sessionId": "late"})).await;
    let session = open(&client, &mut agent, json!({"sessionId": "own"})).await;
    assert_eq!(session.id().as_str(), "own");
}

// B059's rule: a question under the id of one that is open cannot be told from it: it is refused, and the first is answered.
#[tokio::test]
async fn an_id_that_is_in_use_is_refused() {
    let permissions = Permissions::ask(|request| async move { allow_once(&request) });
    let (session, mut agent) = opened(Client::builder().permissions(permissions), json!({})).await;
    let _turn = session.prompt("go").await.unwrap();
    agent.expect("session/prompt").await;
    let question = json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": permission("sess_1")});
    agent.write(&format!("{question}\n{question}\n")).await;
    let refused = agent.expect_answer(json!(null)).await;
    assert_eq!(refused["error"]["code"], -32600);
    let answered = agent.expect_answer(7).await;
    assert_eq!(answered["result"]["outcome"]["outcome"], "selected");
    // Once it is answered, the id is free.
    agent.write(&format!("{question}\n")).await;
    agent.expect_answer(7).await;
    agent.assert_quiet().await;
}

// Rule 6: the future of a prompt that waits for room is dropped: the prompt is never sent, and the session takes the next.
#[tokio::test]
async fn a_prompt_that_waits_for_room_can_be_given_up() {
    let (ours, agent) = wire_of(4096);
    let (client, mut agent) = connect_over(Client::builder(), json!({}), ours, agent).await;
    let session = open(&client, &mut agent, json!({"sessionId": "sess_1"})).await;
    // The agent does not read: what is written fills the pipe and the queue behind it.
    let much = json!({"text": "x".repeat(1024 * 1024)});
    let mut filled = 0;
    while give_up(client.notify_raw("_x/much", &much), 3).await.is_some() {
        filled += 1;
    }
    assert!(give_up(session.prompt("given up"), 5).await.is_none());
    assert_eq!(session.status(), SessionStatus::Idle);
    for _ in 0..filled {
        agent.expect("_x/much").await;
    }
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    assert_eq!(prompt["params"]["prompt"][0]["text"], "go");
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::EndTurn);
}

// A turn's limit also counts for the wait until its prompt can be sent: an agent may never read it.
#[tokio::test(start_paused = true)]
async fn an_agent_that_does_not_read_runs_into_the_limit() {
    let (ours, agent) = wire_of(4096);
    let (client, mut agent) = connect_over(Client::builder(), json!({}), ours, agent).await;
    let session = open(&client, &mut agent, json!({"sessionId": "sess_1"})).await;
    let much = json!({"text": "x".repeat(1024 * 1024)});
    while give_up(client.notify_raw("_x/much", &much), 3).await.is_some() {}
    let prompt = Prompt::from("go").deadline(Duration::from_secs(5));
    let error = session.prompt(prompt).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { method: "session/prompt", .. }), "{error:?}");
    assert_eq!(session.status(), SessionStatus::Idle);
}

// Rule 6: opening, loading and listing are given up at each of their steps; the connection serves the next all the same.
#[tokio::test]
async fn calls_are_given_up_at_each_step() {
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}, "resume": {}}});
    let (client, mut agent) = connected(Client::builder(), capabilities).await;
    let serving = tokio::spawn(async move {
        while let Some(frame) = agent.next().await {
            match frame["method"].as_str() {
                Some("session/list") => agent.answer(&frame, json!({"sessions": []})).await,
                Some("session/load") => {
                    agent.update(chunk("old")).await;
                    agent.answer(&frame, json!({})).await;
                }
                Some("session/new" | "session/resume") => {
                    agent.answer(&frame, json!({"sessionId": "new"})).await;
                }
                _ => {}
            }
        }
    });
    for polls in 0..8 {
        give_up(client.new_session(Path::new(CWD)), polls).await;
        give_up(client.load_session(LoadSessionRequest::new("sess_1", CWD, [])), polls).await;
        give_up(client.resume_session(ResumeSessionRequest::new("sess_1", CWD)), polls).await;
        give_up(client.list_sessions(accord_client::protocol::v1::ListSessionsRequest::new()), polls).await;
    }
    let session = client.load_session(LoadSessionRequest::new("sess_1", CWD, [])).await.unwrap();
    assert_eq!(session.take_history().len(), 1);
    assert_eq!(session.status(), SessionStatus::Idle);
    client.close().await;
    serving.await.unwrap();
}
