//! Cancelling: two ways, one state, exactly one answer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use accord_agent::{ClientError, Error, Serve, StopReason, Turn, protocol::v1::SessionUpdate};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{Peer, Scripted, cancel, stop, texts};

/// Blocks until it is cancelled, if the prompt is `block`.
fn blocking() -> Scripted {
    Scripted::new(|turn: Turn| async move {
        if turn.text() != "block" {
            turn.say(turn.text()).await?;
            return Ok(StopReason::EndTurn);
        }
        turn.say("started").await?;
        turn.cancelled().await;
        Ok(StopReason::EndTurn)
    })
}

// ACP-CANCEL-001, ACPX-CANCEL-004, ACPX-CANCEL-007, ACPX-CANCEL-012, B017, B022
#[tokio::test]
async fn a_cancel_right_behind_its_prompt_is_not_lost() {
    let mut peer = Peer::connected(blocking(), json!({})).await;
    let session = peer.session().await;
    for _ in 0..50 {
        let prompt = peer.prompt(&session, "block");
        peer.send_all([prompt.clone(), cancel(&session), cancel(&session)]).await;
        let (_, answer) = peer.answer(&prompt).await;
        assert_eq!(stop(&answer), "cancelled");
        let (updates, answer) = peer.turn(&session, "again").await;
        assert_eq!((texts(&updates), stop(&answer)), (vec!["again"], "end_turn"));
    }
    peer.quiet().await;
}

// ACPX-CANCEL-003, ACP-JSONRPC-003, B023, T10
#[tokio::test]
async fn an_idle_cancel_touches_nothing() {
    let mut peer = Peer::connected(blocking(), json!({})).await;
    let session = peer.session().await;
    let prompt = peer.prompt(&session, "hi");
    peer.send_all([cancel(&session), cancel("nobody"), cancel(&session), prompt.clone()]).await;
    let (updates, answer) = peer.answer(&prompt).await;
    assert_eq!((texts(&updates), stop(&answer)), (vec!["hi"], "end_turn"));
    peer.send(cancel(&session)).await;
    assert_eq!(stop(&peer.turn(&session, "late").await.1), "end_turn");
    peer.send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {}})).await;
    peer.quiet().await;
}

// D14, ACPX-CREQ-001, ACPX-CREQ-002, ACPX-CREQ-004, ACPX-CREQ-006, B035
#[tokio::test]
async fn cancel_request_takes_the_same_path() {
    let mut peer = Peer::connected(blocking(), json!({})).await;
    let session = peer.session().await;
    let withdraw =
        |id: &Value| json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id}});
    peer.send_all([withdraw(&json!(0)), withdraw(&json!("x")), withdraw(&json!(null))]).await;
    let prompt = peer.prompt(&session, "block");
    peer.send(prompt.clone()).await;
    assert_eq!(texts(&[peer.next().await]), ["started"]);
    peer.send_all([withdraw(&prompt["id"]), withdraw(&prompt["id"]), cancel(&session)]).await;
    let (_, answer) = peer.answer(&prompt).await;
    assert_eq!(stop(&answer), "cancelled");
    peer.send(withdraw(&prompt["id"])).await;
    assert_eq!(stop(&peer.turn(&session, "next").await.1), "end_turn");
}

// ACPX-CANCEL-005, B026
#[tokio::test]
async fn a_cancel_is_for_its_own_session() {
    let release = Arc::new(Notify::new());
    let waits = Arc::clone(&release);
    let agent = Scripted::new(move |turn: Turn| {
        let waits = Arc::clone(&waits);
        async move {
            tokio::select! { () = turn.cancelled() => {}, () = waits.notified() => {} }
            Ok(StopReason::EndTurn)
        }
    });
    let mut peer = Peer::connected(agent, json!({})).await;
    let (one, two) = (peer.session().await, peer.session().await);
    let (first, second) = (peer.prompt(&one, "a"), peer.prompt(&two, "b"));
    peer.send_all([first.clone(), second.clone(), cancel(&one)]).await;
    assert_eq!(stop(&peer.answer(&first).await.1), "cancelled");
    release.notify_one();
    assert_eq!(stop(&peer.answer(&second).await.1), "end_turn");
}

// ACPX-CANCEL-002, B020
#[tokio::test]
async fn whatever_a_cancelled_handler_returns_the_answer_is_cancelled() {
    for outcome in ["error", "end", "panic", "?"] {
        let agent = Scripted::new(move |turn: Turn| async move {
            turn.cancelled().await;
            match outcome {
                "error" => Err(Error::internal("aborted")),
                "panic" => panic!("aborted"),
                "?" => {
                    assert!(matches!(turn.say("more").await, Err(ClientError::Cancelled)));
                    turn.or_cancelled(std::future::pending::<()>()).await?;
                    unreachable!("the turn is cancelled")
                }
                _ => Ok(StopReason::MaxTokens),
            }
        });
        let mut peer = Peer::connected(agent, json!({})).await;
        let session = peer.session().await;
        let prompt = peer.prompt(&session, "x");
        peer.send_all([prompt.clone(), cancel(&session)]).await;
        assert_eq!(stop(&peer.answer(&prompt).await.1), "cancelled", "{outcome}");
    }
}

// rule 8
#[tokio::test]
async fn a_cancelled_turn_may_finish_its_sentence() {
    let agent = Scripted::new(|turn: Turn| async move {
        turn.say("started").await?;
        turn.cancelled().await;
        turn.update(SessionUpdate::agent_message("cleaned up")).await?;
        Ok(StopReason::Cancelled)
    });
    let mut peer = Peer::connected(agent, json!({})).await;
    let session = peer.session().await;
    let prompt = peer.prompt(&session, "x");
    peer.send(prompt.clone()).await;
    assert_eq!(texts(&[peer.next().await]), ["started"]);
    peer.send(cancel(&session)).await;
    let (updates, answer) = peer.answer(&prompt).await;
    assert_eq!((texts(&updates), stop(&answer)), (vec!["cleaned up"], "cancelled"));
}

/// Tells when it is dropped.
struct Flag(Arc<AtomicBool>);

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

// rule 8
#[tokio::test(start_paused = true)]
async fn a_handler_that_ignores_its_cancel_is_dropped_after_the_grace() {
    let dropped = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&dropped);
    let agent = Scripted::new(move |turn: Turn| {
        let flag = Flag(Arc::clone(&flag));
        async move {
            turn.say("started").await?;
            let _flag = flag;
            std::future::pending().await
        }
    });
    let mut peer = Peer::of(Serve::new(agent).grace(Duration::from_secs(3)));
    peer.initialize(json!({})).await;
    let session = peer.session().await;
    let prompt = peer.prompt(&session, "x");
    peer.send(prompt.clone()).await;
    assert_eq!(texts(&[peer.next().await]), ["started"]);
    let start = tokio::time::Instant::now();
    peer.send(cancel(&session)).await;
    assert_eq!(stop(&peer.answer(&prompt).await.1), "cancelled");
    assert_eq!(start.elapsed().as_secs(), 3);
    assert!(dropped.load(Ordering::SeqCst));
}

// ACPX-TR-015, B076
#[tokio::test]
async fn the_end_of_the_input_cancels_and_ends_serving() {
    let mut peer = Peer::connected(blocking(), json!({})).await;
    let session = peer.session().await;
    let prompt = peer.prompt(&session, "block");
    peer.send(prompt.clone()).await;
    assert_eq!(texts(&[peer.next().await]), ["started"]);
    let (rest, served) = peer.hang_up().await;
    assert!(served.is_ok());
    assert!(rest.iter().all(|message| message["id"] == prompt["id"]), "{rest:?}");
}

// B080
#[tokio::test]
async fn a_request_right_before_the_end_is_answered() {
    let mut peer = Peer::new(blocking());
    let first = peer.request("initialize", json!({"protocolVersion": 1}));
    let second = peer.request("session/new", json!({"cwd": "/", "mcpServers": []}));
    peer.send_all([first.clone(), second.clone()]).await;
    let (rest, served) = peer.hang_up().await;
    assert!(served.is_ok());
    let ids: Vec<_> = rest.iter().map(|message| message["id"].clone()).collect();
    assert_eq!(ids, [first["id"].clone(), second["id"].clone()]);
    assert!(rest[1]["result"]["sessionId"].is_string(), "{rest:?}");
}
