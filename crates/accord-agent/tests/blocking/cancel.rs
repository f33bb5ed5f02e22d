//! A cancel reaches what blocks, and only the turn it is for.

use std::{
    sync::{Mutex, mpsc},
    time::Duration,
};

use accord_agent::blocking::{Approval, ApprovalRequest, Denial, Failure, Reply};
use serde_json::json;

use super::harness::{Puppet, Wire, folder, of, said};

const LONG: Duration = Duration::from_secs(3_600);

// H9
#[tokio::test]
async fn a_cancel_wakes_interrupts_and_answers_cancelled() {
    let state = folder();
    let agent = Puppet::new(|_, prompt, callbacks| {
        if prompt.text() == "wait" {
            callbacks.tool_started("shell", json!({ "command": "x" }));
            assert!(callbacks.cancel().wait(LONG), "it is woken");
            return Err(Failure::failed("interrupted"));
        }
        assert!(!callbacks.is_cancelled());
        Ok(Reply::text("fine"))
    });
    let interrupts = agent.interrupts.clone();
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    wire.cancel(&session).await;
    let turn = wire.start(&session, "wait").await;
    wire.take(|frame| frame["params"]["update"]["sessionUpdate"] == "tool_call").await;
    wire.cancel(&session).await;
    wire.cancel(&session).await;
    assert_eq!(wire.response(turn).await["result"]["stopReason"], "cancelled", "whatever the agent returned");
    let updates = wire.updates(&session);
    assert_eq!(of(&updates, "tool_call_update").last().expect("an end")["status"], "failed");
    assert_eq!(*interrupts.lock().expect("no panic while held"), 1, "once, and not for the idle cancel");
    wire.cancel(&session).await;
    let (stop, updates) = wire.prompt(&session, "next").await;
    assert_eq!(
        (stop.as_str(), said(&updates).as_str()),
        ("end_turn", "fine"),
        "a late cancel touches nothing"
    );
    assert_eq!(*interrupts.lock().expect("no panic while held"), 1);
    wire.close().await;
}

// H9, H6
#[tokio::test]
async fn a_cancel_denies_what_is_being_asked() {
    let state = folder();
    let (tell, told) = mpsc::channel();
    let tell = Mutex::new(tell);
    let agent = Puppet::new(move |_, _, callbacks| {
        let approval = callbacks.approve(&ApprovalRequest::new("shell", "rm x"));
        let again = callbacks.approve(&ApprovalRequest::new("shell", "rm y"));
        tell.lock().expect("no panic while held").send((approval, again)).expect("the test listens");
        Ok(Reply::done())
    });
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    let turn = wire.start(&session, "go").await;
    let question = wire.question().await;
    wire.cancel(&session).await;
    assert_eq!(wire.response(turn).await["result"]["stopReason"], "cancelled");
    let denied = Approval::Deny(Denial::Cancelled);
    assert_eq!(told.recv().expect("the turn ran"), (denied, denied), "the second is not even asked");
    wire.choose(&question, "allow").await;
    assert!(!wire.come.iter().any(|frame| frame["method"] == "session/request_permission"));
    wire.close().await;
}

// H9
#[tokio::test]
async fn a_hook_that_blocks_does_not_hold_up_the_answer() {
    let state = folder();
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(Some(held));
    let agent = Puppet::new(move |_, _, callbacks| {
        let held = held.lock().expect("no panic while held").take().expect("one turn");
        let _hook = callbacks.cancel().on_cancel(move || held.recv().unwrap_or_default());
        callbacks.text("on it");
        callbacks.cancel().wait(LONG);
        Ok(Reply::done())
    });
    let grace = Duration::from_millis(50);
    let mut wire = Wire::open(agent, state.path(), |builder| builder.grace(grace), json!({})).await;
    let session = wire.session(state.path()).await;
    let turn = wire.start(&session, "go").await;
    wire.take(|frame| frame["params"]["update"]["content"]["text"] == "on it").await;
    wire.cancel(&session).await;
    assert_eq!(wire.response(turn).await["result"]["stopReason"], "cancelled");
    drop(release);
    wire.close().await;
}

// H4, H9, B028
#[tokio::test]
async fn what_an_abandoned_turn_still_did_is_not_lost_with_the_process() {
    let state = folder();
    let (go, gone) = mpsc::channel::<()>();
    let gone = std::sync::Arc::new(Mutex::new(gone));
    let agent = || {
        let gone = gone.clone();
        Puppet::new(move |strings, prompt, callbacks| {
            if prompt.text() == "stuck" {
                callbacks.text("on it");
                gone.lock().expect("no panic while held").recv().expect("the test says go");
            }
            Ok(Reply::text(strings.history.len().to_string()))
        })
    };
    let grace = Duration::from_millis(50);
    let mut wire = Wire::open(agent(), state.path(), |builder| builder.grace(grace), json!({})).await;
    let session = wire.session(state.path()).await;
    wire.prompt(&session, "one").await;
    let turn = wire.start(&session, "stuck").await;
    wire.take(|frame| frame["params"]["update"]["content"]["text"] == "on it").await;
    wire.cancel(&session).await;
    assert_eq!(wire.response(turn).await["result"]["stopReason"], "cancelled");
    go.send(()).expect("the thread waits");
    // The session takes prompts again once the thread has ended.
    let updates = loop {
        let id = wire.start(&session, "two").await;
        if wire.response(id).await.get("result").is_some() {
            break wire.updates(&session);
        }
    };
    assert_eq!(said(&updates), "5");
    wire.close().await;

    let mut wire = Wire::simple(agent(), state.path()).await;
    let open = json!({ "sessionId": session, "cwd": state.path(), "mcpServers": [] });
    wire.call("session/resume", open).await;
    let (_, updates) = wire.prompt(&session, "three").await;
    assert_eq!(said(&updates), "7", "three turns of two entries, and this prompt");
    wire.close().await;
}

// H6
#[tokio::test]
async fn an_answer_that_comes_after_the_turn_allows_nothing() {
    let state = folder();
    let (go, gone) = mpsc::channel::<()>();
    let gone = Mutex::new(gone);
    let (tell, told) = mpsc::channel();
    let agent = Puppet::new(move |_, _, callbacks| {
        let (callbacks, tell) = (callbacks.clone(), tell.clone());
        std::thread::spawn(move || tell.send(callbacks.approve(&ApprovalRequest::new("shell", "rm x"))));
        gone.lock().expect("no panic while held").recv().expect("the test says go");
        Ok(Reply::done())
    });
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    let turn = wire.start(&session, "go").await;
    let question = wire.question().await;
    go.send(()).expect("the turn waits");
    assert_eq!(wire.response(turn).await["result"]["stopReason"], "end_turn");
    let withdrawn = |frame: &serde_json::Value| {
        frame["method"] == "$/cancel_request" && frame["params"]["requestId"] == question["id"]
    };
    wire.take(withdrawn).await;
    wire.choose(&question, "always").await;
    let answer = tokio::task::spawn_blocking(move || told.recv()).await.expect("no panic");
    assert!(!answer.expect("it was asked").is_granted());
    wire.close().await;
}

// H9
#[tokio::test]
async fn a_client_that_goes_away_cancels_its_turns() {
    let state = folder();
    let (tell, told) = mpsc::channel();
    let tell = Mutex::new(tell);
    let agent = Puppet::new(move |_, _, callbacks| {
        callbacks.text("on it");
        let cancelled = callbacks.cancel().wait(LONG);
        callbacks.text("into the void");
        tell.lock().expect("no panic while held").send(cancelled).expect("the test listens");
        Ok(Reply::done())
    });
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    wire.start(&session, "go").await;
    wire.take(|frame| frame["method"] == "session/update" && frame.to_string().contains("on it")).await;
    wire.close().await;
    assert!(told.recv().expect("the turn ran"));
}
