//! Starting lazily and once, restoring by what the agent offers, failing without a trace.

use accord_client::runner::{Restore, RunError, RunnerState};
use serde_json::{Value, json};

use super::{Stage, bare, restoring, stage, stage_with};
use crate::script::{CWD, chunk};

async fn initialized(stage: &mut Stage, capabilities: Value) {
    stage.agent.serve("initialize", json!({"protocolVersion": 1, "agentCapabilities": capabilities})).await;
}

// E6, E7: nothing is sent before it is needed; then one handshake and one session, however many race for them.
#[tokio::test]
async fn the_first_who_needs_it_starts_the_agent_for_all() {
    let mut stage = stage();
    let racers: Vec<_> = (0..5)
        .map(|_| {
            let runner = stage.runner.clone();
            tokio::spawn(async move { runner.open().await.map(|session| session.id().to_string()) })
        })
        .collect();
    let request = stage.agent.expect("initialize").await;
    let offered = &request["params"]["clientCapabilities"];
    assert_eq!(offered["elicitation"], json!({"form": {}}));
    assert!(offered.get("fs").is_none() && offered.get("terminal").is_none(), "{offered}");
    stage.agent.answer(&request, json!({"protocolVersion": 1})).await;
    let request = stage.agent.expect("session/new").await;
    assert_eq!(request["params"], json!({"cwd": CWD, "mcpServers": []}));
    stage.agent.answer(&request, json!({"sessionId": "sess_1"})).await;
    for racer in racers {
        assert_eq!(racer.await.unwrap().unwrap(), "sess_1");
    }
    stage.agent.assert_quiet().await;
    stage.assert_nothing_told();
}

// E6, E22: a handshake that fails is remembered; it tells no event and goes to whoever asked.
#[tokio::test]
async fn a_failed_handshake_is_remembered() {
    let mut stage = stage();
    let run = stage.run("go");
    stage.agent.serve("initialize", json!({"protocolVersion": 2})).await;
    let expected = "the agent speaks version 2 of the protocol, this client version 1";
    assert_eq!(run.await.unwrap().unwrap_err(), expected);
    assert_eq!(stage.runner.state(), RunnerState::Idle);
    let error = stage.runner.run("again").await.unwrap_err();
    assert!(matches!(&error, RunError::Connect(_)), "{error:?}");
    stage.assert_nothing_told();
}

// E8: a session that could not be opened is tried again; the failure tells nothing and leaves the runner idle.
#[tokio::test]
async fn a_failed_opening_can_be_tried_again() {
    let mut stage = stage();
    let run = stage.run("go");
    initialized(&mut stage, json!({})).await;
    let request = stage.agent.expect("session/new").await;
    stage.agent.refuse(&request, -32603, "no room", json!(null)).await;
    assert!(run.await.unwrap().unwrap_err().contains("no room"));
    assert_eq!(stage.runner.state(), RunnerState::Idle);
    stage.assert_nothing_told();

    let run = stage.run("go");
    stage.agent.serve("session/new", json!({"sessionId": "sess_1"})).await;
    stage.agent.serve("session/prompt", json!({"stopReason": "end_turn"})).await;
    assert_eq!(run.await.unwrap().unwrap(), "end_turn");
}

// E8: what is sent for each kind of handle and each set of capabilities, folder and servers repeated.
#[tokio::test]
async fn a_session_is_restored_by_what_the_agent_offers() {
    let resume = || Restore::Resume("old".into());
    let load = || Restore::Load("old".into());
    let both = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    let cases = [
        (resume(), both.clone(), Some("session/resume")),
        (resume(), json!({"loadSession": true}), Some("session/load")),
        (resume(), json!({}), None),
        (load(), both, Some("session/load")),
        (load(), json!({"sessionCapabilities": {"resume": {}}}), None),
    ];
    for (restore, capabilities, method) in cases {
        let mut stage = restoring(restore);
        let runner = stage.runner.clone();
        let opening =
            tokio::spawn(async move { runner.open().await.map(|session| session.id().to_string()) });
        initialized(&mut stage, capabilities).await;
        if let Some(method) = method {
            let request = stage.agent.expect(method).await;
            assert_eq!(request["params"], json!({"sessionId": "old", "cwd": CWD, "mcpServers": []}));
            stage.agent.answer(&request, json!({})).await;
            assert_eq!(opening.await.unwrap().unwrap(), "old");
        } else {
            let error = opening.await.unwrap().unwrap_err();
            assert!(error.to_string().contains("loadSession"), "{error}");
            stage.agent.assert_quiet().await;
        }
    }
}

// E8, quirk 46: an agent that advertises resume and does not know it is loaded instead.
#[tokio::test]
async fn a_resume_that_is_no_method_falls_back_to_load() {
    let mut stage = restoring(Restore::Resume("old".into()));
    let runner = stage.runner.clone();
    let opening = tokio::spawn(async move { runner.open().await.map(drop) });
    initialized(&mut stage, json!({"loadSession": true, "sessionCapabilities": {"resume": {}}})).await;
    let request = stage.agent.expect("session/resume").await;
    stage.agent.refuse(&request, -32601, "Method not found", json!(null)).await;
    stage.agent.serve("session/load", json!({})).await;
    opening.await.unwrap().unwrap();
}

// E8, B014: the history of a fallback is marked, comes before the run, and is no part of its messages.
#[tokio::test]
async fn replay_is_marked_and_stays_out_of_the_turn() {
    let mut stage = restoring(Restore::Resume("sess_1".into()));
    let run = stage.run("go");
    initialized(&mut stage, json!({"loadSession": true})).await;
    let request = stage.agent.expect("session/load").await;
    stage.agent.update(chunk("old")).await;
    stage.agent.answer(&request, json!({})).await;
    let prompt = stage.agent.expect("session/prompt").await;
    stage.agent.update(chunk("new")).await;
    stage.agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    run.await.unwrap().unwrap();

    let replayed = stage.told().await;
    assert_eq!(replayed["sessionId"], "sess_1");
    let expected = json!({"type": "message.delta", "role": "assistant", "text": "old", "replay": true});
    assert_eq!(bare(replayed), expected);
    assert_eq!(stage.names(2).await, ["run.started", "message.delta"]);
    assert_eq!(bare(stage.told().await), json!({"type": "message.completed", "text": "new"}));
    assert_eq!(stage.told().await["type"], "run.completed");
}

// E20, B025: an interrupt while the session opens ends the turn before its prompt is sent.
#[tokio::test]
async fn an_interrupt_while_opening_withholds_the_prompt() {
    let mut stage = stage();
    let run = stage.run("go");
    initialized(&mut stage, json!({})).await;
    let request = stage.agent.expect("session/new").await;
    stage.runner.interrupt();
    assert_eq!(run.await.unwrap().unwrap(), "cancelled");
    stage.agent.answer(&request, json!({"sessionId": "sess_1"})).await;
    stage.agent.assert_quiet().await;
    stage.assert_nothing_told();
    // The session that was on its way is there for the next prompt.
    let run = stage.run("go");
    stage.agent.serve("session/prompt", json!({"stopReason": "end_turn"})).await;
    assert_eq!(run.await.unwrap().unwrap(), "end_turn");
}

fn options(model: &str, web: bool) -> Value {
    let models = json!([{"value": "m1", "name": "M1"}, {"value": "m2", "name": "M2"}]);
    json!([
        {"id": "model", "name": "Model", "type": "select", "currentValue": model, "options": models},
        {"id": "web", "name": "Web", "type": "boolean", "currentValue": web},
    ])
}

// B130: what was chosen is set before the prompt, where the session that was restored says otherwise, and nowhere else.
#[tokio::test]
async fn a_restored_session_is_set_to_what_was_chosen() {
    for (web, steps) in [(true, 1), (false, 2)] {
        let mut stage = stage_with(|builder| {
            let restored = builder.restore(Restore::Load("sess_1".into()));
            restored.config_option("model", "m2").config_option("web", true)
        });
        let run = stage.run("go");
        initialized(&mut stage, json!({"loadSession": true})).await;
        stage.agent.serve("session/load", json!({"configOptions": options("m1", web)})).await;
        let wanted = [
            (json!({"sessionId": "sess_1", "configId": "model", "value": "m2"}), options("m2", web)),
            (
                json!({"sessionId": "sess_1", "configId": "web", "type": "boolean", "value": true}),
                options("m2", true),
            ),
        ];
        for (params, now) in wanted.into_iter().take(steps) {
            let request = stage.agent.expect("session/set_config_option").await;
            assert_eq!(request["params"], params);
            stage.agent.answer(&request, json!({"configOptions": now})).await;
        }
        stage.agent.serve("session/prompt", json!({"stopReason": "end_turn"})).await;
        assert_eq!(run.await.unwrap().unwrap(), "end_turn");
    }
}

// B130: no prompt runs with what nobody chose; the session is closed again, so that another attempt finds it as it was.
#[tokio::test]
async fn a_choice_that_is_not_offered_withholds_the_prompt() {
    let mut stage = stage_with(|builder| builder.config_option("model", "m9"));
    for _ in 0..2 {
        let run = stage.run("go");
        if stage.agent.log.lock().unwrap().is_empty() {
            initialized(&mut stage, json!({"sessionCapabilities": {"close": {}}})).await;
        }
        stage
            .agent
            .serve("session/new", json!({"sessionId": "sess_1", "configOptions": options("m1", false)}))
            .await;
        stage.agent.serve("session/close", json!({})).await;
        let error = run.await.unwrap().unwrap_err();
        assert_eq!(error, "`m9` is no value of the configuration option `model`");
        assert_eq!(stage.runner.state(), RunnerState::Idle);
    }
    stage.agent.assert_quiet().await;
    stage.assert_nothing_told();
}
