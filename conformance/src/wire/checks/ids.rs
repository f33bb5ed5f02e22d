//! Request ids: given back as they came, whatever they are, once each.

use serde_json::{Value, json};

use super::{Check, check};
use crate::wire::case::{Case, prompt};
use crate::wire::client::{Client, Sent};
use crate::wire::desk::Permission;
use crate::wire::verdict::{Judged, ensure, fail, inconclusive};

pub(super) const CHECKS: &[Check] = &[
    check("ACP-JSONRPC-001", given_back),
    check("ACPX-RPC-005", one_answer_each),
    check("ACPX-RPC-007", whole_range),
    check("ACPX-RPC-008", null_is_an_id),
    check("ACPX-RPC-016", answers_in_any_order),
    check("ACPX-RPC-017", stray_answers),
    check("ACPX-RPC-026", fractional),
];

fn given_back(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    for id in
        [json!(7), json!("7"), json!("abc"), json!(0), json!(""), json!(4_294_967_297_i64), json!("ü 😀 \"")]
    {
        same_id(&mut client, id)?;
    }
    Ok(())
}

fn whole_range(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    for id in [9_007_199_254_740_993, i64::MAX, i64::MIN, -1] {
        same_id(&mut client, json!(id))?;
    }
    Ok(())
}

fn same_id(client: &mut Client, id: Value) -> Judged {
    let sent = client.send_as(id, "_accord/id", &json!({}));
    client.answer(&sent).map(drop).or_else(|stop| {
        // The answer came, under another id: say which.
        let other = client.unclaimed().next().map(|(id, _)| id.clone());
        match other {
            Some(other) => fail(format!("the request {} is answered under the id {other}", sent.id)),
            None => Err(stop),
        }
    })
}

fn one_answer_each(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let sent: Vec<Sent> = (0..10).map(|_| client.send("_accord/once", &json!({}))).collect();
    let turn = client.send("session/prompt", &prompt(&session, &case.plain()));
    client.notify("session/cancel", &json!({"sessionId": session}));
    client.notify("session/cancel", &json!({"sessionId": session}));
    for sent in sent.iter().chain([&turn]) {
        client.answer(sent)?;
    }
    client.listen(case.subject.quiet);
    match client.unclaimed().next() {
        Some((id, _)) => fail(format!("a second answer, or one to a request never sent, under the id {id}")),
        None => Ok(()),
    }
}

fn null_is_an_id(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let sent = client.send_as(json!(null), "_accord/id", &json!({}));
    client.answer(&sent).map(drop)
}

/// Two questions are answered in reverse, one with yes and one with no: each answer belongs to its own question.
fn answers_in_any_order(case: &mut Case<'_>) -> Judged {
    let words = case.words("tool")?;
    let named = words.contains("{PATH}");
    case.desk.permission = Permission::Hold;
    let mut client = case.ready()?;
    let sessions = [case.session(&mut client)?, case.session(&mut client)?];
    let turns = ["no.txt", "yes.txt"].iter().zip(&sessions).map(|(file, session)| {
        let words = words.replace("{PATH}", file).replace("{TEXT}", "x");
        client.send("session/prompt", &prompt(session, &words))
    });
    let turns: Vec<Sent> = turns.collect();
    if !client.listen_until(client.patience(), |client| client.desk.held.len() == 2) {
        return inconclusive("the two turns did not both ask for permission");
    }
    let mut held = std::mem::take(&mut client.desk.held);
    // The questions may come in either order; the later one is answered first.
    held.reverse();
    for (id, method, params) in held {
        let yes = params["sessionId"] == sessions[1];
        client.desk.permission = if yes { Permission::Allow } else { Permission::Reject };
        if let Some(reply) = client.desk.reply(&id, &method, &params) {
            client.say(&reply);
        }
    }
    for turn in &turns {
        client.answer(turn)?.result()?;
    }
    let there = |name: &str| case.cwd().join(name).exists();
    ensure(!named || !there("no.txt"), || "an answer is taken for that to the other question".into())?;
    ensure(!named || there("yes.txt"), || "the permitted tool did not run".into())
}

fn stray_answers(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    for stray in [
        json!({"jsonrpc": "2.0", "id": 99_999, "result": {}}),
        json!({"jsonrpc": "2.0", "id": "stray", "error": {"code": -1, "message": "stray"}}),
        json!({"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "cancelled"}}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "stray"}}),
    ] {
        client.say(&stray);
    }
    client.call("session/prompt", &prompt(&session, &case.plain()))?;
    let answered = client.unclaimed().next().is_some();
    ensure(!answered, || "a response-shaped line was answered".into())
}

fn fractional(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.send_as(json!(1.5), "_accord/id", &json!({}));
    client.alive()?;
    client.listen(case.subject.quiet);
    let ids: Vec<String> = client.unclaimed().map(|(id, _)| id.clone()).collect();
    match ids.as_slice() {
        [id] if id == "1.5" => Ok(()),
        [id] if id == "null" => Ok(()),
        [] => fail("the request is dropped without an answer"),
        other => fail(format!("the request 1.5 is answered under {}", other.join(", "))),
    }
}
