//! Order: updates before their answer, calls about a session one after the other, and one turn at a time.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use accord_agent::{
    Agent, ClientError, Config, Error, Serve, Session, StopReason, Turn,
    protocol::v1::{
        SessionConfigOption, SessionUpdate, SetSessionConfigOptionRequest, ToolCall, ToolCallStatus,
        ToolCallUpdate,
    },
};
use serde_json::json;
use tokio::sync::{Mutex, Notify, oneshot};

use crate::support::{Peer, Scripted, stop, texts};

// ACP-CANCEL-002, B001, B002, D13
#[tokio::test(flavor = "multi_thread")]
async fn every_update_comes_before_the_answer() {
    let agent = Scripted::new(|turn: Turn| async move {
        for number in 0..500 {
            turn.say(number.to_string()).await?;
        }
        Ok(StopReason::EndTurn)
    });
    let mut peer = Peer::connected(agent, json!({})).await;
    let session = peer.session().await;
    for _ in 0..3 {
        let (updates, answer) = peer.turn(&session, "go").await;
        let expected: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        assert_eq!(texts(&updates), expected);
        assert_eq!(stop(&answer), "end_turn");
        assert!(updates.iter().all(|update| update["params"]["sessionId"] == *session));
    }
}

// B016, B160, ACPX-PROMPT-014
#[tokio::test]
async fn an_update_that_comes_too_late_is_refused() {
    let (sender, receiver) = oneshot::channel();
    let sender = Mutex::new(Some(sender));
    let agent = Scripted::new(move |turn: Turn| {
        let sender = sender.try_lock().unwrap().take();
        async move {
            if let Some(sender) = sender {
                drop(sender.send(turn));
                return Err(Error::new(-32050, "401").with_data(json!({"status": 401})));
            }
            turn.say("three").await?;
            Ok(StopReason::EndTurn)
        }
    });
    let mut peer = Peer::connected(agent, json!({})).await;
    let session = peer.session().await;
    let (updates, answer) = peer.turn(&session, "two").await;
    assert!(updates.is_empty());
    assert_eq!(answer["error"], json!({"code": -32050, "message": "401", "data": {"status": 401}}));
    let late = receiver.await.unwrap();
    assert!(matches!(late.say("late").await, Err(ClientError::Ended)));
    assert!(matches!(late.update(SessionUpdate::agent_message("late")).await, Err(ClientError::Ended)));
    let (updates, _) = peer.turn(&session, "three").await;
    assert_eq!(texts(&updates), ["three"]);
}

// B215, ACPX-PROMPT-011, ACPX-PROMPT-013, ACPX-RPC-025
#[tokio::test]
async fn a_second_prompt_is_refused_while_one_runs() {
    let release = Arc::new(Notify::new());
    let waits = Arc::clone(&release);
    let agent = Scripted::new(move |turn: Turn| {
        let waits = Arc::clone(&waits);
        async move {
            if turn.text() == "wait" {
                waits.notified().await;
            }
            turn.say("done").await?;
            Ok(StopReason::EndTurn)
        }
    });
    let mut peer = Peer::connected(agent, json!({})).await;
    let (one, two) = (peer.session().await, peer.session().await);
    assert_ne!(one, two);
    let (first, second) = (peer.prompt(&one, "wait"), peer.prompt(&one, "now"));
    peer.send_all([first.clone(), second.clone()]).await;
    let (_, refused) = peer.answer(&second).await;
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    let (updates, answer) = peer.turn(&two, "now").await;
    assert_eq!((texts(&updates), stop(&answer)), (vec!["done"], "end_turn"));
    release.notify_one();
    let (updates, answer) = peer.answer(&first).await;
    assert_eq!((texts(&updates), stop(&answer)), (vec!["done"], "end_turn"));
    let (updates, _) = peer.turn(&one, "now").await;
    assert_eq!(texts(&updates), ["done"]);
}

// X5: what a line cannot hold is an error of its own, and the turn goes on
#[tokio::test]
async fn an_update_that_is_too_long_for_a_line_is_told_apart() {
    let agent = Scripted::new(|turn: Turn| async move {
        match turn.say("x".repeat(5000)).await {
            Err(ClientError::TooLarge { bytes, limit: 4096 }) if bytes > 5000 => {
                turn.say("too large").await?;
            }
            other => panic!("{other:?}"),
        }
        // A call that was never announced needs no end.
        let call = ToolCall::new("t", "x".repeat(5000));
        assert!(matches!(turn.tool(call).await, Err(ClientError::TooLarge { .. })));
        Ok(StopReason::EndTurn)
    });
    let mut peer = Peer::of(Serve::new(agent).frame_limit(4096));
    peer.initialize(json!({})).await;
    let session = peer.session().await;
    let (updates, answer) = peer.turn(&session, "go").await;
    assert_eq!((texts(&updates), stop(&answer)), (vec!["too large"], "end_turn"));
    assert_eq!(updates.len(), 1);
}

// rule 3
#[tokio::test]
async fn a_panic_costs_its_own_request() {
    let agent = Scripted::new(|turn: Turn| async move {
        assert!(turn.text() != "panic", "on purpose");
        Ok(StopReason::EndTurn)
    });
    let mut peer = Peer::connected(agent, json!({})).await;
    let session = peer.session().await;
    let (_, answer) = peer.turn(&session, "panic").await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert!(!answer.to_string().contains("on purpose"), "{answer}");
    assert_eq!(stop(&peer.turn(&session, "go on").await.1), "end_turn");
}

// ACPX-TOOL-007, ACPX-TOOL-005
#[tokio::test]
async fn a_tool_call_that_is_left_open_fails_with_its_turn() {
    let agent = Scripted::new(|turn: Turn| async move {
        let done = turn.tool(ToolCall::new("done", "Done")).await?;
        done.complete([]).await?;
        let open = turn.tool(ToolCall::new("open", "Open")).await?;
        open.start().await?;
        turn.update(ToolCallUpdate::new("foreign").status(ToolCallStatus::InProgress)).await?;
        Err(Error::internal("gave up"))
    });
    let mut peer = Peer::connected(agent, json!({})).await;
    let session = peer.session().await;
    let (updates, answer) = peer.turn(&session, "go").await;
    let seen: Vec<_> = updates
        .iter()
        .map(|update| &update["params"]["update"])
        .map(|update| (update["toolCallId"].as_str().unwrap(), update["status"].as_str().unwrap_or("-")))
        .collect();
    let expected = [
        ("done", "-"),
        ("done", "completed"),
        ("open", "-"),
        ("open", "in_progress"),
        ("foreign", "in_progress"),
        ("open", "failed"),
    ];
    assert_eq!(seen, expected);
    assert_eq!(answer["error"]["message"], "gave up");
}

/// Its option is a number that takes a while to set.
#[derive(Default)]
struct Slow {
    set: AtomicUsize,
}

impl Agent for Slow {
    async fn opened(&self, session: Session) {
        drop(session.update(SessionUpdate::agent_message("welcome")).await);
    }

    async fn prompt(&self, turn: Turn) -> Result<StopReason, Error> {
        let pinned = self.set.load(Ordering::SeqCst);
        turn.say(pinned.to_string()).await?;
        Ok(StopReason::EndTurn)
    }

    fn config(&self) -> Option<&impl Config> {
        Some(self)
    }
}

impl Config for Slow {
    async fn set_option(
        &self,
        request: SetSessionConfigOptionRequest,
    ) -> Result<Vec<SessionConfigOption>, Error> {
        let expected = self.set.load(Ordering::SeqCst) + 1;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(request.config_id.as_str(), expected.to_string(), "changes overtook each other");
        self.set.store(expected, Ordering::SeqCst);
        Ok(vec![
            SessionConfigOption::select(
                "model",
                "Model",
                "a",
                Vec::<_>::from([accord_agent::protocol::v1::SessionConfigSelectOption::new("a", "A")]),
            ),
            SessionConfigOption::boolean("web", "Web", true),
        ])
    }
}

// D10, D3, ACP-CONFIG-003, B005, ACPX-SESS-013
#[tokio::test(flavor = "multi_thread")]
async fn calls_about_one_session_keep_their_order() {
    let mut peer = Peer::connected(Slow::default(), json!({})).await;
    let session = peer.session().await;
    let welcome = peer.next().await;
    assert_eq!(welcome["params"]["sessionId"], *session, "the first update comes after the answer");
    let set = |peer: &mut Peer, number: usize| {
        let params = json!({"sessionId": session, "configId": number.to_string(), "value": "x"});
        peer.request("session/set_config_option", params)
    };
    let changes: Vec<_> = (1..=20).map(|number| set(&mut peer, number)).collect();
    let (prompt, after) = (peer.prompt(&session, "which"), set(&mut peer, 21));
    peer.send_all(changes.iter().cloned().chain([prompt.clone(), after.clone()])).await;
    for change in &changes {
        let answer = peer.next().await;
        assert_eq!(answer["id"], change["id"], "{answer}");
        // A boolean option is for clients that ask for them.
        assert_eq!(answer["result"]["configOptions"].as_array().unwrap().len(), 1);
    }
    let (mut updates, mut answers) = (vec![], vec![]);
    while answers.len() < 2 {
        let message = peer.next().await;
        if message.get("method").is_some() {
            updates.push(message);
        } else {
            answers.push(message);
        }
    }
    assert_eq!(texts(&updates), ["20"], "the prompt was admitted between the changes");
}
