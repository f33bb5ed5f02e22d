//! Approvals and inputs: how they are told, answered, settled.

use std::collections::BTreeMap;

use accord_client::{
    InputReply,
    runner::{AnswerError, Decision},
};
use serde_json::{Value, json};

use super::{bare, stage};
use crate::script::permission;

fn form() -> Value {
    json!({
        "sessionId": "sess_1", "mode": "form", "message": "How?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
                "name": {"type": "string", "title": "Name", "description": "Whose?", "minLength": 2},
                "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 2},
                "sure": {"type": "boolean"},
            },
            "required": ["name"],
        },
    })
}

fn filled(answers: &[(&str, &[&str])]) -> InputReply {
    let text = |texts: &&[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    InputReply::Submit(
        answers.iter().map(|(id, texts)| ((*id).to_owned(), text(texts))).collect::<BTreeMap<_, _>>(),
    )
}

// E18, ACPX-PERM-007, ACPX-PERM-011, B061: stable ids, effects by kind; answered each by its own, in any order; wrong answers
// are the caller's error and the agent hears nothing of them.
#[tokio::test]
async fn approvals_are_answered_each_by_its_own() {
    let mut stage = stage();
    let (_prompt, _run) = stage.running().await;
    // E2, B059: the same tool call twice, and the ids 1 and "1".
    stage.agent.ask(1, "session/request_permission", permission("sess_1")).await;
    stage.agent.ask("1", "session/request_permission", permission("sess_1")).await;
    let first = stage.told().await;
    assert_eq!(first["raw"]["id"], 1);
    assert_eq!(first["raw"]["method"], "session/request_permission");
    let option = |id: &str, name: &str, effect: &str, kind: &str| json!({"optionId": id, "name": name, "effect": effect, "kind": kind});
    let expected = json!({
        "type": "approval.requested", "approvalId": "approval-1", "requestId": "1", "toolName": "Run command",
        "toolCall": {"toolCallId": "call_1", "title": "Run command", "kind": "execute", "status": "pending"},
        "options": [
            option("a1", "Allow once", "approve", "allow_once"),
            option("ra", "Never", "deny", "reject_always"),
            option("r1", "Reject once", "deny", "reject_once"),
        ],
    });
    assert_eq!(bare(first), expected);
    let second = stage.told().await;
    assert_eq!(
        (second["approvalId"].as_str(), second["requestId"].as_str()),
        (Some("approval-2"), Some("\"1\""))
    );

    let runner = stage.runner.clone();
    let error = runner.answer_approval("approval-9", &Decision::Approve).unwrap_err();
    assert_eq!(error, AnswerError::NotOpen { id: "approval-9".into() });
    let error = runner.answer_approval("approval-1", &Decision::Option("zz".into())).unwrap_err();
    assert_eq!(error, AnswerError::NoSuchOption { id: "approval-1".into() });
    runner.answer_approval("approval-2", &Decision::Approve).unwrap();
    let answer = stage.agent.expect_answer("1").await;
    assert_eq!(answer["result"], json!({"outcome": {"outcome": "selected", "optionId": "a1"}}));
    // E18: a rejection is one rejection, unless the kind itself is asked for.
    runner.answer_approval("approval-1", &Decision::Deny).unwrap();
    let answer = stage.agent.expect_answer(1).await;
    assert_eq!(answer["result"], json!({"outcome": {"outcome": "selected", "optionId": "r1"}}));
    assert!(runner.answer_approval("approval-1", &Decision::Deny).is_err());

    let settled =
        json!({"type": "approval.settled", "approvalId": "approval-2", "optionId": "a1", "by": "answer"});
    assert_eq!(bare(stage.told().await), settled);
    assert_eq!(stage.told().await["approvalId"], "approval-1");
}

// E20, T8: an interrupt settles every question, told in order; a late answer is an error.
#[tokio::test]
async fn an_interrupt_settles_every_question() {
    let mut stage = stage();
    let (_prompt, run) = stage.running().await;
    stage.agent.ask(7, "session/request_permission", permission("sess_1")).await;
    stage.agent.ask(8, "elicitation/create", form()).await;
    assert_eq!(stage.names(2).await, ["approval.requested", "input.requested"]);
    stage.runner.interrupt();
    run.await.unwrap().unwrap();
    let settled = json!({"type": "approval.settled", "approvalId": "approval-1", "by": "cancel"});
    assert_eq!(bare(stage.told().await), settled);
    let settled = json!({"type": "input.settled", "inputId": "input-2", "action": "cancel", "by": "cancel"});
    assert_eq!(bare(stage.told().await), settled);
    assert_eq!(stage.told().await["type"], "run.completed");
    stage.agent.expect("session/cancel").await;
    assert_eq!(stage.agent.expect_answer(7).await["result"], json!({"outcome": {"outcome": "cancelled"}}));
    assert_eq!(stage.agent.expect_answer(8).await["result"], json!({"action": "cancel"}));
    assert!(stage.runner.answer_approval("approval-1", &Decision::Approve).is_err());
    // B062: one that comes later is answered at once, and nobody is asked.
    stage.agent.ask(9, "session/request_permission", permission("sess_1")).await;
    assert_eq!(stage.agent.expect_answer(9).await["result"], json!({"outcome": {"outcome": "cancelled"}}));
    stage.agent.assert_quiet().await;
    stage.assert_nothing_told();
}

// ACPX-CREQ-008: a question the agent takes back is answered, and settled by the agent.
#[tokio::test]
async fn a_question_that_is_taken_back_is_settled() {
    let mut stage = stage();
    let (_prompt, _run) = stage.running().await;
    stage.agent.ask(7, "session/request_permission", permission("sess_1")).await;
    assert_eq!(stage.told().await["type"], "approval.requested");
    stage
        .agent
        .send(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 7}}))
        .await;
    assert_eq!(stage.agent.expect_answer(7).await["error"]["code"], -32800);
    assert_eq!(stage.told().await["by"], "agent");
}

// E19, ACPX-ELIC-008, ACPX-ELIC-009: a form as questions; answers converted to the schema's types, checked before they
// go out, defaults kept.
#[tokio::test]
async fn a_form_is_asked_checked_and_converted() {
    let mut stage = stage();
    let (_prompt, _run) = stage.running().await;
    stage.agent.ask(8, "elicitation/create", form()).await;
    let event = stage.told().await;
    assert_eq!((event["inputId"].as_str(), event["kind"].as_str()), (Some("input-1"), Some("questions")));
    let questions = event["questions"].as_array().unwrap();
    let by_id = |id: &str| questions.iter().find(|question| question["id"] == id).unwrap().clone();
    let name = json!({
        "id": "name", "title": "Name", "prompt": "Whose?", "kind": "text", "multiple": false, "required": true,
        "limits": {"minLength": 2},
    });
    assert_eq!(by_id("name"), name);
    let count = json!({
        "id": "count", "title": "count", "kind": "integer", "multiple": false, "required": false, "default": 3,
        "limits": {"minimum": 1, "maximum": 9},
    });
    assert_eq!(by_id("count"), count);
    assert_eq!(by_id("tags")["multiple"], true);
    assert_eq!(by_id("size")["choices"][1], json!({"value": "l", "title": "Large"}));

    let wrong = filled(&[
        ("name", &["x"]),
        ("count", &["12"]),
        ("size", &["xl"]),
        ("tags", &["a", "c"]),
        ("other", &[]),
    ]);
    let error = stage.runner.answer_input("input-1", wrong).unwrap_err();
    let AnswerError::Problems { problems } = error else { panic!("{error:?}") };
    let kinds = serde_json::to_value(&problems).unwrap();
    let kinds: Vec<_> = kinds.as_array().unwrap().iter().map(|p| p["problem"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["number_limits", "text_limits", "no_choice", "no_choice", "unknown_question"]);
    let error = stage.runner.answer_input("input-1", filled(&[("sure", &["maybe"])])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the answers are not accepted: name: an answer is required; sure: the answer is not of the kind asked for"
    );
    stage.agent.assert_quiet().await;

    let right = filled(&[("name", &["Ada"]), ("sure", &["true"]), ("tags", &["b", "a"]), ("size", &[])]);
    stage.runner.answer_input("input-1", right).unwrap();
    let answer = stage.agent.expect_answer(8).await;
    let content = json!({"count": 3, "name": "Ada", "sure": true, "tags": ["b", "a"]});
    assert_eq!(answer["result"], json!({"action": "accept", "content": content}));
    assert_eq!(stage.told().await["action"], "accept");
}

// E19, ACPX-ELIC-011, ACPX-ELIC-018: an unknown mode, an unknown type and a form that contradicts itself are refused.
#[tokio::test]
async fn forms_that_are_not_understood_are_refused() {
    let mut stage = stage();
    let (_prompt, _run) = stage.running().await;
    let schema = |schema: Value| json!({"sessionId": "sess_1", "mode": "form", "message": "m", "requestedSchema": schema});
    for (id, params, place) in [
        (1, json!({"sessionId": "sess_1", "mode": "_x", "message": "m"}), "mode"),
        (
            2,
            json!({"sessionId": "sess_1", "mode": "url", "message": "m", "elicitationId": "e", "url": "https://a"}),
            "mode",
        ),
        (3, schema(json!({"properties": {"f": {"type": "_slider"}}})), "requestedSchema.properties.f.type"),
        (4, schema(json!({"properties": {}, "required": ["f"]})), "requestedSchema.required"),
    ] {
        stage.agent.ask(id, "elicitation/create", params).await;
        let error = stage.agent.expect_answer(id).await["error"].clone();
        assert_eq!(
            (error["code"].as_i64(), error["data"]["path"].as_str()),
            (Some(-32602), Some(place)),
            "{error}"
        );
    }
    stage.assert_nothing_told();
}

// ACPX-ELIC-009: a form's questions are put in the order in which the agent wrote them.
#[tokio::test]
async fn questions_keep_their_order() {
    let mut stage = stage();
    let (_prompt, _run) = stage.running().await;
    stage
        .agent
        .write(concat!(
            r#"{"jsonrpc":"2.0","id":8,"method":"elicitation/create","params":{"sessionId":"sess_1","mode":"form","#,
            r#""message":"m","requestedSchema":{"type":"object","properties":{"#,
            r#""zone":{"type":"string"},"age":{"type":"integer"},"mail":{"type":"string"}}}}}"#,
            "\n"
        ))
        .await;
    let event = stage.told().await;
    let ids: Vec<_> =
        event["questions"].as_array().unwrap().iter().map(|q| q["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["zone", "age", "mail"]);
}
