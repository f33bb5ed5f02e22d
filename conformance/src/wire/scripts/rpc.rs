//! JSON-RPC from the agent: ids, notifications, stray and odd answers, unknown names, cancelled requests.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Script, in_turn, script, survives};
use crate::wire::player::{Player, SESSION, permission};
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure, fail, inconclusive};

pub(super) const SCRIPTS: &[Script] = &[
    script("ACPX-RPC-002", odd_ids, same_ids),
    script("ACPX-RPC-003", several_kinds, one_answer_each),
    script("ACPX-RPC-004", notifications, nothing_answered),
    script("ACPX-RPC-009", clients_own_ids, answered_and_survived),
    script("ACPX-RPC-013", bad_params, invalid_params),
    script("ACPX-RPC-014", unknown_method, method_not_found),
    script("ACPX-RPC-015", notifications, survives),
    script("ACPX-RPC-017", stray_answers, survives),
    script("ACPX-RPC-018", unusual_code, not_hanging),
    script("ACPX-RPC-019", odd_error_data, not_hanging),
    script("ACPX-RPC-022", lenient_values, survives),
    script("ACPX-RPC-023", unknown_fields, survives),
    script("ACPX-RPC-024", question_behind_question, answered_and_survived),
    script("ACPX-RPC-026", fractional_id, echoed_or_refused),
    script("ACPX-CREQ-001", cancel_requests, nothing_answered),
    script("ACPX-CREQ-002", cancelled_question, result_or_cancelled),
    script("ACPX-CREQ-004", cancel_requests, survives),
    script("ACPX-CREQ-008", cancelled_question, result_or_cancelled),
    script("ACPX-EXT-003", unknown_extension, any_answer),
    script("ACPX-EXT-004", unknown_extension, method_not_found),
    script("ACPX-EXT-005", notifications, survives),
    script("ACPX-EXT-008", odd_meta, survives),
    script("ACPX-SESS-015", odd_meta, survives),
];

fn ids() -> [Value; 6] {
    [json!(0), json!(""), json!("7"), json!(i64::MAX), json!(i64::MIN), json!("\u{fc} \"")]
}

fn odd_ids(player: &mut Player) {
    in_turn(player, |player| {
        for id in ids() {
            player.ask_as(&id, "session/request_permission", &permission("odd-ids"));
            player.reply(&id);
        }
    });
}

fn same_ids(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    ids().iter().try_for_each(|id| seen.answer(id).map(drop))
}

fn several_kinds(player: &mut Player) {
    in_turn(player, |player| {
        let asked = player.permission("once");
        let unknown = player.ask("_accord/ask", &json!({}));
        let file =
            player.ask("fs/read_text_file", &json!({"sessionId": SESSION, "path": "/nonexistent/accord"}));
        for id in [asked, unknown, file] {
            player.reply(&id);
        }
        player.listen(Duration::from_millis(300));
    });
}

fn one_answer_each(seen: &Seen<'_>) -> Judged {
    seen.prompted()?;
    (0..3).try_for_each(|id| seen.answer(&json!(id)).map(drop))
}

fn notifications(player: &mut Player) {
    in_turn(player, |player| {
        for method in ["_accord/news", "x/y", "$/progress", "session/does_not_exist"] {
            player.notify(method, &json!({"any": ["thing"]}));
        }
        player.listen(Duration::from_millis(500));
    });
}

fn nothing_answered(seen: &Seen<'_>) -> Judged {
    seen.prompted()?;
    let complaints = seen.complaints();
    ensure(complaints.is_empty(), || format!("a notification was answered: {}", complaints[0]))
}

/// The agent's ids are the client's own, at the same time.
fn clients_own_ids(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        player.ask_as(&prompt["id"], "_accord/ask", &json!({}));
        player.reply(&prompt["id"]);
        player.say(super::MARKER);
        player.end_turn(&prompt);
    }
}

fn answered_and_survived(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let asked = seen.asked("_accord/ask");
    ensure(!asked.is_empty(), || "nothing was asked".into())?;
    asked.iter().try_for_each(|id| seen.answer(id).map(drop))
}

fn bad_params(player: &mut Player) {
    in_turn(player, |player| {
        for params in [json!({}), json!({"sessionId": 5, "options": "none"}), json!(5)] {
            let id = player.ask("session/request_permission", &params);
            player.reply(&id);
        }
    });
}

fn invalid_params(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    // To JSON-RPC, params that are neither object nor array make a request invalid, and its answer has no id.
    let nameless = seen.complaints().iter().any(|complaint| complaint["error"]["code"] == -32600);
    for id in seen.asked("session/request_permission") {
        if nameless && seen.answers(&id).is_empty() {
            continue;
        }
        let code = seen.answer(&id)?["error"]["code"].clone();
        ensure(code == -32602, || {
            format!("a permission request without its params is answered with {code}")
        })?;
    }
    Ok(())
}

fn unknown_method(player: &mut Player) {
    in_turn(player, |player| {
        let id = player.ask("x/ask", &json!({}));
        player.reply(&id);
    });
}

fn unknown_extension(player: &mut Player) {
    in_turn(player, |player| {
        let id = player.ask("_accord/ask", &json!({"deep": {"er": []}}));
        player.reply(&id);
    });
}

fn any_answer(seen: &Seen<'_>) -> Judged {
    seen.prompted()?;
    seen.answer(&json!(0)).map(drop)
}

fn method_not_found(seen: &Seen<'_>) -> Judged {
    seen.prompted()?;
    let code = seen.answer(&json!(0))?["error"]["code"].clone();
    ensure(code == -32601, || format!("an unknown method is answered with {code}"))
}

fn stray_answers(player: &mut Player) {
    in_turn(player, |player| {
        for stray in [
            json!({"jsonrpc": "2.0", "id": 99_999, "result": {}}),
            json!({"jsonrpc": "2.0", "id": "stray", "error": {"code": -1, "message": "stray"}}),
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "stray"}}),
            json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": "no id at all"}}),
        ] {
            player.send(&stray);
        }
    });
}

fn unusual_code(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        player.refuse(&prompt, 4242, "an unusual code");
    }
}

fn odd_error_data(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        let error = json!({"code": -32603, "message": "with data", "data": [null, 5, {"a": "b"}]});
        player.send(&json!({"jsonrpc": "2.0", "id": prompt["id"], "error": error}));
    }
}

fn not_hanging(seen: &Seen<'_>) -> Judged {
    seen.prompted()?;
    match seen.status {
        None if seen.plain.ends => fail("the client hangs after an error answer"),
        Some(status) if status.code().is_none() => fail(format!("the client died: {status}")),
        _ => Ok(()),
    }
}

fn lenient_values(player: &mut Player) {
    player.hello["agentInfo"] = json!(7);
    player.hello["authMethods"] = json!(null);
    player.hello["agentCapabilities"] =
        json!({"promptCapabilities": "many", "loadSession": "yes", "mcpCapabilities": null});
    player.opening["modes"] = json!(null);
    in_turn(player, |player| {
        let call = json!({
            "sessionUpdate": "tool_call", "toolCallId": "t", "title": "Odd", "kind": 5, "status": {},
            "content": [5, {"type": "content", "content": {"type": "text", "text": "kept"}}], "locations": "nowhere"
        });
        player.update(&call);
        player.update(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": null, "status": null}),
        );
    });
}

fn unknown_fields(player: &mut Player) {
    player.hello["future"] = json!([1]);
    player.hello["agentCapabilities"]["future"] = json!({});
    player.opening["future"] = json!({"a": 1});
    in_turn(player, |player| {
        let content = json!({"type": "text", "text": "with more", "future": 1});
        player.update(&json!({"sessionUpdate": "agent_message_chunk", "content": content, "future": {}}));
        let mut params = permission("future");
        params["future"] = json!(1);
        params["options"][0]["future"] = json!([]);
        let id = player.ask("session/request_permission", &params);
        player.reply(&id);
    });
}

fn question_behind_question(player: &mut Player) {
    in_turn(player, |player| {
        let first = player.permission("first");
        let second = player.ask("_accord/ask", &json!({}));
        player.reply(&second);
        player.reply(&first);
    });
}

fn fractional_id(player: &mut Player) {
    in_turn(player, |player| {
        player.ask_as(&json!(1.5), "_accord/ask", &json!({}));
        player.listen(Duration::from_millis(700));
    });
}

fn echoed_or_refused(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let echoed = !seen.answers(&json!(1.5)).is_empty();
    let refused = seen.complaints().iter().any(|answer| answer["error"]["code"] == -32600);
    ensure(echoed || refused, || "the request 1.5 was neither echoed nor refused".into())
}

fn cancel_requests(player: &mut Player) {
    in_turn(player, |player| {
        for params in
            [json!({"requestId": 99_999}), json!({"requestId": "x"}), json!({"requestId": {}}), json!({})]
        {
            player.notify("$/cancel_request", &params);
        }
        player.listen(Duration::from_millis(300));
    });
}

fn cancelled_question(player: &mut Player) {
    in_turn(player, |player| {
        let id = player.permission("withdrawn");
        player.notify("$/cancel_request", &json!({"requestId": id}));
        player.reply(&id);
    });
}

fn result_or_cancelled(seen: &Seen<'_>) -> Judged {
    seen.prompted()?;
    let Some(id) = seen.asked("session/request_permission").pop() else {
        return inconclusive("no permission was asked for");
    };
    let answer = seen.answer(&id)?;
    let code = &answer["error"]["code"];
    if *code == -32601 {
        return inconclusive("the client never takes permission requests, cancelled or not");
    }
    ensure(code.is_null() || *code == -32800, || format!("a cancelled request is answered with {code}"))
}

fn odd_meta(player: &mut Player) {
    let meta = json!({"": null, "a b": 1.5, "traceparent": 5, "x": {"y": []}});
    player.hello["_meta"] = meta.clone();
    player.opening["_meta"] = meta.clone();
    in_turn(player, |player| {
        let content = json!({"type": "text", "text": "with meta", "_meta": meta});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content, "_meta": meta});
        player.notify("session/update", &json!({"sessionId": SESSION, "update": update, "_meta": meta}));
        player.notify("session/update", &json!({"sessionId": SESSION, "update": update, "_meta": null}));
        let mut params = permission("meta");
        params["_meta"] = meta.clone();
        let id = player.ask("session/request_permission", &params);
        player.reply(&id);
    });
}
