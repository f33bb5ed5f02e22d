//! Turns: order of the events, what is gathered, how they end.

use std::time::Duration;

use accord_client::{
    Prompt,
    runner::{RunError, RunnerBuilder, RunnerState},
};
use serde_json::{Value, json};

use super::{bare, stage, stage_with};
use crate::script::{chunk, permission};

fn chunk_of(kind: &str, id: Option<&str>, text: &str) -> Value {
    let mut update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    if let Some(id) = id {
        update["messageId"] = json!(id);
    }
    update
}

// E2, E15, E22: started, updates in order, messages gathered by id without the reasoning, completed; each with its raw
// message and a number.
#[tokio::test]
async fn a_turn_is_told_in_order() {
    let mut stage = stage();
    let (prompt, run) = stage.running().await;
    for (kind, id, text) in [
        ("agent_message_chunk", Some("m1"), "one "),
        ("agent_thought_chunk", Some("t1"), "hm"),
        ("agent_message_chunk", Some("m2"), "three"),
        ("agent_message_chunk", Some("m1"), "two"),
        ("user_message_chunk", None, "mine"),
    ] {
        stage.agent.update(chunk_of(kind, id, text)).await;
    }
    // ACPX-CONTENT-006, E14: an unknown update and an image tell nothing and harm nothing.
    stage.agent.update(json!({"sessionUpdate": "future_thing", "x": [1]})).await;
    let image = json!({"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="});
    stage.agent.update(json!({"sessionUpdate": "agent_message_chunk", "content": image})).await;
    stage.agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(run.await.unwrap().unwrap(), "end_turn");

    for (position, (role, id, text)) in [
        ("assistant", "m1", "one "),
        ("reasoning", "t1", "hm"),
        ("assistant", "m2", "three"),
        ("assistant", "m1", "two"),
    ]
    .into_iter()
    .enumerate()
    {
        let event = stage.told().await;
        assert_eq!(event["seq"], position + 2);
        assert_eq!(event["run"], 1);
        assert_eq!(event["raw"]["params"]["update"]["content"]["text"], text);
        let expected = json!({"type": "message.delta", "role": role, "text": text, "messageId": id});
        assert_eq!(bare(event), expected);
    }
    let completed =
        |id: &str, text: &str| json!({"type": "message.completed", "text": text, "messageId": id});
    assert_eq!(bare(stage.told().await), completed("m1", "one two"));
    assert_eq!(bare(stage.told().await), completed("m2", "three"));
    let end = json!({"type": "run.completed", "status": "completed", "stopReason": "end_turn"});
    assert_eq!(bare(stage.told().await), end);
    assert_eq!(stage.runner.state(), RunnerState::Idle);
}

// E15: the gathering lives for one turn.
#[tokio::test]
async fn the_next_turn_gathers_anew() {
    let mut stage = stage();
    let (prompt, run) = stage.running().await;
    stage.agent.update(chunk("first")).await;
    stage.agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    run.await.unwrap().unwrap();
    assert_eq!(stage.names(3).await, ["message.delta", "message.completed", "run.completed"]);
    let run = stage.run("again");
    let prompt = stage.agent.expect("session/prompt").await;
    stage.agent.update(chunk("second")).await;
    stage.agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    run.await.unwrap().unwrap();
    assert_eq!(stage.names(2).await, ["run.started", "message.delta"]);
    let event = stage.told().await;
    assert_eq!((event["text"].as_str(), event["run"].as_u64()), (Some("second"), Some(2)));
}

// E12: a second prompt is refused, not queued, and disturbs nothing.
#[tokio::test]
async fn a_second_prompt_is_refused() {
    let mut stage = stage();
    let (prompt, run) = stage.running().await;
    assert_eq!(stage.runner.state(), RunnerState::Running);
    let error = stage.runner.run("b").await.unwrap_err();
    assert!(matches!(error, RunError::AlreadyRunning), "{error:?}");
    assert_eq!(stage.runner.state(), RunnerState::Running);
    stage.agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(run.await.unwrap().unwrap(), "end_turn");
    assert_eq!(stage.names(1).await, ["run.completed"]);
}

// E11, E12, E20: an interrupt ends the turn for its caller at once; late updates keep its number; the next prompt waits.
#[tokio::test]
async fn an_interrupt_ends_the_turn_at_once() {
    let mut stage = stage();
    let (prompt, run) = stage.running().await;
    stage.agent.update(chunk("early")).await;
    assert_eq!(stage.told().await["type"], "message.delta");
    stage.runner.interrupt();
    stage.runner.interrupt();
    assert_eq!(run.await.unwrap().unwrap(), "cancelled");
    // E15: nothing is completed after a cancel.
    let end = json!({"type": "run.completed", "status": "cancelled", "stopReason": "cancelled"});
    assert_eq!(bare(stage.told().await), end);
    stage.agent.expect("session/cancel").await;
    stage.agent.assert_quiet().await;
    assert_eq!(stage.runner.state(), RunnerState::Idle);

    let next = stage.run("next");
    stage.agent.update(chunk("late")).await;
    let late = stage.told().await;
    assert_eq!((late["text"].as_str(), late["run"].as_u64()), (Some("late"), Some(1)));
    stage.agent.answer(&prompt, json!({"stopReason": "cancelled"})).await;
    let prompt = stage.agent.expect("session/prompt").await;
    stage.agent.update(chunk("new")).await;
    stage.agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(next.await.unwrap().unwrap(), "end_turn");
    assert_eq!(stage.names(2).await, ["run.started", "message.delta"]);
    assert_eq!(stage.told().await["text"], "new");
}

// E12, T9: past the grace the next prompt fails typed; the caller of the first never waited.
#[tokio::test(start_paused = true)]
async fn an_agent_that_ignores_the_interrupt_is_named() {
    let mut stage = stage_with(|builder| {
        builder.client(RunnerBuilder::client_builder().cancel_grace(Duration::from_secs(3)))
    });
    let (_, run) = stage.running().await;
    stage.runner.interrupt();
    assert_eq!(run.await.unwrap().unwrap(), "cancelled");
    let error = stage.runner.run("next").await.unwrap_err();
    assert!(error.to_string().contains("ignored the cancel"), "{error}");
    assert_eq!(stage.names(1).await, ["run.completed"]);
    stage.assert_nothing_told();
}

// E11: the deadline fails the turn and cancels it on the wire.
#[tokio::test(start_paused = true)]
async fn a_deadline_fails_the_turn() {
    let mut stage = stage();
    let runner = stage.runner.clone();
    let run =
        tokio::spawn(async move { runner.run(Prompt::text("go").deadline(Duration::from_secs(60))).await });
    stage.serve_opening().await;
    stage.agent.expect("session/prompt").await;
    let error = run.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the turn was cut off: it took longer than 60s");
    assert_eq!(stage.names(1).await, ["run.started"]);
    let end = json!({"type": "run.completed", "status": "failed", "message": error.to_string()});
    assert_eq!(bare(stage.told().await), end);
    stage.agent.expect("session/cancel").await;
}

// E10: content the agent does not take is an error without an event, and the runner is idle.
#[tokio::test]
async fn unsupported_content_tells_nothing() {
    let mut stage = stage();
    let runner = stage.runner.clone();
    let image = accord_client::protocol::v1::ImageContent::new("iVBORw0KGgo=", "image/png");
    let run = tokio::spawn(async move { runner.run(accord_client::ContentBlock::Image(image)).await });
    stage.serve_opening().await;
    let error = run.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("promptCapabilities.image"), "{error}");
    assert_eq!(stage.runner.state(), RunnerState::Idle);
    stage.assert_nothing_told();
    stage.agent.assert_quiet().await;
}

// E22, ACPX-PROMPT-016, ACPX-PROMPT-017: one end for each way a turn can end, and the session goes on.
#[tokio::test]
async fn every_end_has_its_status() {
    let mut stage = stage();
    let (mut prompt, mut run) = stage.running().await;
    for (reason, status) in [
        ("max_tokens", "limited"),
        ("max_turn_requests", "limited"),
        ("refusal", "refused"),
        ("cancelled", "cancelled"),
        ("_new", "completed"),
    ] {
        stage.agent.answer(&prompt, json!({"stopReason": reason})).await;
        assert_eq!(run.await.unwrap().unwrap(), reason);
        let end = json!({"type": "run.completed", "status": status, "stopReason": reason});
        assert_eq!(bare(stage.told().await), end);
        run = stage.run("again");
        prompt = stage.agent.expect("session/prompt").await;
        assert_eq!(stage.told().await["type"], "run.started");
    }
    stage.agent.refuse(&prompt, 500, "model error", json!([{"code": "x"}])).await;
    let error = run.await.unwrap().unwrap_err();
    assert!(error.contains("model error") && error.contains(r#"[{"code":"x"}]"#), "{error}");
    let end = json!({"type": "run.completed", "status": "failed", "message": error});
    assert_eq!(bare(stage.told().await), end);
}

// E23: the commands of the last list, and none once the runner is closed.
#[tokio::test]
async fn commands_are_kept_while_the_runner_lives() {
    let mut stage = stage();
    assert!(stage.runner.commands().is_empty());
    let (prompt, run) = stage.running().await;
    for name in ["old", "plan"] {
        let commands = json!([{"name": name, "description": "d", "input": null}]);
        stage
            .agent
            .update(json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}))
            .await;
    }
    stage.agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    run.await.unwrap().unwrap();
    assert_eq!(stage.names(2).await, ["commands.updated"; 2]);
    let names: Vec<_> = stage.runner.commands().into_iter().map(|command| command.name).collect();
    assert_eq!(names, ["plan"]);
    stage.runner.dispose().await;
    assert!(stage.runner.commands().is_empty());
}

// E2: a question that waits holds up nothing behind it.
#[tokio::test]
async fn a_question_holds_nothing_up() {
    let mut stage = stage();
    let (prompt, run) = stage.running().await;
    stage.agent.ask(7, "session/request_permission", permission("sess_1")).await;
    stage.agent.update(chunk("meanwhile")).await;
    stage.agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    run.await.unwrap().unwrap();
    let names = ["approval.requested", "message.delta", "message.completed", "run.completed"];
    assert_eq!(stage.names(4).await, names);
}
