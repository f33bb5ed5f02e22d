//! Cancelling: who is told, what the turn becomes, and what it must not touch.

use std::{sync::Arc, time::Duration};

use accord_client::{
    Client, Error, Handler, Limit, Misuse, Prompt, SessionStatus, StopReason, TurnError,
    protocol::v1::{RequestPermissionOutcome, RequestPermissionRequest},
};
use serde_json::json;
use tokio::sync::Notify;

use crate::script::{chunk, opened, permission, play};

const CANCELLED: &str = r#"{"outcome":{"outcome":"cancelled"}}"#;

/// Never answers, and says when it is asked.
#[derive(Clone, Default)]
struct Undecided(Arc<Notify>);

impl Handler for Undecided {
    async fn request_permission(&self, _: RequestPermissionRequest) -> RequestPermissionOutcome {
        self.0.notify_one();
        std::future::pending().await
    }
}

// E20, B029, ACPX-CANCEL-013: one notification with the session's id; the turn says cancelled.
#[tokio::test]
async fn a_cancel_is_sent_once_and_the_tail_belongs_to_the_turn() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    turn.cancel();
    turn.cancel();
    session.cancel();
    let cancel = agent.expect("session/cancel").await;
    assert_eq!(
        cancel,
        json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "sess_1"}})
    );
    agent.assert_quiet().await;
    assert_eq!(session.status(), SessionStatus::Cancelling);
    // ACPX-CANCEL-010: what still comes is taken.
    agent.update(chunk("tail")).await;
    agent.answer(&prompt, json!({"stopReason": "cancelled"})).await;
    let (text, end) = play(turn).await;
    assert_eq!((text.as_str(), end.unwrap()), ("tail", StopReason::Cancelled));
}

// B034, quirk 32: an error after a cancel is the cancel's doing, and the session goes on.
#[tokio::test]
async fn an_error_after_a_cancel_is_a_cancelled_turn() {
    for (code, message) in [(-32800, "Request cancelled"), (-32603, "Request was aborted.")] {
        let (session, mut agent) = opened(Client::builder(), json!({})).await;
        let turn = session.prompt("go").await.unwrap();
        let prompt = agent.expect("session/prompt").await;
        turn.cancel();
        agent.expect("session/cancel").await;
        agent.refuse(&prompt, code, message, json!(null)).await;
        assert_eq!(turn.finish().await.unwrap(), StopReason::Cancelled);

        let turn = session.prompt("again").await.unwrap();
        let prompt = agent.expect("session/prompt").await;
        agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
        assert_eq!(turn.finish().await.unwrap(), StopReason::EndTurn);
    }
}

// T8, B058, B062, ACPX-CANCEL-008: every open question is answered cancelled, and one that comes later at once.
#[tokio::test]
async fn t8_a_cancel_answers_every_question() {
    let undecided = Undecided::default();
    let (session, mut agent) = opened(Client::builder().handler(undecided.clone()), json!({})).await;
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    agent.ask(7, "session/request_permission", permission("sess_1")).await;
    undecided.0.notified().await;
    agent.ask(8, "session/request_permission", permission("sess_1")).await;
    undecided.0.notified().await;
    turn.cancel();
    agent.expect("session/cancel").await;
    for id in [7, 8] {
        let answer = agent.expect_answer(id).await;
        assert_eq!(answer["result"].to_string(), CANCELLED);
    }
    agent.ask(9, "session/request_permission", permission("sess_1")).await;
    assert_eq!(agent.expect_answer(9).await["result"].to_string(), CANCELLED);
    agent.answer(&prompt, json!({"stopReason": "cancelled"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::Cancelled);
}

// T9, E12: an agent that ignores the cancel; the turn and the next prompt say so, and a late answer frees the session.
#[tokio::test(start_paused = true)]
async fn t9_an_ignored_cancel_has_a_typed_end() {
    let builder = Client::builder().cancel_grace(Duration::from_secs(3));
    let (session, mut agent) = opened(builder, json!({})).await;
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    turn.cancel();
    agent.expect("session/cancel").await;
    let waiting = session.clone();
    let next = tokio::spawn(async move { waiting.prompt("next").await.map(drop) });
    let error = turn.finish().await.unwrap_err();
    assert!(
        matches!(error, TurnError::CancelIgnored { grace } if grace == Duration::from_secs(3)),
        "{error:?}"
    );
    let error = next.await.unwrap().unwrap_err();
    let expected = Misuse::Busy { status: SessionStatus::Unresponsive };
    assert!(matches!(&error, Error::Misuse(misuse) if *misuse == expected), "{error:?}");

    agent.update(chunk("very late")).await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    session.ready().await.unwrap_err();
    agent.assert_quiet().await;
    let turn = session.prompt("again").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    let (text, end) = play(turn).await;
    assert_eq!((text.as_str(), end.unwrap()), ("", StopReason::EndTurn));
}

// T10: without a turn, and after one, nothing is sent, and the next turn is untouched.
#[tokio::test]
async fn t10_an_idle_and_a_late_cancel_touch_nothing() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    session.cancel();
    agent.assert_quiet().await;
    let turn = session.prompt("go").await.unwrap();
    let canceller = turn.canceller();
    let prompt = agent.expect("session/prompt").await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    turn.finish().await.unwrap();
    canceller.cancel();
    agent.assert_quiet().await;

    let turn = session.prompt("next").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    canceller.cancel();
    agent.assert_quiet().await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::EndTurn);
}

// Rule 4, E20: a dropped turn is cancelled on the wire, its tail is discarded, and the next prompt waits for its end.
#[tokio::test]
async fn a_dropped_turn_is_cancelled() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    drop(session.prompt("go").await.unwrap());
    let prompt = agent.expect("session/prompt").await;
    agent.expect("session/cancel").await;
    let next = tokio::spawn({
        let session = session.clone();
        async move { play(session.prompt("next").await.unwrap()).await }
    });
    agent.update(chunk("tail")).await;
    agent.assert_quiet().await;
    agent.answer(&prompt, json!({"stopReason": "cancelled"})).await;
    let prompt = agent.expect("session/prompt").await;
    agent.update(chunk("new")).await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(next.await.unwrap().0, "new");
}

// E12, B217, ACPX-PROMPT-012: a second prompt is refused while one runs, and goes out after it.
#[tokio::test]
async fn a_second_prompt_is_refused() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let turn = session.prompt("a").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    let error = session.prompt("b").await.unwrap_err();
    assert_eq!(error.to_string(), "the session cannot take a prompt: it is already running a turn");
    agent.assert_quiet().await;
    let second = tokio::spawn({
        let session = session.clone();
        async move {
            session.ready().await.unwrap();
            play(session.prompt("b").await.unwrap()).await
        }
    });
    agent.update(chunk("ra")).await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(play(turn).await.0, "ra");
    let prompt = agent.expect("session/prompt").await;
    agent.update(chunk("rb")).await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(second.await.unwrap().0, "rb");
}

// E11, T9: the limit of a whole turn cancels it and says which limit it was.
#[tokio::test(start_paused = true)]
async fn a_turn_ends_at_its_deadline() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let limit = Duration::from_secs(60);
    let turn = session.prompt(Prompt::text("go").deadline(limit)).await.unwrap();
    agent.expect("session/prompt").await;
    let error = turn.finish().await.unwrap_err();
    assert!(
        matches!(error, TurnError::Deadline { limit: Limit::Total(total) } if total == limit),
        "{error:?}"
    );
    agent.expect("session/cancel").await;
}

// E11: silence is the agent's alone: while it waits for a person, the clock stands.
#[tokio::test(start_paused = true)]
async fn silence_does_not_count_while_a_person_is_asked() {
    let undecided = Undecided::default();
    let (session, mut agent) = opened(Client::builder().handler(undecided.clone()), json!({})).await;
    let mut turn = session.prompt(Prompt::text("go").silence(Duration::from_secs(10))).await.unwrap();
    agent.expect("session/prompt").await;
    agent.ask(7, "session/request_permission", permission("sess_1")).await;
    undecided.0.notified().await;
    tokio::time::advance(Duration::from_secs(600)).await;
    agent.update(chunk("still here")).await;
    assert!(turn.next().await.is_some());
    assert_eq!(session.status(), SessionStatus::Running);
    // The agent takes its question back, and says nothing more.
    agent.send(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 7}})).await;
    let answer = agent.expect_answer(7).await;
    assert_eq!(answer["error"]["code"], -32800, "{answer}");
    assert!(turn.next().await.is_none());
    let error = turn.finish().await.unwrap_err();
    assert!(matches!(error, TurnError::Deadline { limit: Limit::Silence(_) }), "{error:?}");
}

// B049, B050: a turn has no limit of its own; half an hour of a tool is no fault, nor are three hours of updates.
#[tokio::test(start_paused = true)]
async fn a_long_turn_is_left_alone() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let mut turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    tokio::time::advance(Duration::from_secs(1800)).await;
    agent.assert_quiet().await;
    for _ in 0..180 {
        tokio::time::advance(Duration::from_secs(60)).await;
        agent.update(chunk("on it")).await;
        assert!(turn.next().await.is_some());
    }
    agent.assert_quiet().await;
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::EndTurn);
}

// D14's counterpart: `$/cancel_request` names the prompt's own id.
#[tokio::test]
async fn a_turn_can_be_cancelled_by_its_requests_id() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    turn.cancel_request();
    let cancel = agent.expect("$/cancel_request").await;
    assert_eq!(cancel["params"]["requestId"], prompt["id"]);
    agent.answer(&prompt, json!({"stopReason": "cancelled"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::Cancelled);
}
