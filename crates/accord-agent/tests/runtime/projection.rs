//! The two projections, live and in a replay, frame by frame.

use accord_agent::{
    Error, StopReason,
    protocol::v1::{
        ContentBlock, Diff, ImageContent, Notice, NoticeSeverity, Plan, SessionUpdate, ToolCall,
        ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate, UsageUpdate,
    },
    runtime::{Projection, Runtime, Turn},
};
use serde_json::{Value, json};

use crate::{
    stage::{Script, Stage},
    support::{Peer, stop},
};

/// A turn with a bit of everything.
fn rich() -> Script {
    Script::new(|turn: Turn| async move {
        turn.think("Let me ").await?;
        turn.think("see.").await?;
        turn.say("I will ").await?;
        turn.say("write.").await?;
        let path = turn.cwd().join("a.txt");
        let call = ToolCall::new("t1", "Write a.txt").name("write".to_owned());
        turn.update(call.locations(vec![ToolCallLocation::new(path.clone())])).await?;
        let done = ToolCallUpdate::new("t1").status(ToolCallStatus::Completed);
        let text: ToolCallContent = ContentBlock::text("written").into();
        turn.update(done.content(vec![Diff::new(path, "x").into(), text])).await?;
        turn.update(Plan::new(vec![])).await?;
        turn.session().set_title("A title").await?;
        turn.update(UsageUpdate::new(10_u64, 100_u64)).await?;
        turn.update(Notice::new(NoticeSeverity::Info, "By the way")).await?;
        turn.say("Done: ").await?;
        let pixel = ImageContent::new("AA==", "image/png");
        turn.update(SessionUpdate::agent_message(ContentBlock::from(pixel))).await?;
        Ok::<_, Error>(StopReason::EndTurn)
    })
}

/// The updates of a session among some messages.
fn updates(messages: &[Value]) -> Vec<Value> {
    messages
        .iter()
        .map(|message| message["params"]["update"].clone())
        .filter(|update| !update.is_null())
        .collect()
}

fn kinds(updates: &[Value]) -> Vec<&str> {
    updates.iter().filter_map(|update| update["sessionUpdate"].as_str()).collect()
}

/// Pieces of one message joined to one chunk, since a replay has them whole.
fn folded(updates: &[Value]) -> Vec<Value> {
    let mut whole: Vec<Value> = Vec::new();
    for update in updates {
        let text = update["content"]["text"].as_str();
        if let (Some(last), Some(text)) = (whole.last_mut(), text)
            && update["messageId"].is_string()
            && last["messageId"] == update["messageId"]
        {
            let joined = format!("{}{text}", last["content"]["text"].as_str().unwrap_or_default());
            last["content"]["text"] = json!(joined);
            continue;
        }
        whole.push(update.clone());
    }
    whole
}

/// What a rich turn sends live, and what a load of it in a new process sends.
async fn both(projection: Projection) -> (Vec<Value>, Vec<Value>) {
    let stage = Stage::new();
    let notices = json!({"session": {"notices": {}}});
    let start = || -> Runtime<_> { stage.builder(rich()).projection(projection).build() };
    let mut peer = Peer::connected(start(), notices.clone()).await;
    let (id, _) = stage.open_quietly(&mut peer).await;
    let prompt = peer.prompt(&id, "go");
    peer.send(prompt.clone()).await;
    let (live, answer) = peer.answer(&prompt).await;
    assert_eq!(stop(&answer), "end_turn");
    drop(peer.hang_up().await);
    let mut peer = Peer::connected(start(), notices).await;
    let load = peer.request("session/load", stage.params(&id));
    peer.send(load.clone()).await;
    let (replayed, answer) = peer.answer(&load).await;
    assert!(answer["result"].is_object(), "{answer}");
    let commands = |update: &Value| update["sessionUpdate"] != "available_commands_update";
    (updates(&live).into_iter().filter(commands).collect(), updates(&replayed))
}

// D12
#[tokio::test]
async fn committed_sends_what_is_stored_and_nothing_else() {
    let (live, replayed) = both(Projection::Committed).await;
    assert_eq!(
        kinds(&live),
        [
            "agent_thought_chunk",
            "agent_message_chunk",
            "tool_call",
            "tool_call_update",
            "usage_update",
            "notice",
            "agent_message_chunk",
            "agent_message_chunk",
        ]
    );
    assert_eq!(live[0]["content"]["text"], "Let me see.", "whole messages, not pieces");
    assert_eq!((&live[2]["title"], &live[2]["locations"]), (&json!("write"), &Value::Null));
    let content = live[3]["content"].as_array().unwrap();
    assert!(content.len() == 1 && content[0]["type"] == "content", "no diff: {content:?}");
    // ACPX-LOAD-003, ACPX-LOAD-009: the same frames again, after what the person said, and without the notice.
    assert_eq!(replayed[0]["content"]["text"], "go");
    let without_notice: Vec<_> =
        live.into_iter().filter(|update| update["sessionUpdate"] != "notice").collect();
    assert_eq!(replayed[1..], without_notice[..]);
}

// D12, B100
#[tokio::test]
async fn live_sends_pieces_and_rich_content_in_the_same_order() {
    let (live, replayed) = both(Projection::Live).await;
    assert_eq!(
        kinds(&live),
        [
            "agent_thought_chunk",
            "agent_thought_chunk",
            "agent_message_chunk",
            "agent_message_chunk",
            "tool_call",
            "tool_call_update",
            "plan",
            "session_info_update",
            "usage_update",
            "notice",
            "agent_message_chunk",
            "agent_message_chunk",
        ]
    );
    assert_eq!(live[5]["content"][0]["type"], "diff");
    assert_eq!(live[0]["messageId"], live[1]["messageId"]);
    assert_ne!(live[1]["messageId"], live[2]["messageId"]);
    let without_notice: Vec<_> =
        live.into_iter().filter(|update| update["sessionUpdate"] != "notice").collect();
    assert_eq!(replayed[1..], folded(&without_notice)[..], "same ids, same content, same order");
}

// ACPX-NOTICE-001, ACPX-COMPACT-001
#[tokio::test]
async fn notices_go_only_to_clients_that_ask_for_them() {
    let stage = Stage::new();
    let runtime: Runtime<_> = stage.builder(rich()).projection(Projection::Live).build();
    let mut peer = Peer::connected(runtime, json!({})).await;
    let (id, _) = stage.open_quietly(&mut peer).await;
    let (live, _) = peer.turn(&id, "go").await;
    assert!(!kinds(&updates(&live)).contains(&"notice"));
}

// D5: titles are for editors
#[tokio::test]
async fn lists_show_titles_to_editors_only() {
    for (projection, title) in [(Projection::Live, json!("A title")), (Projection::Committed, Value::Null)] {
        let stage = Stage::new();
        let runtime: Runtime<_> = stage.builder(rich()).projection(projection).build();
        let mut peer = Peer::connected(runtime, json!({})).await;
        let (id, _) = stage.open_quietly(&mut peer).await;
        peer.turn(&id, "go").await;
        peer.call("session/close", json!({"sessionId": id})).await;
        let answer = peer.call("session/list", json!({})).await;
        assert_eq!(answer["result"]["sessions"][0]["title"], title);
    }
}
