//! Output of every kind: messages, blocks, tools, plans, commands, and kinds that nobody knows yet.

use serde_json::{Value, json};

use super::{MARKER, Script, in_turn, needing, script, survives, told};
use crate::wire::player::Player;
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure, inconclusive};

pub(super) const SCRIPTS: &[Script] = &[
    script("ACPX-PROMPT-007", messages, text_in_order),
    script("ACPX-TOOL-005", stray_tool_update, survives),
    script("ACPX-TOOL-011", partial_updates, survives),
    script("ACPX-TOOL-013", unknown_tool_values, survives),
    script("ACPX-TOOL-014", raw_values, survives),
    script("ACPX-PLAN-003", plans, survives),
    script("ACPX-CMD-003", commands, survives),
    told("ACPX-CMD-004", "command", one_command, sent_as_text),
    script("ACPX-CONTENT-004", all_blocks, survives),
    script("ACPX-CONTENT-005", annotations, survives),
    script("ACPX-CONTENT-006", unknown_kinds, survives),
    needing("ACPX-NOTICE-003", "session/notices", notices, survives),
    needing("ACPX-COMPACT-003", "session/compaction", compaction, survives),
];

fn say_as(player: &mut Player, id: &Value, text: &str) {
    let content = json!({"type": "text", "text": text});
    player.update(&json!({"sessionUpdate": "agent_message_chunk", "content": content, "messageId": id}));
}

fn messages(player: &mut Player) {
    in_turn(player, |player| {
        for (id, text) in [("m1", "first-"), ("m1", "second-"), ("m2", "third-")] {
            say_as(player, &json!(id), text);
        }
        say_as(player, &json!(null), "fourth-");
        player.say("fifth-");
    });
}

fn text_in_order(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    if !seen.plain.shows {
        return inconclusive("the client shows no text");
    }
    let places: Vec<Option<usize>> = ["first-", "second-", "third-", "fourth-", "fifth-"]
        .iter()
        .map(|text| seen.stdout.find(text))
        .collect();
    ensure(places.iter().all(Option::is_some), || "some of the text is not shown".into())?;
    ensure(places.is_sorted(), || "the text is shown out of order".into())
}

fn stray_tool_update(player: &mut Player) {
    in_turn(player, |player| {
        player.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "never-announced", "status": "completed"}));
    });
}

fn partial_updates(player: &mut Player) {
    in_turn(player, |player| {
        let text = |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
        player.update(&json!({
            "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Work", "kind": "edit", "content": text("old"),
            "locations": [{"path": "/tmp/a", "line": 1}]
        }));
        player.update(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "in_progress"}),
        );
        let diff = json!([{"type": "diff", "path": "/tmp/a", "oldText": null, "newText": "new\n"}]);
        player.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "completed", "content": diff}));
        // The same call announced again is an update to it.
        player.update(&json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Work again"}));
    });
}

fn unknown_tool_values(player: &mut Player) {
    in_turn(player, |player| {
        player.update(&json!({
            "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Odd", "kind": "teleport", "status": "paused",
            "content": [{"type": "hologram"}, 5, {"type": "content", "content": {"type": "text", "text": "kept"}}]
        }));
    });
}

fn raw_values(player: &mut Player) {
    in_turn(player, |player| {
        for (place, raw) in
            [json!(null), json!(5), json!("text"), json!([1, null]), json!({"a": {}}), json!(true)]
                .iter()
                .enumerate()
        {
            let call = format!("raw-{place}");
            player.update(
                &json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": "Raw", "rawInput": raw}),
            );
            player.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": "failed", "rawOutput": raw}));
        }
    });
}

fn plans(player: &mut Player) {
    in_turn(player, |player| {
        let entry = |text: &str, status: &str| json!({"content": text, "priority": "high", "status": status});
        for entries in [
            json!([entry("one", "pending"), entry("two", "pending")]),
            json!([entry("two", "completed")]),
            json!([]),
        ] {
            player.update(&json!({"sessionUpdate": "plan", "entries": entries}));
        }
    });
}

fn commands(player: &mut Player) {
    in_turn(player, |player| {
        for commands in [
            json!([{"name": "plan", "description": "Plan", "input": {"hint": "what"}}, {"name": "go", "description": "Go", "input": null}]),
            json!([{"name": "stop", "description": "Stop"}]),
        ] {
            player.update(
                &json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}),
            );
        }
    });
}

/// Announces a command as soon as there is a session.
fn one_command(player: &mut Player) {
    if let Some(setup) = player.until("session/new") {
        player.serve(&setup);
        let commands =
            json!([{"name": "accord", "description": "Does as it is told", "input": {"hint": "what"}}]);
        player.update(&json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}));
    }
    in_turn(player, |_| {});
}

fn sent_as_text(seen: &Seen<'_>) -> Judged {
    let prompts = seen.sent("session/prompt");
    let Some(prompt) = prompts.first() else { return inconclusive("the client sent no command") };
    let text = &prompt["params"]["prompt"][0]["text"];
    ensure(*text == "/accord run it", || format!("the command /accord run it is sent as {text}"))
}

fn blocks() -> [Value; 6] {
    const DOT: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    [
        json!({"type": "text", "text": "plain"}),
        json!({"type": "image", "data": DOT, "mimeType": "image/png"}),
        json!({"type": "audio", "data": "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=", "mimeType": "audio/wav"}),
        json!({"type": "resource_link", "uri": "file:///tmp/a.txt", "name": "a.txt"}),
        json!({"type": "resource", "resource": {"uri": "file:///tmp/a.txt", "text": "inside"}}),
        json!({"type": "resource", "resource": {"uri": "file:///tmp/dot.png", "blob": DOT, "mimeType": "image/png"}}),
    ]
}

fn all_blocks(player: &mut Player) {
    in_turn(player, |player| {
        for (place, block) in blocks().iter().enumerate() {
            player.update(&json!({"sessionUpdate": "agent_message_chunk", "content": block}));
            player.update(&json!({"sessionUpdate": "agent_thought_chunk", "content": block}));
            let content = json!([{"type": "content", "content": block}]);
            player.update(&json!({"sessionUpdate": "tool_call", "toolCallId": format!("b{place}"), "title": "Block", "content": content}));
        }
    });
}

fn annotations(player: &mut Player) {
    in_turn(player, |player| {
        for annotations in [
            json!({"audience": ["user"], "priority": 1, "lastModified": "2026-01-02T03:04:05Z"}),
            json!({"audience": "nobody", "priority": "high", "lastModified": 5}),
            json!("loud"),
            json!(null),
        ] {
            let content = json!({"type": "text", "text": "annotated", "annotations": annotations});
            player.update(&json!({"sessionUpdate": "agent_message_chunk", "content": content}));
        }
    });
}

fn unknown_kinds(player: &mut Player) {
    in_turn(player, |player| {
        player.update(&json!({"sessionUpdate": "hologram", "depth": 3}));
        player.update(
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "hologram", "data": 1}}),
        );
        player.update(&json!({"sessionUpdate": "agent_message_chunk"}));
        player.update(&json!({"sessionUpdate": 5}));
        player.notify("session/update", &json!({}));
        player.say(MARKER);
    });
}

fn notices(player: &mut Player) {
    in_turn(player, |player| {
        for severity in ["info", "error", "apocalyptic"] {
            player.update(&json!({"sessionUpdate": "notice", "severity": severity, "title": "Heads up"}));
        }
    });
}

fn compaction(player: &mut Player) {
    in_turn(player, |player| {
        for status in ["in_progress", "half_way_there", "completed"] {
            player.update(
                &json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": status}),
            );
        }
    });
}
