//! Permission: only what is plainly one counts as one.

use accord_agent::{
    Decision, Question, StopReason, Turn,
    protocol::v1::{ToolCall, ToolCallUpdate},
};
use serde_json::{Value, json};

use crate::support::{Peer, Scripted, cancel, stop, texts};

/// Asks once for each word of the prompt and says what was decided.
fn asking() -> Scripted {
    Scripted::new(|turn: Turn| async move {
        for (number, word) in turn.text().split_whitespace().enumerate() {
            let tool = turn.tool(ToolCall::new(format!("{word}-{number}"), word)).await?;
            let decision = tool.ask(Question::standard().operation(word)).await?;
            let said = match &decision {
                Decision::Allowed(_) => "allowed",
                Decision::Rejected(_) => "rejected",
                _ => "cancelled",
            };
            if decision.is_allowed() {
                tool.complete([]).await?;
            } else {
                tool.fail(said).await?;
            }
            if said != "cancelled" {
                turn.say(said).await?;
            }
        }
        Ok(StopReason::EndTurn)
    })
}

fn selected(option: &str) -> Value {
    json!({"result": {"outcome": {"outcome": "selected", "optionId": option}}})
}

fn reply(request: &Value, mut reply: Value) -> Value {
    reply["jsonrpc"] = json!("2.0");
    reply["id"] = request["id"].clone();
    reply
}

/// Runs a turn and answers each question with what comes next; returns what was said and how often it was asked.
async fn ask(peer: &mut Peer, session: &str, words: &str, answers: &[Value]) -> (Vec<String>, usize) {
    let prompt = peer.prompt(session, words);
    peer.send(prompt.clone()).await;
    let (mut seen, mut asked) = (vec![], 0);
    loop {
        let message = peer.next().await;
        if message["method"] == "session/request_permission" {
            // ACPX-PERM-002, ACPX-PERM-003, D13, B206
            let call = &message["params"]["toolCall"]["toolCallId"];
            let announces = |seen: &&Value| {
                let update = &seen["params"]["update"];
                update["sessionUpdate"] == "tool_call" && update["toolCallId"] == *call
            };
            assert!(seen.iter().any(|seen| announces(&seen)), "{call} was not announced");
            assert!(message["params"]["toolCall"]["title"].is_string(), "the person sees what is asked");
            assert_eq!(message["params"]["options"].as_array().map(Vec::len), Some(4));
            peer.send(reply(&message, answers[asked].clone())).await;
            asked += 1;
        } else if message["id"] == prompt["id"] {
            assert_eq!(stop(&message), "end_turn");
            return (texts(&seen).into_iter().map(str::to_owned).collect(), asked);
        } else {
            seen.push(message);
        }
    }
}

// ACPX-PERM-005, ACPX-PERM-006, B053, B064, B067, B068
#[tokio::test]
async fn only_an_offered_option_that_allows_is_a_permission() {
    let mut peer = Peer::connected(asking(), json!({})).await;
    let session = peer.session().await;
    for (answer, expected) in [
        (selected("allow"), "allowed"),
        (selected("reject"), "rejected"),
        (selected("not-offered"), "rejected"),
        (json!({"result": {"outcome": {"outcome": "_later", "optionId": "allow"}}}), "rejected"),
        (json!({"result": {"optionId": "allow"}}), "rejected"),
        (json!({"result": null}), "rejected"),
        (json!({"error": {"code": -32000, "message": "no"}}), "rejected"),
        (json!({"error": {"code": -32800, "message": "cancelled"}}), "rejected"),
    ] {
        let (said, _) = ask(&mut peer, &session, "tool", std::slice::from_ref(&answer)).await;
        assert_eq!(said, [expected], "{answer}");
    }
    let cancelled = json!({"result": {"outcome": {"outcome": "cancelled"}}});
    let (said, _) = ask(&mut peer, &session, "tool", &[cancelled]).await;
    assert!(said.is_empty());
}

// ACPX-PERM-012, ACPX-PERM-013, B071, B070
#[tokio::test]
async fn always_and_never_are_remembered_for_the_operation_and_the_session() {
    let mut peer = Peer::connected(asking(), json!({})).await;
    let session = peer.session().await;
    let [allow, always, never] = ["allow", "always", "never"].map(selected);
    let (said, asked) = ask(&mut peer, &session, "a a", &[allow, always.clone()]).await;
    assert_eq!((said.len(), asked), (2, 2), "once is once");
    let (said, asked) = ask(&mut peer, &session, "a b a b", &[never]).await;
    assert_eq!((said.join(" ").as_str(), asked), ("allowed rejected allowed rejected", 1));
    let other = peer.session().await;
    let (_, asked) = ask(&mut peer, &other, "a", &[always]).await;
    assert_eq!(asked, 1, "a grant is for its session");
}

// rule 8, ACPX-CANCEL-006, ACPX-RPC-024
#[tokio::test]
async fn a_cancel_answers_the_open_question() {
    let mut peer = Peer::connected(asking(), json!({})).await;
    let session = peer.session().await;
    let prompt = peer.prompt(&session, "tool");
    peer.send(prompt.clone()).await;
    let announced = peer.next().await;
    let question = peer.next().await;
    assert_eq!(question["method"], "session/request_permission");
    // Other requests are served meanwhile.
    assert_ne!(peer.session().await, session);
    peer.send(cancel(&session)).await;
    let (between, ended) = peer.answer(&prompt).await;
    assert_eq!(stop(&ended), "cancelled");
    let failed = between.iter().find(|message| message["params"]["update"]["status"] == "failed").unwrap();
    assert_eq!(failed["params"]["update"]["toolCallId"], announced["params"]["update"]["toolCallId"]);
    let mut withdrawn = between.iter().filter(|message| message["method"] == "$/cancel_request");
    assert!(withdrawn.all(|message| message["params"]["requestId"] == question["id"]));
    // A late answer runs nothing.
    peer.send(reply(&question, selected("allow"))).await;
    peer.quiet().await;
    assert_eq!(stop(&peer.turn(&session, "").await.1), "end_turn");
}

// D13
#[tokio::test]
async fn a_question_about_an_unannounced_call_announces_it() {
    let agent = Scripted::new(|turn: Turn| async move {
        turn.ask(Question::new(ToolCallUpdate::new("t").title("Delete everything"))).await?;
        Ok(StopReason::EndTurn)
    });
    let mut peer = Peer::connected(agent, json!({})).await;
    let session = peer.session().await;
    let prompt = peer.prompt(&session, "go");
    peer.send(prompt.clone()).await;
    let announced = peer.next().await;
    assert_eq!(announced["params"]["update"]["sessionUpdate"], "tool_call");
    assert_eq!(announced["params"]["update"]["title"], "Delete everything");
    let question = peer.next().await;
    assert_eq!(question["params"]["toolCall"]["toolCallId"], "t");
    // ACPX-PERM-012: nothing says what an answer for good would hold for.
    let options = question["params"]["options"].as_array().expect("options");
    let kinds: Vec<_> = options.iter().map(|option| &option["kind"]).collect();
    assert_eq!(kinds, ["allow_once", "reject_once"]);
    peer.send(reply(&question, selected("reject"))).await;
    let (rest, ended) = peer.answer(&prompt).await;
    assert_eq!(rest.last().unwrap()["params"]["update"]["status"], "failed");
    assert_eq!(stop(&ended), "end_turn");
}
