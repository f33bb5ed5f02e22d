//! Questions before dangerous things: what each answer means, what is remembered, and for how long.

use std::{
    sync::{Mutex, mpsc},
    time::Duration,
};

use accord_agent::blocking::{Approval, ApprovalRequest, Callbacks, Denial, Reply};
use serde_json::{Value, json};

use super::harness::{Puppet, Wire, folder, of};

/// An agent that asks before it runs the command that it is told, the way its tools do.
fn careful() -> (Puppet, mpsc::Receiver<Approval>) {
    let (tell, told) = mpsc::channel();
    let tell = Mutex::new(tell);
    let agent = Puppet::new(move |strings, prompt, callbacks: &Callbacks| {
        let command = prompt.text();
        callbacks.tool_started("shell", json!({ "command": command }));
        let program = command.split(' ').next().unwrap_or_default();
        let request = ApprovalRequest::new("shell", json!({ "command": command }))
            .pattern(format!("{program} *"))
            .reason("it could be dangerous");
        let request = if command.ends_with('!') { request.once_only() } else { request };
        let approval = strings.approvals.ask(&request);
        tell.lock().expect("no panic while held").send(approval).expect("the test listens");
        callbacks.tool_finished(
            "shell",
            if approval.is_granted() { "ran" } else { "Error executing tool: refused" },
        );
        Ok(Reply::done())
    });
    (agent, told)
}

/// Runs a turn in which one question comes, answers it, and returns the question and the updates.
async fn asked(wire: &mut Wire, session: &str, text: &str, option: &str) -> (Value, Vec<Value>) {
    wire.updates(session);
    let turn = wire.start(session, text).await;
    let question = wire.question().await;
    let before = wire.updates(session);
    assert_eq!(of(&before, "tool_call").len(), 1, "the call comes before its question");
    wire.choose(&question, option).await;
    assert_eq!(wire.response(turn).await["result"]["stopReason"], "end_turn");
    (question["params"].clone(), wire.updates(session))
}

fn statuses(updates: &[Value]) -> Vec<&str> {
    of(updates, "tool_call_update").iter().filter_map(|update| update["status"].as_str()).collect()
}

// H6, D13
#[tokio::test]
async fn the_options_mean_once_always_and_no() {
    let state = folder();
    let (agent, told) = careful();
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;

    let (question, updates) = asked(&mut wire, &session, "rm a", "allow").await;
    assert_eq!(told.recv(), Ok(Approval::Once));
    assert_eq!(statuses(&updates), ["in_progress", "completed"]);
    let kinds: Vec<_> =
        question["options"].as_array().expect("options").iter().map(|o| o["kind"].clone()).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "allow_always", "reject_once", "reject_always"]);
    assert_eq!(
        (&question["toolCall"]["title"], &question["toolCall"]["kind"]),
        (&json!("Run rm a"), &json!("execute"))
    );
    assert_eq!(question["toolCall"]["content"][0]["content"]["text"], "it could be dangerous");

    let (_, updates) = asked(&mut wire, &session, "rm b", "reject").await;
    assert_eq!(told.recv(), Ok(Approval::Deny(Denial::Refused)), "once was once");
    assert_eq!(statuses(&updates), ["failed"]);

    asked(&mut wire, &session, "rm c", "session").await;
    assert_eq!(told.recv(), Ok(Approval::Always));
    let (_, updates) = wire.prompt(&session, "rm d").await;
    assert_eq!(told.recv(), Ok(Approval::Always), "not asked again");
    assert_eq!(statuses(&updates), ["in_progress", "completed"]);

    asked(&mut wire, &session, "dd x", "never").await;
    assert_eq!(told.recv(), Ok(Approval::Deny(Denial::Refused)));
    wire.prompt(&session, "dd y").await;
    assert_eq!(told.recv(), Ok(Approval::Deny(Denial::Refused)), "not asked again");

    let (question, _) = asked(&mut wire, &session, "rm !", "allow").await;
    assert_eq!(
        question["options"].as_array().expect("options").len(),
        2,
        "what must be asked is asked each time"
    );
    assert_eq!(told.recv(), Ok(Approval::Once));

    let other = wire.session(state.path()).await;
    asked(&mut wire, &other, "rm e", "reject").await;
    assert_eq!(told.recv(), Ok(Approval::Deny(Denial::Refused)), "another session grants nothing");
    wire.close().await;
}

// H16
#[tokio::test]
async fn a_lasting_grant_survives_a_restart_and_a_session_grant_does_not() {
    let state = folder();
    let (agent, told) = careful();
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    asked(&mut wire, &session, "rm a", "session").await;
    asked(&mut wire, &session, "make a", "always").await;
    wire.close().await;
    drop(told);

    let (agent, told) = careful();
    let mut wire = Wire::simple(agent, state.path()).await;
    let params = json!({ "sessionId": session, "cwd": state.path(), "mcpServers": [] });
    wire.call("session/resume", params).await;
    wire.prompt(&session, "make b").await;
    assert_eq!(told.recv(), Ok(Approval::Always));
    asked(&mut wire, &session, "rm b", "reject").await;
    assert_eq!(told.recv(), Ok(Approval::Deny(Denial::Refused)));
    wire.close().await;
}

// H6
#[tokio::test]
async fn no_answer_in_time_an_error_and_nonsense_all_deny() {
    let state = folder();
    let (agent, told) = careful();
    let patience = Some(Duration::from_millis(20));
    let mut wire = Wire::open(agent, state.path(), |builder| builder.patience(patience), json!({})).await;
    let session = wire.session(state.path()).await;
    let turn = wire.start(&session, "rm a").await;
    let question = wire.question().await;
    assert_eq!(wire.response(turn).await["result"]["stopReason"], "end_turn");
    assert_eq!(told.recv(), Ok(Approval::Deny(Denial::TimedOut)));
    wire.take(|frame| {
        frame["method"] == "$/cancel_request" && frame["params"]["requestId"] == question["id"]
    })
    .await;
    wire.choose(&question, "always").await;
    wire.close().await;

    let (agent, told) = careful();
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    asked(&mut wire, &session, "rm a", "no such option").await;
    assert_eq!(told.recv(), Ok(Approval::Deny(Denial::Failed)));
    let turn = wire.start(&session, "rm b").await;
    let question = wire.question().await;
    let error = json!({ "code": -32603, "message": "the window is gone" });
    wire.line(json!({ "jsonrpc": "2.0", "id": question["id"], "error": error })).await;
    wire.response(turn).await;
    assert_eq!(told.recv(), Ok(Approval::Deny(Denial::Failed)));
    let turn = wire.start(&session, "rm c").await;
    let question = wire.question().await;
    wire.answer(&question, json!({ "outcome": { "outcome": "cancelled" } })).await;
    wire.response(turn).await;
    assert!(!told.recv().expect("it was asked").is_granted(), "a dismissed question is no permission");
    wire.close().await;
}

// H13
#[tokio::test]
async fn the_former_callback_is_back_after_the_turn() {
    let state = folder();
    let (agent, told) = careful();
    let slot = accord_agent::blocking::ApprovalSlot::with(|_| Approval::Always);
    let agent = Puppet { approvals: slot.clone(), ..agent };
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    asked(&mut wire, &session, "rm a", "reject").await;
    assert_eq!(told.recv(), Ok(Approval::Deny(Denial::Refused)), "in the turn the client is asked");
    assert_eq!(
        slot.ask(&ApprovalRequest::new("shell", "x")),
        Approval::Always,
        "after it whoever was before"
    );
    wire.close().await;
}
