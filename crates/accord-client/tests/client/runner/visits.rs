//! Visits to pages: consent, the agent's word that one is done, and what ends them early.

use accord_client::{
    Elicitations, InputReply,
    protocol::v1::{
        ClientCapabilities, ElicitationCapabilities, ElicitationFormCapabilities, ElicitationId,
        ElicitationUrlCapabilities,
    },
    runner::RunnerBuilder,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Stage, bare, stage_with};

/// A runner whose client offers forms and visits, and leaves both to whoever takes the events.
fn visiting() -> Stage {
    let modes = ElicitationCapabilities::new()
        .form(ElicitationFormCapabilities::new())
        .url(ElicitationUrlCapabilities::new());
    let offered = ClientCapabilities::new().elicitation(modes);
    stage_with(|builder| builder.client(RunnerBuilder::client_builder().capabilities(offered)))
}

fn visit(id: &str, url: &str) -> Value {
    json!({"sessionId": "sess_1", "mode": "url", "message": "Log in", "elicitationId": id, "url": url})
}

impl Stage {
    async fn complete(&mut self, params: Value) {
        self.agent.send(json!({"jsonrpc": "2.0", "method": "elicitation/complete", "params": params})).await;
    }
}

// E19, ACPX-ELIC-014, ACPX-ELIC-015, ACPX-ELIC-016: the whole address and its host are told; the agent's word that it is
// done is matched by id, once, and only for a visit that was agreed to.
#[tokio::test]
async fn a_visit_is_agreed_to_and_reported_done() {
    let mut stage = visiting();
    let (_prompt, _run) = stage.running().await;
    stage.agent.ask(1, "elicitation/create", visit("e1", "https://user@login.example/a?b=c#d")).await;
    let expected = json!({
        "type": "input.requested", "inputId": "input-1", "requestId": "1", "message": "Log in", "kind": "visit",
        "elicitationId": "e1", "url": "https://user@login.example/a?b=c#d", "host": "login.example",
        "isSuspicious": false,
    });
    let mut told = bare(stage.told().await);
    // The session is told with every event.
    assert_eq!(told.as_object_mut().unwrap().remove("toolCallId"), None);
    assert_eq!(told, expected);
    // Done before anybody agreed, unknown, and malformed: nothing comes of it.
    stage.complete(json!({"elicitationId": "e1"})).await;
    stage.complete(json!({"elicitationId": "e9"})).await;
    stage.complete(json!({"elicitationId": 7})).await;
    stage.agent.assert_quiet().await;

    stage.runner.answer_input("input-1", InputReply::Visit).unwrap();
    assert_eq!(stage.agent.expect_answer(1).await["result"], json!({"action": "accept"}));
    let agreed = json!({"type": "input.settled", "inputId": "input-1", "action": "accept", "by": "answer"});
    assert_eq!(bare(stage.told().await), agreed);
    stage.complete(json!({"elicitationId": "e1"})).await;
    let done = json!({"type": "input.settled", "inputId": "input-1", "action": "complete", "by": "agent"});
    assert_eq!(bare(stage.told().await), done);
    stage.complete(json!({"elicitationId": "e1"})).await;
    stage.agent.assert_quiet().await;
    stage.assert_nothing_told();
}

// E19: declined, and interrupted: the agent learns of it, and its word that the visit is done means nothing any more.
#[tokio::test]
async fn a_visit_that_nobody_agreed_to_is_never_done() {
    let mut stage = visiting();
    let (_prompt, run) = stage.running().await;
    stage.agent.ask(1, "elicitation/create", visit("e1", "https://a.example")).await;
    assert_eq!(stage.told().await["type"], "input.requested");
    stage.runner.answer_input("input-1", InputReply::Decline).unwrap();
    assert_eq!(stage.agent.expect_answer(1).await["result"], json!({"action": "decline"}));
    assert_eq!(stage.told().await["action"], "decline");
    stage.agent.ask(2, "elicitation/create", visit("e2", "https://xn--exmple-cua.test")).await;
    assert_eq!(stage.told().await["isSuspicious"], true);
    stage.runner.interrupt();
    assert_eq!(run.await.unwrap().unwrap(), "cancelled");
    stage.agent.expect("session/cancel").await;
    assert_eq!(stage.agent.expect_answer(2).await["result"], json!({"action": "cancel"}));
    for id in ["e1", "e2"] {
        stage.complete(json!({"elicitationId": id})).await;
    }
    stage.agent.assert_quiet().await;
    assert_eq!(bare(stage.told().await)["by"], "cancel");
    assert_eq!(stage.told().await["type"], "run.completed");
    stage.assert_nothing_told();
}

// E19: what is no address of a page is refused, and nobody is asked.
#[tokio::test]
async fn an_address_that_is_none_is_refused() {
    let mut stage = visiting();
    let (_prompt, _run) = stage.running().await;
    for (id, url) in
        ["javascript:alert(1)", "file:///etc/passwd", "https://", "https://a b", ""].iter().enumerate()
    {
        stage.agent.ask(id, "elicitation/create", visit("e", url)).await;
        let error = stage.agent.expect_answer(id).await["error"].clone();
        assert_eq!(
            (error["code"].as_i64(), error["data"]["path"].as_str()),
            (Some(-32602), Some("url")),
            "{url}"
        );
    }
    stage.assert_nothing_told();
}

// E19, E21: the connection ends: the question that is open is settled, the visit under way is just never done.
#[tokio::test]
async fn the_end_of_the_connection_settles_a_visit() {
    let mut stage = visiting();
    let (_prompt, _run) = stage.running().await;
    stage.agent.ask(1, "elicitation/create", visit("e1", "https://a.example")).await;
    assert_eq!(stage.told().await["type"], "input.requested");
    stage.runner.answer_input("input-1", InputReply::Visit).unwrap();
    stage.agent.expect_answer(1).await;
    assert_eq!(stage.told().await["action"], "accept");
    stage.agent.ask(2, "elicitation/create", visit("e2", "https://a.example")).await;
    assert_eq!(stage.told().await["type"], "input.requested");
    drop(stage.agent);
    let mut settled = Vec::new();
    while let Some(event) = stage.events.recv().await {
        let event = serde_json::to_value(event).unwrap();
        if event["type"] == "input.settled" {
            settled.push((event["inputId"].as_str().unwrap().to_owned(), event["action"].clone()));
        }
    }
    assert_eq!(settled, [("input-2".to_owned(), json!("cancel"))]);
}

// E20, ACPX-ELIC-006: a form about a request, not a session, is settled by an interrupt, too: on the wire as in the events.
#[tokio::test]
async fn an_interrupt_settles_what_belongs_to_no_session() {
    let mut stage = visiting();
    let (_prompt, run) = stage.running().await;
    let form =
        json!({"requestId": 5, "mode": "form", "message": "Key?", "requestedSchema": {"type": "object"}});
    stage.agent.ask(1, "elicitation/create", form).await;
    assert_eq!(stage.told().await["type"], "input.requested");
    stage.runner.interrupt();
    assert_eq!(run.await.unwrap().unwrap(), "cancelled");
    stage.agent.expect("session/cancel").await;
    assert_eq!(stage.agent.expect_answer(1).await["result"], json!({"action": "cancel"}));
    assert_eq!(stage.told().await["by"], "cancel");
}

// E19: where the client has a ready-made part for visits, that part hears of their end, in a runner as anywhere.
#[tokio::test]
async fn a_ready_made_part_hears_that_a_visit_is_done() {
    let (tell, mut told) = mpsc::unbounded_channel::<ElicitationId>();
    let ready = Elicitations::forms(|_| async { InputReply::Decline })
        .visits(|_| async { InputReply::Visit }, move |id| tell.send(id).expect("the test listens"));
    let mut stage = stage_with(|builder| builder.client(RunnerBuilder::client_builder().elicitations(ready)));
    let (_prompt, _run) = stage.running().await;
    stage.agent.ask(1, "elicitation/create", visit("e1", "https://a.example")).await;
    assert_eq!(stage.agent.expect_answer(1).await["result"], json!({"action": "accept"}));
    for id in ["e9", "e1", "e1"] {
        stage.complete(json!({"elicitationId": id})).await;
    }
    assert_eq!(told.recv().await.unwrap().as_str(), "e1");
    stage.agent.assert_quiet().await;
    assert!(told.try_recv().is_err(), "neither an unknown visit nor the same one again");
    stage.assert_nothing_told();
}
