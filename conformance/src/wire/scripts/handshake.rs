//! initialize, from the client's side: first, alone, truthful; and what the agent's answer may hold.

use std::time::Duration;

use serde_json::json;

use super::{Script, in_turn, script, survives};
use crate::wire::frame::Direction;
use crate::wire::player::{Player, SESSION};
use crate::wire::schema;
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure, inconclusive, skip};

pub(super) const SCRIPTS: &[Script] = &[
    script("ACPX-INIT-001", late_hello, waits_for_hello),
    script("ACPX-INIT-002", super::plain, asks_for_version_one),
    script("ACPX-INIT-003", super::plain, states_capabilities),
    script("ACPX-INIT-004", super::plain, names_itself),
    script("ACPX-INIT-005", other_version, gives_up),
    script("ACPX-INIT-006", uses_everything, refuses_what_it_did_not_offer),
    script("ACPX-INIT-007", everything_advertised, survives),
    script("ACPX-INIT-011", unknown_capabilities, survives),
    script("ACPX-INIT-012", wrong_types, survives),
    script("ACPX-INIT-014", super::plain, capability_types),
    script("ACPX-INIT-015", super::plain, implementation_fits),
];

fn late_hello(player: &mut Player) {
    if let Some(hello) = player.until("initialize") {
        player.note("hello held back");
        player.listen(Duration::from_millis(700));
        player.note("hello answered");
        player.serve(&hello);
    }
    in_turn(player, |_| {});
}

fn waits_for_hello(seen: &Seen<'_>) -> Judged {
    let messages: Vec<_> = seen.messages(Direction::ToAgent).collect();
    let Some((_, first)) = messages.first() else { return inconclusive("the client sent nothing") };
    ensure(first["method"] == "initialize", || format!("the first message is {}", first["method"]))?;
    let answered = seen.messages(Direction::ToClient).next().map_or(usize::MAX, |(place, _)| place);
    let early = messages.iter().skip(1).find(|(place, _)| *place < answered);
    ensure(early.is_none(), || "something else is sent before initialize was answered".into())
}

fn asks_for_version_one(seen: &Seen<'_>) -> Judged {
    let version = seen.plain.hello["protocolVersion"].clone();
    ensure(version.is_u64(), || format!("protocolVersion is {version}"))
}

fn states_capabilities(seen: &Seen<'_>) -> Judged {
    let capabilities = &seen.plain.hello["clientCapabilities"];
    // Who offers nothing may leave them out.
    let stated = capabilities.is_object() || capabilities.is_null();
    ensure(stated, || format!("clientCapabilities is {capabilities}"))
}

fn names_itself(seen: &Seen<'_>) -> Judged {
    let info = &seen.plain.hello["clientInfo"];
    let named = |member: &str| info[member].as_str().is_some_and(|text| !text.is_empty());
    ensure(named("name") && named("version"), || "clientInfo has no name and version".into())
}

fn other_version(player: &mut Player) {
    player.hello["protocolVersion"] = json!(99);
    if let Some(hello) = player.until("initialize") {
        player.serve(&hello);
        player.listen(Duration::from_secs(1));
    }
}

fn gives_up(seen: &Seen<'_>) -> Judged {
    ensure(seen.sent("session/new").is_empty(), || "session/new follows an unsupported version".into())?;
    seen.told_failure()
}

/// The calls that a client may have offered, each with the capability behind it.
const CALLS: [(&str, &str); 4] = [
    ("fs/read_text_file", "fs/readTextFile"),
    ("fs/write_text_file", "fs/writeTextFile"),
    ("terminal/create", "terminal"),
    ("elicitation/create", "elicitation/form"),
];

fn uses_everything(player: &mut Player) {
    in_turn(player, |player| {
        for (method, _) in CALLS {
            let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
            let params = json!({
                "sessionId": SESSION, "path": "/nonexistent/accord/file", "content": "x", "command": "true",
                "mode": "form", "message": "Why?", "requestedSchema": schema
            });
            let id = player.ask(method, &params);
            player.reply_within(&id, Duration::from_secs(2));
        }
    });
}

fn refuses_what_it_did_not_offer(seen: &Seen<'_>) -> Judged {
    seen.prompted()?;
    let mut tried = 0;
    for (method, capability) in CALLS {
        if seen.plain.offers(capability) {
            continue;
        }
        for id in seen.asked(method) {
            tried += 1;
            let answer = seen.answer(&id)?;
            // A form may be refused in its own way, too.
            let refused = answer.get("error").is_some()
                || matches!(answer["result"]["action"].as_str(), Some("cancel" | "decline"));
            ensure(refused, || format!("{method} is served, and was not offered"))?;
        }
    }
    if tried == 0 { skip("the client offers everything") } else { Ok(()) }
}

fn everything_advertised(player: &mut Player) {
    player.hello["agentCapabilities"] = json!({
        "loadSession": true,
        "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true},
        "mcpCapabilities": {"http": true, "sse": true},
        "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}},
        "auth": {"logout": {}},
    });
    in_turn(player, |_| {});
}

fn unknown_capabilities(player: &mut Player) {
    player.hello["agentCapabilities"] = json!({
        "teleport": {"range": 5},
        "sessionCapabilities": {"rewind": {}},
        "promptCapabilities": {"smell": true},
    });
    in_turn(player, |_| {});
}

fn wrong_types(player: &mut Player) {
    player.hello["agentCapabilities"] = json!({
        "loadSession": "perhaps", "sessionCapabilities": [], "promptCapabilities": {"image": 3}, "auth": null
    });
    in_turn(player, |_| {});
}

fn capability_types(seen: &Seen<'_>) -> Judged {
    let capabilities = &seen.plain.hello["clientCapabilities"];
    if capabilities.is_null() {
        return Ok(());
    }
    let faults = schema::stable().faults("ClientCapabilities", capabilities);
    ensure(faults.is_empty(), || faults.join("; "))
}

fn implementation_fits(seen: &Seen<'_>) -> Judged {
    let info = &seen.plain.hello["clientInfo"];
    if info.is_null() {
        return skip("the client gives no clientInfo");
    }
    let faults = schema::stable().faults("Implementation", info);
    ensure(faults.is_empty(), || faults.join("; "))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::Value;

    use super::*;
    use crate::wire::frame::{Direction, Frame};
    use crate::wire::seen::Plain;

    fn judged(answer: &Value) -> Judged {
        let plain = Plain::default();
        let mut seen = Seen::nothing(&plain);
        let line =
            |direction, line: &Value| Frame::new(Duration::ZERO, direction, line.to_string().into_bytes());
        seen.recording.frames = vec![
            line(Direction::ToAgent, &json!({"jsonrpc": "2.0", "id": 0, "method": "session/prompt"})),
            line(Direction::ToClient, &json!({"jsonrpc": "2.0", "id": 7, "method": "elicitation/create"})),
            line(Direction::ToAgent, answer),
        ];
        refuses_what_it_did_not_offer(&seen)
    }

    #[test]
    fn a_form_refused_by_its_own_means_is_not_served() {
        let answer = |action: &str| json!({"jsonrpc": "2.0", "id": 7, "result": {"action": action}});
        assert_eq!(judged(&answer("cancel")), Ok(()));
        assert!(judged(&answer("accept")).is_err());
    }
}
