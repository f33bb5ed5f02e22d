//! The transcript: what a session looks like now, whatever the agent's habits.

use accord_client::{
    ContentBlock, SessionUpdate, Transcript,
    transcript::{CallState, Change, Entry},
};
use serde_json::{Value, json};

fn apply(transcript: &mut Transcript, update: Value) -> Change {
    let update: SessionUpdate = serde_json::from_value(update).expect("the update is well formed");
    transcript.apply(&update)
}

fn folded(updates: impl IntoIterator<Item = Value>) -> Transcript {
    let mut transcript = Transcript::new();
    for update in updates {
        apply(&mut transcript, update);
    }
    transcript
}

fn said(kind: &str, id: Option<&str>, text: &str) -> Value {
    json!({"sessionUpdate": kind, "messageId": id, "content": {"type": "text", "text": text}})
}

fn agent(text: &str) -> Value {
    said("agent_message_chunk", None, text)
}

fn texts(transcript: &Transcript) -> Vec<String> {
    let text = |entry: &Entry| match entry {
        Entry::Message(message) => format!("{:?}: {}", message.speaker, message.text()),
        Entry::Call(call) => format!("{} {:?}", call.call.title, call.state),
        other => format!("{other:?}"),
    };
    transcript.entries().iter().map(text).collect()
}

fn call(fields: &Value) -> Value {
    let mut call = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Edit"});
    call.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    call
}

fn update(fields: &Value) -> Value {
    let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1"});
    update.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    update
}

// ACPX-PROMPT-007: messages by id, also interleaved; without ids by who speaks.
#[test]
fn messages_are_gathered_with_and_without_ids() {
    let transcript = folded([
        said("agent_message_chunk", Some("a"), "one "),
        said("agent_message_chunk", Some("b"), "other"),
        said("agent_message_chunk", Some("a"), "two"),
        agent("three "),
        agent("four"),
        said("agent_thought_chunk", None, "hm"),
        agent("five"),
    ]);
    assert_eq!(
        texts(&transcript),
        ["Agent: one two", "Agent: other", "Agent: three four", "Thought: hm", "Agent: five"]
    );
    let Entry::Message(message) = &transcript.entries()[2] else { panic!("a message") };
    assert_eq!(message.blocks, [ContentBlock::text("three four")]);
}

// Quirk 23: empty chunks make no messages; a turn's end begins a new one.
#[test]
fn a_turns_end_begins_a_new_message() {
    let mut transcript = folded([agent(""), agent("first")]);
    assert_eq!(transcript.prompt(&[ContentBlock::text("more")]), Change::Added(1));
    assert_eq!(apply(&mut transcript, agent("second")), Change::Added(2));
    assert_eq!(apply(&mut transcript, agent("!")), Change::Changed(2));
    transcript.end_turn();
    apply(&mut transcript, agent("late"));
    assert_eq!(texts(&transcript), ["Agent: first", "User: more", "Agent: second!", "Agent: late"]);
}

// B212, quirk 20: announced twice, the second time with more; the diff of the update between stays.
#[test]
fn a_call_that_is_announced_again_is_the_same() {
    let diff = json!([{"type": "diff", "path": "/workspace/proj/a", "oldText": null, "newText": "x"}]);
    let transcript = folded([
        call(&json!({"status": "pending", "kind": "edit"})),
        update(&json!({"content": diff})),
        call(&json!({"title": "Edit a", "status": "in_progress", "kind": "edit", "rawInput": {"path": "a"}})),
        update(&json!({"status": "completed"})),
    ]);
    assert_eq!(texts(&transcript), ["Edit a Completed"]);
    let call = transcript.call(&"c1".into()).unwrap();
    assert_eq!(serde_json::to_value(&call.call.content).unwrap(), diff);
    assert_eq!(serde_json::to_value(&call.call.raw_input).unwrap(), json!({"path": "a"}));
}

// ACPX-TOOL-005, quirks 19 to 21: updates before the call and after its end, and an announcement after its end.
#[test]
fn calls_come_in_any_order() {
    let mut transcript = Transcript::new();
    assert_eq!(apply(&mut transcript, update(&json!({"status": "pending"}))), Change::Added(0));
    assert_eq!(
        apply(&mut transcript, update(&json!({"status": "failed", "rawOutput": "no"}))),
        Change::Changed(0)
    );
    assert_eq!(
        apply(&mut transcript, call(&json!({"title": "Tool call", "status": "pending"}))),
        Change::Changed(0)
    );
    assert_eq!(apply(&mut transcript, update(&json!({"_meta": {"more": 1}}))), Change::Changed(0));
    assert_eq!(texts(&transcript), ["Tool call Failed"]);
}

// ACPX-TOOL-011: absent and null leave things as they are; content and locations are replaced.
#[test]
fn an_update_says_what_changes() {
    let text = |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    let transcript = folded([
        call(&json!({"content": text("a"), "locations": [{"path": "/a"}], "rawInput": 1})),
        update(&json!({"content": text("b"), "title": null, "rawInput": null})),
    ]);
    let call = serde_json::to_value(&transcript.call(&"c1".into()).unwrap().call).unwrap();
    let expected = json!({
        "toolCallId": "c1", "title": "Edit", "content": text("b"), "locations": [{"path": "/a"}], "rawInput": 1,
    });
    assert_eq!(call, expected);
}

// Quirk 22, ACPX-CANCEL-009: what a turn leaves open is given up, and may still end.
#[test]
fn open_calls_are_given_up_with_their_turn() {
    let mut transcript = folded([call(&json!({"status": "in_progress"}))]);
    assert_eq!(transcript.end_turn(), [0]);
    assert_eq!(transcript.call(&"c1".into()).unwrap().state, CallState::GivenUp);
    assert!(transcript.end_turn().is_empty());
    apply(&mut transcript, update(&json!({"status": "completed"})));
    assert_eq!(transcript.call(&"c1".into()).unwrap().state, CallState::Completed);
}

// ACPX-PLAN-003, ACPX-CMD-003, ACPX-LIST-012, ACPX-NOTICE-003, ACPX-COMPACT-003: replaced, kept, cleared, opaque.
#[test]
fn what_is_said_of_the_session_is_kept() {
    let entry = |content: &str| json!({"content": content, "priority": "high", "status": "pending"});
    let mut transcript = folded([
        json!({"sessionUpdate": "plan", "entries": [entry("a"), entry("b")]}),
        json!({"sessionUpdate": "plan", "entries": [entry("c")]}),
        json!({"sessionUpdate": "session_info_update", "title": "T", "updatedAt": "now"}),
        json!({"sessionUpdate": "notice", "severity": "_odd", "title": "N"}),
        json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": {"type": "text", "text": "so "}}),
        json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": {"type": "text", "text": "far"}}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "_later"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "completed"}),
    ]);
    assert_eq!(transcript.plan().len(), 1);
    assert_eq!(
        apply(&mut transcript, json!({"sessionUpdate": "session_info_update", "title": null})),
        Change::State
    );
    assert_eq!(transcript.state().title, None);
    assert_eq!(transcript.state().updated_at.as_deref(), Some("now"));
    assert_eq!(transcript.entries().len(), 2);
    let Entry::Compaction(compaction) = &transcript.entries()[1] else { panic!("a compaction") };
    assert_eq!(compaction.summary, [ContentBlock::text("so far")]);
    assert_eq!(apply(&mut transcript, json!({"sessionUpdate": "future_thing"})), Change::Nothing);
}
