//! From updates to events: a pure function, told apart from everything that has a memory.

use accord_client::{SessionUpdate, events::events_of};
use serde_json::{Value, json};

fn events(update: Value) -> Vec<Value> {
    let update: SessionUpdate = serde_json::from_value(update).expect("the update is well formed");
    events_of(&update).iter().map(|event| serde_json::to_value(event).expect("events are JSON")).collect()
}

fn names(update: Value) -> Vec<String> {
    events(update).iter().map(|event| event["type"].as_str().unwrap_or_default().to_owned()).collect()
}

// E14: each kind of update, and the events it stands for.
#[test]
fn each_update_has_its_events() {
    let text = json!({"type": "text", "text": "x"});
    let option = json!({"id": "o", "name": "O", "type": "boolean", "currentValue": true});
    for (update, expected) in [
        (json!({"sessionUpdate": "agent_message_chunk", "content": text}), vec!["message.delta"]),
        (json!({"sessionUpdate": "agent_thought_chunk", "content": text}), vec!["message.delta"]),
        (json!({"sessionUpdate": "user_message_chunk", "content": text}), vec![]),
        (
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "resource_link", "uri": "file:///a", "name": "a"}}),
            vec![],
        ),
        (json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"}), vec!["tool.started"]),
        (json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress"}), vec![]),
        (json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "_meta": {"only": "this"}}), vec![]),
        (json!({"sessionUpdate": "plan", "entries": []}), vec!["plan.updated"]),
        (json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}), vec!["usage.updated"]),
        (
            json!({"sessionUpdate": "available_commands_update", "availableCommands": []}),
            vec!["commands.updated"],
        ),
        (json!({"sessionUpdate": "current_mode_update", "currentModeId": "m"}), vec!["mode.updated"]),
        (json!({"sessionUpdate": "config_option_update", "configOptions": [option]}), vec!["config.updated"]),
        (json!({"sessionUpdate": "session_info_update", "title": null}), vec!["session.updated"]),
        // Quirk 11: some agents send these by the hundred, with nothing but metadata.
        (json!({"sessionUpdate": "session_info_update", "_meta": {"codex": {}}}), vec![]),
        (json!({"sessionUpdate": "notice", "severity": "_odd", "title": "N"}), vec!["notice"]),
        (
            json!({"sessionUpdate": "compaction_update", "compactionId": "k", "status": "_new"}),
            vec!["compaction.updated"],
        ),
        (
            json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": text}),
            vec!["compaction.updated"],
        ),
        (json!({"sessionUpdate": "future_thing", "x": [1]}), vec![]),
    ] {
        assert_eq!(names(update.clone()), expected, "{update}");
    }
}

// E14: what the events say.
#[test]
fn events_carry_what_the_update_says() {
    let started = events(json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run ls", "name": "shell", "kind": "execute",
        "rawInput": {"command": "ls"},
    }));
    let expected = json!({
        "type": "tool.started", "toolCallId": "c", "name": "shell", "title": "Run ls", "kind": "execute",
        "input": {"command": "ls"},
    });
    assert_eq!(started, [expected]);
    let cleared = events(json!({"sessionUpdate": "session_info_update", "title": null, "updatedAt": "now"}));
    assert_eq!(cleared, [json!({"type": "session.updated", "title": null, "updatedAt": "now"})]);
    let cost = json!({"amount": 0.5, "currency": "USD"});
    let usage = events(json!({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost}));
    assert_eq!(usage, [json!({"type": "usage.updated", "used": 1, "size": 2, "cost": cost})]);
}

// E14: a call that arrives completed has started and completed.
#[test]
fn a_call_that_is_over_has_started_too() {
    let call = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "status": "failed", "rawOutput": "no",
    });
    let events = events(call);
    assert_eq!(events[0]["type"], "tool.started");
    assert_eq!(
        events[1],
        json!({"type": "tool.completed", "toolCallId": "c", "status": "failed", "output": "no"})
    );
    assert_eq!(events.len(), 2);
}

// E16, E17: the output is the raw one, else the content, else what is known; every diff has an event of its own.
#[test]
fn one_update_may_be_several_events() {
    let diff = |path: &str, old: Value, new: &str| json!({"type": "diff", "path": path, "oldText": old, "newText": new});
    let content = json!([
        diff("/a", json!("1\n2\n"), "1\nzwei\n"),
        {"type": "content", "content": {"type": "text", "text": "done"}},
        diff("/b", json!(null), "x\n"),
    ]);
    let update = |raw: Value, content: Value| {
        json!({
            "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
            "rawOutput": raw, "content": content,
        })
    };
    let all = events(update(json!({"code": 0}), content.clone()));
    assert_eq!(all[0]["output"], json!({"code": 0}));
    assert_eq!(all[1]["unifiedDiff"], "--- /a\n+++ /a\n@@ -1,2 +1,2 @@\n 1\n-2\n+zwei\n");
    assert_eq!(all[2]["unifiedDiff"], "--- /b\n+++ /b\n@@ -0,0 +1 @@\n+x\n");
    assert_eq!(all.len(), 3);
    assert_eq!(events(update(json!(null), content.clone()))[0]["output"], content);
    let bare = events(update(json!(null), json!(null)));
    assert_eq!(bare[0]["output"]["status"], "completed");
    // A diff may come before the end.
    let early = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": [diff("/a", json!(null), "x")]});
    assert_eq!(names(early), ["diff.updated"]);
}
