//! Sessions, from the client's side: odd ids, foreign sessions, modes and options of every kind.

use serde_json::{Value, json};

use super::{Script, in_turn, script, survives};
use crate::wire::player::{Player, permission};
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure};

pub(super) const SCRIPTS: &[Script] = &[
    script("ACPX-SESS-002", super::plain, complete_setup),
    script("ACPX-SESS-014", foreign_session, answered_and_survived),
    script("ACPX-SESS-016", odd_session_id, keeps_session_id),
    script("ACPX-SESS-017", options_and_modes, survives),
    script("ACPX-CONFIG-009", odd_categories, survives),
    script("ACPX-CONFIG-010", unknown_option_type, survives),
    script("ACPX-CONFIG-014", replaced_options, survives),
    script("ACPX-MODE-005", changed_mode, survives),
    script("ACPX-LIST-012", session_info, survives),
    script("ACPX-PROMPT-001", slow_setup, prompts_after_setup),
    script("ACPX-PROMPT-012", super::plain, one_prompt_at_a_time),
    script("ACPX-PROMPT-015", between_turns, survives),
    script("ACPX-PROMPT-016", refusal, not_hanging),
    script("ACPX-PROMPT-017", odd_ends, not_hanging),
];

fn complete_setup(seen: &Seen<'_>) -> Judged {
    for request in seen.sent("session/new") {
        let params = &request["params"];
        ensure(params["cwd"].is_string() && params["mcpServers"].is_array(), || {
            "session/new has no cwd or no mcpServers".into()
        })?;
    }
    Ok(())
}

const FOREIGN: &str = "somebody-elses";

fn foreign_session(player: &mut Player) {
    in_turn(player, |player| {
        let content = json!({"type": "text", "text": "not yours"});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
        player.notify("session/update", &json!({"sessionId": FOREIGN, "update": update}));
        let mut params = permission("foreign");
        params["sessionId"] = json!(FOREIGN);
        let id = player.ask("session/request_permission", &params);
        player.reply(&id);
    });
}

fn answered_and_survived(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for id in seen.asked("session/request_permission") {
        let answer = seen.answer(&id)?;
        let selected = answer["result"]["outcome"]["outcome"] == "selected";
        let option = answer["result"]["outcome"]["optionId"].as_str().unwrap_or_default();
        ensure(!(selected && option.starts_with("yes")), || {
            "a foreign session's tool call is permitted".into()
        })?;
    }
    Ok(())
}

const ODD: &str = "a b/\u{fc} \u{1f600}\"'{}%$\u{7f}";

fn odd_session_id(player: &mut Player) {
    player.opening["sessionId"] = json!(ODD);
    if let Some(prompt) = player.turn() {
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": super::MARKER}});
        player.notify("session/update", &json!({"sessionId": ODD, "update": update}));
        player.end_turn(&prompt);
    }
}

fn keeps_session_id(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for request in seen.sent("session/prompt") {
        let id = &request["params"]["sessionId"];
        ensure(id == ODD, || format!("the session id comes back as {id}"))?;
    }
    Ok(())
}

fn select(id: &str, category: &Value, options: &Value, current: &str) -> Value {
    json!({"id": id, "name": id, "type": "select", "category": category, "currentValue": current, "options": options})
}

fn flat() -> Value {
    json!([{"value": "a", "name": "A"}, {"value": "b", "name": "B", "description": null}])
}

fn modes() -> Value {
    json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "https://x/y#z", "name": "URL"}]})
}

fn options_and_modes(player: &mut Player) {
    player.opening["modes"] = modes();
    let grouped = json!([{"group": "g", "name": "G", "options": flat()}]);
    player.opening["configOptions"] = json!([
        select("model", &json!("model"), &grouped, "a"),
        select("mode", &json!("mode"), &flat(), "b"),
    ]);
    if let Some(hello) = player.until("initialize") {
        player.serve(&hello);
        if hello["params"]["clientCapabilities"]["session"]["configOptions"]["boolean"].is_object() {
            let switch = json!({"id": "loud", "name": "Loud", "type": "boolean", "currentValue": false});
            if let Some(options) = player.opening["configOptions"].as_array_mut() {
                options.push(switch);
            }
        }
    }
    in_turn(player, |_| {});
}

fn odd_categories(player: &mut Player) {
    player.opening["configOptions"] = json!([
        select("one", &json!(null), &flat(), "a"),
        select("two", &json!("_own"), &flat(), "a"),
        select("three", &json!("future_category"), &flat(), "a"),
    ]);
    in_turn(player, |_| {});
}

fn unknown_option_type(player: &mut Player) {
    let slider = json!({"id": "heat", "name": "Heat", "type": "slider", "currentValue": 5, "max": 11});
    player.opening["configOptions"] = json!([slider, select("model", &json!("model"), &flat(), "a")]);
    in_turn(player, |_| {});
}

fn replaced_options(player: &mut Player) {
    player.opening["configOptions"] = json!([
        select("model", &json!("model"), &flat(), "a"),
        select("effort", &json!("thought_level"), &flat(), "a"),
    ]);
    in_turn(player, |player| {
        let options = json!([select("model", &json!("model"), &flat(), "b")]);
        player.update(&json!({"sessionUpdate": "config_option_update", "configOptions": options}));
    });
}

fn changed_mode(player: &mut Player) {
    player.opening["modes"] = modes();
    in_turn(player, |player| {
        player.update(&json!({"sessionUpdate": "current_mode_update", "currentModeId": "https://x/y#z"}));
    });
}

fn session_info(player: &mut Player) {
    in_turn(player, |player| {
        player.update(&json!({"sessionUpdate": "session_info_update", "title": "A title"}));
        player.update(&json!({"sessionUpdate": "session_info_update", "updatedAt": "2026-01-02T03:04:05Z"}));
        player.update(&json!({"sessionUpdate": "session_info_update", "title": null}));
    });
}

fn slow_setup(player: &mut Player) {
    if let Some(setup) = player.until("session/new") {
        player.listen(std::time::Duration::from_millis(700));
        player.note("session answered");
        player.serve(&setup);
    }
    in_turn(player, |_| {});
}

fn prompts_after_setup(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let opened = seen
        .recording
        .frames
        .iter()
        .position(|frame| frame.excerpt(usize::MAX).contains("\"sessionId\":\"session-1\""));
    let prompted =
        seen.recording.frames.iter().position(|frame| frame.excerpt(usize::MAX).contains("session/prompt"));
    ensure(opened.is_some() && opened < prompted, || {
        "session/prompt is sent before the session is there".into()
    })
}

fn one_prompt_at_a_time(seen: &Seen<'_>) -> Judged {
    // The witness finds a second prompt that overlaps the first; here it is enough that turns came one by one.
    seen.prompted()
}

fn between_turns(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        player.say(super::MARKER);
        player.end_turn(&prompt);
        player.say("and one more thing");
        player.update(&json!({"sessionUpdate": "available_commands_update", "availableCommands": []}));
        player.update(&json!({"sessionUpdate": "plan", "entries": []}));
    }
}

fn refusal(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        player.answer(&prompt, &json!({"stopReason": "refusal"}));
    }
}

fn odd_ends(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        player.answer(&prompt, &json!({"stopReason": "_accord_exploded"}));
    }
}

fn not_hanging(seen: &Seen<'_>) -> Judged {
    seen.prompted()?;
    match seen.status {
        None if seen.plain.ends => crate::wire::verdict::fail("the client hangs"),
        Some(status) if status.code().is_none() => {
            crate::wire::verdict::fail(format!("the client died: {status}"))
        }
        _ => Ok(()),
    }
}
