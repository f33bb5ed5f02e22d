//! session/close and session/delete: in every state, and what is left afterwards.

use serde_json::{Value, json};

use super::list::whole_list;
use super::restore::{past_session, restore, taken_up};
use super::{Check, Gate, gated};
use crate::wire::case::{Case, prompt};
use crate::wire::desk::Permission;
use crate::wire::verdict::{Judged, ensure, inconclusive};

const CLOSE: Gate = Gate::Offers("sessionCapabilities/close");
const DELETE: Gate = Gate::Offers("sessionCapabilities/delete");

pub(super) const CHECKS: &[Check] = &[
    gated("ACP-CLOSE-001", CLOSE, closes),
    gated("ACP-CLOSE-002", CLOSE, in_a_turn),
    gated("ACPX-CLOSE-002", CLOSE, later_prompts),
    gated("ACPX-CLOSE-003", CLOSE, unknown),
    gated("ACPX-CLOSE-004", CLOSE, pending_permission),
    gated("ACP-DELETE-001", DELETE, deletes),
    gated("ACP-DELETE-002", DELETE, deletes_again),
    gated("ACPX-DELETE-002", DELETE, leaves_the_list),
    gated("ACPX-DELETE-003", DELETE, load_after_delete),
    gated("ACPX-DELETE-004", DELETE, delete_in_a_turn),
];

fn empty(result: &Value) -> Judged {
    let empty = result.as_object().is_some_and(|members| members.keys().all(|name| name == "_meta"));
    ensure(empty, || format!("the result is {result}, not an empty object"))
}

fn closes(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    empty(&client.call("session/close", &json!({"sessionId": session}))?)
}

fn in_a_turn(case: &mut Case<'_>) -> Judged {
    let words = case.words("slow")?;
    let (mut client, session) = case.with_session()?;
    let turn = client.send("session/prompt", &prompt(&session, words));
    let from = client.heard.len();
    client.listen_until(client.patience(), |client| client.heard.len() > from || client.has_answer(&turn));
    if client.has_answer(&turn) {
        return inconclusive("the slow turn ended before the session was closed");
    }
    let close = client.send("session/close", &json!({"sessionId": session}));
    let reason = client.answer(&turn)?.result()?["stopReason"].clone();
    client.answer(&close)?.result()?;
    ensure(reason == "cancelled", || format!("the turn of the closed session ends with {reason}"))
}

fn later_prompts(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.call("session/prompt", &prompt(&session, &case.plain()))?;
    client.call("session/close", &json!({"sessionId": session}))?;
    client.ask("session/prompt", &prompt(&session, &case.plain()))?.error()?;
    let facts = &case.subject.facts;
    if facts.offers("loadSession") || facts.offers("sessionCapabilities/resume") {
        taken_up(restore(case, &mut client, &session)?)?;
        client.call("session/prompt", &prompt(&session, &case.plain()))?;
    }
    Ok(())
}

fn unknown(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.call("session/close", &json!({"sessionId": session}))?;
    client.ask("session/close", &json!({"sessionId": session}))?;
    client.ask("session/close", &json!({"sessionId": "accord-made-up"}))?;
    client.alive()
}

fn pending_permission(case: &mut Case<'_>) -> Judged {
    let words = case.words("tool")?.replace("{PATH}", "closed.txt").replace("{TEXT}", "x");
    case.desk.permission = Permission::Hold;
    let (mut client, session) = case.with_session()?;
    let turn = client.send("session/prompt", &prompt(&session, &words));
    client.listen_until(client.patience(), |client| !client.desk.held.is_empty() || client.has_answer(&turn));
    if client.desk.held.is_empty() {
        return inconclusive("the turn did not ask for permission");
    }
    client.call("session/close", &json!({"sessionId": session}))?;
    client.answer(&turn)?;
    client.desk.permission = Permission::Allow;
    for (id, method, params) in std::mem::take(&mut client.desk.held) {
        if let Some(reply) = client.desk.reply(&id, &method, &params) {
            client.say(&reply);
        }
    }
    client.alive()?;
    client.listen(case.subject.quiet);
    ensure(!case.cwd().join("closed.txt").exists(), || {
        "a late answer runs the tool of a closed session".into()
    })
}

fn deletes(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    empty(&client.call("session/delete", &json!({"sessionId": session}))?)
}

fn deletes_again(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    for id in [session.as_str(), session.as_str(), "accord-made-up"] {
        client.call("session/delete", &json!({"sessionId": id}))?;
    }
    Ok(())
}

fn leaves_the_list(case: &mut Case<'_>) -> Judged {
    if !case.subject.facts.offers("sessionCapabilities/list") {
        return inconclusive("session/list is not advertised");
    }
    let session = past_session(case, 1)?;
    let listed = |entries: &[Value]| entries.iter().any(|entry| entry["sessionId"] == session);
    let mut client = case.ready()?;
    if !listed(&whole_list(&mut client, &json!({}))?) {
        return inconclusive("the session was not listed to begin with");
    }
    client.call("session/delete", &json!({"sessionId": session}))?;
    ensure(!listed(&whole_list(&mut client, &json!({}))?), || "a deleted session is listed".into())?;
    client.process.kill();
    let mut client = case.ready()?;
    ensure(!listed(&whole_list(&mut client, &json!({}))?), || {
        "a deleted session is listed after a restart".into()
    })
}

fn load_after_delete(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.call("session/delete", &json!({"sessionId": session}))?;
    restore(case, &mut client, &session)?;
    client.alive()
}

fn delete_in_a_turn(case: &mut Case<'_>) -> Judged {
    let words = case.words("slow")?;
    let (mut client, session) = case.with_session()?;
    let turn = client.send("session/prompt", &prompt(&session, words));
    let from = client.heard.len();
    client.listen_until(client.patience(), |client| client.heard.len() > from || client.has_answer(&turn));
    client.ask("session/delete", &json!({"sessionId": session}))?;
    client.notify("session/cancel", &json!({"sessionId": session}));
    client.answer(&turn)?;
    client.alive()
}
