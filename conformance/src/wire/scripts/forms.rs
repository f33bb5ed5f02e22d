//! Elicitation, from the client's side: offered modes only, answers that fit the form, unknown things never taken for known ones.

use serde_json::{Value, json};

use super::{Script, in_turn, needing, script};
use crate::wire::player::{Player, SESSION};
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure, inconclusive, skip};

pub(super) const SCRIPTS: &[Script] = &[
    needing("ACPX-ELIC-008", "elicitation/form", every_property, content_fits),
    script("ACPX-ELIC-011", both_modes, refuses_other_modes),
    needing("ACPX-ELIC-012", "elicitation/form", every_property, action_fits),
    needing("ACPX-ELIC-017", "elicitation/url", unknown_completion, super::survives),
    script("ACPX-ELIC-018", unknown_mode, never_accepted),
];

fn form(properties: &Value, required: &Value) -> Value {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"sessionId": SESSION, "mode": "form", "message": "A few questions", "requestedSchema": schema})
}

fn every_property(player: &mut Player) {
    in_turn(player, |player| {
        let properties = json!({
            "name": {"type": "string", "title": "Name", "minLength": 2, "default": "Ada"},
            "mail": {"type": "string", "format": "email", "default": "ada@example.com"},
            "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
            "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}], "default": "l"},
            "weight": {"type": "number", "minimum": 0.5, "default": 1.5},
            "count": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "sure": {"type": "boolean", "default": true},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]},
        });
        let id = player.ask("elicitation/create", &form(&properties, &json!(["name", "count"])));
        player.reply(&id);
    });
}

fn action_fits(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for id in seen.asked("elicitation/create") {
        let action = seen.result(&id)?["action"].clone();
        let known = matches!(action.as_str(), Some("accept" | "decline" | "cancel"));
        ensure(known, || format!("the action is {action}"))?;
    }
    Ok(())
}

fn content_fits(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let result = seen.result(&json!(0))?;
    if result["action"] != "accept" {
        return inconclusive(format!("the client answers {}", result["action"]));
    }
    let content = &result["content"];
    let text = |name: &str| content[name].as_str();
    ensure(text("name").is_some_and(|name| name.len() >= 2), || format!("name is {}", content["name"]))?;
    ensure(content["count"].as_i64().is_some_and(|count| (1..=9).contains(&count)), || {
        format!("count is {}", content["count"])
    })?;
    let optional = |name: &str, fits: bool| {
        ensure(content[name].is_null() || fits, || format!("{name} is {}", content[name]))
    };
    optional("mail", text("mail").is_some_and(|mail| mail.contains('@')))?;
    optional("colour", matches!(text("colour"), Some("red" | "green")))?;
    optional("size", matches!(text("size"), Some("s" | "l")))?;
    optional("weight", content["weight"].as_f64().is_some_and(|weight| weight >= 0.5))?;
    optional("sure", content["sure"].is_boolean())?;
    let tags = content["tags"].as_array();
    optional("tags", tags.is_some_and(|tags| tags.iter().all(|tag| tag == "a" || tag == "b")))
}

fn both_modes(player: &mut Player) {
    in_turn(player, |player| {
        let id = player.ask("elicitation/create", &form(&json!({"a": {"type": "string"}}), &json!([])));
        player.reply(&id);
        let url = json!({
            "sessionId": SESSION, "mode": "url", "message": "Please look", "elicitationId": "e1", "url": "https://example.com/accord"
        });
        let id = player.ask("elicitation/create", &url);
        player.reply(&id);
    });
}

fn refuses_other_modes(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let mut tried = 0;
    for (id, mode) in [(0, "form"), (1, "url")] {
        if seen.plain.offers(&format!("elicitation/{mode}")) {
            continue;
        }
        tried += 1;
        let answer = seen.answer(&json!(id))?;
        let code = &answer["error"]["code"];
        let none = !seen.plain.offers("elicitation");
        ensure(*code == -32602 || (none && *code == -32601), || {
            let given = answer.get("error").or(answer.get("result")).unwrap_or(&answer);
            format!("mode {mode} was not offered, and is answered with {given}, not with the error -32602")
        })?;
    }
    if tried == 0 { skip("the client offers both modes") } else { Ok(()) }
}

fn unknown_completion(player: &mut Player) {
    in_turn(player, |player| {
        for id in ["never-asked", "never-asked"] {
            player.notify("elicitation/complete", &json!({"elicitationId": id}));
        }
    });
}

fn unknown_mode(player: &mut Player) {
    in_turn(player, |player| {
        let mut params = form(&json!({"a": {"type": "string"}}), &json!([]));
        params["mode"] = json!("_accord/telepathy");
        let id = player.ask("elicitation/create", &params);
        player.reply(&id);
        let odd = form(&json!({"a": {"type": "hologram"}}), &json!(["a"]));
        let id = player.ask("elicitation/create", &odd);
        player.reply(&id);
    });
}

fn never_accepted(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for id in seen.asked("elicitation/create") {
        let answer = seen.answer(&id)?;
        let accepted = answer["result"]["action"] == "accept";
        ensure(!accepted, || "what the client cannot know is answered with accept".into())?;
    }
    Ok(())
}
