//! A tool call through its handle: announced, asked about, run, ended; in the history as on the wire.

use accord_agent::{
    Question, StopReason,
    protocol::v1::{ContentBlock, ToolCall, ToolKind},
    runtime::Turn,
};
use serde_json::{Value, json};

use crate::{
    stage::{Script, Stage},
    support::stop,
};

/// Deletes what the prompt names, if it may; `forget` leaves its call open.
fn deleting() -> Script {
    Script::new(|turn: Turn| async move {
        let name = turn.text();
        let call = ToolCall::new("call", format!("Delete {name}")).kind(ToolKind::Delete);
        let tool = turn.tool(call).await?;
        if !tool.ask(Question::standard()).await?.is_allowed() {
            tool.fail("not allowed").await?;
            return Ok(StopReason::EndTurn);
        }
        tool.start().await?;
        if name != "forget" {
            tool.complete([ContentBlock::text("gone").into()]).await?;
        }
        Ok(StopReason::EndTurn)
    })
}

fn update(message: &Value) -> &Value {
    &message["params"]["update"]
}

/// The updates of a turn whose question is answered with the option.
async fn turn(stage: &Stage, name: &str, option: &str) -> (Vec<Value>, Value) {
    let mut peer = stage.start(deleting()).await;
    let (id, _) = stage.open(&mut peer).await;
    let prompt = peer.prompt(&id, name);
    peer.send(prompt.clone()).await;
    let announced = peer.next().await;
    let question = peer.next().await;
    assert_eq!(question["method"], "session/request_permission", "{question}");
    let result = json!({"outcome": {"outcome": "selected", "optionId": option}});
    peer.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": result})).await;
    let (rest, ended) = peer.answer(&prompt).await;
    assert_eq!(stop(&ended), "end_turn");
    let seen: Vec<Value> = std::iter::once(&announced).chain(&rest).map(update).cloned().collect();
    let asked = question["params"]["toolCall"].clone();
    drop(peer.hang_up().await);

    let mut peer = stage.start(deleting()).await;
    let load = peer.request("session/load", stage.params(&id));
    peer.send(load.clone()).await;
    let (replayed, _) = peer.answer(&load).await;
    let of_tools =
        |seen: &&Value| seen["sessionUpdate"].as_str().is_some_and(|kind| kind.starts_with("tool_call"));
    let replayed: Vec<Value> = replayed.iter().map(update).filter(of_tools).cloned().collect();
    assert_eq!(seen.iter().filter(of_tools).cloned().collect::<Vec<_>>(), replayed);
    (replayed, asked)
}

// D12, D13, ACPX-PERM-002: the person sees what is asked; nothing announced is left without an end, in the replay neither.
#[tokio::test]
async fn a_tool_call_lives_from_its_announcement_to_its_end() {
    for (name, option, ends) in [
        ("file", "allow", &["in_progress", "completed"] as &[_]),
        ("file", "reject", &["failed"]),
        ("forget", "allow", &["in_progress", "failed"]),
    ] {
        let stage = Stage::new();
        let (seen, asked) = turn(&stage, name, option).await;
        let title = format!("Delete {name}");
        assert_eq!(asked, json!({"toolCallId": "call", "title": title, "kind": "delete"}));
        assert_eq!((&seen[0]["sessionUpdate"], &seen[0]["title"]), (&json!("tool_call"), &json!(title)));
        let statuses: Vec<_> = seen[1..].iter().filter_map(|seen| seen["status"].as_str()).collect();
        assert_eq!(statuses, ends, "{name} {option}");
    }
}
