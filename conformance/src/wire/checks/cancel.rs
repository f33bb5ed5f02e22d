//! Cancelling: by `session/cancel` and by `$/cancel_request`, in a turn, beside one, and twice.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{Check, check};
use crate::wire::case::{Case, prompt};
use crate::wire::client::{Answer, Client, Sent};
use crate::wire::desk::Permission;
use crate::wire::verdict::{Judged, Stop, ensure, fail, inconclusive};

pub(super) const CHECKS: &[Check] = &[
    check("ACP-CANCEL-001", cancelled),
    check("ACP-CANCEL-002", silence_after),
    check("ACPX-CANCEL-001", soon),
    check("ACPX-CANCEL-002", in_a_tool),
    check("ACPX-CANCEL-003", idle),
    check("ACPX-CANCEL-004", in_one_write),
    check("ACPX-CANCEL-005", own_session_only),
    check("ACPX-CANCEL-006", pending_permission),
    check("ACPX-CANCEL-007", next_prompt),
    check("ACPX-CANCEL-012", twice),
    check("ACPX-RPC-024", reads_while_it_waits),
    check("ACPX-RPC-025", other_requests_meanwhile),
    check("ACPX-CREQ-001", never_answered),
    check("ACPX-CREQ-002", by_request_id),
    check("ACPX-CREQ-004", unknown_request_ids),
    check("ACPX-CREQ-006", by_request_or_session),
];

/// A slow turn that has begun: either an update came, or a moment passed.
fn slow(case: &Case<'_>, client: &mut Client, session: &str) -> Judged<Sent> {
    let sent = client.send("session/prompt", &prompt(session, case.words("slow")?));
    let from = client.heard.len();
    let limit = case.within(Duration::from_secs(2));
    client.listen_until(limit, |client| client.heard.len() > from || client.has_answer(&sent));
    if client.has_answer(&sent) {
        return inconclusive("the slow turn ended before it could be cancelled");
    }
    Ok(sent)
}

/// The answer to a cancelled prompt has the stop reason `cancelled`; where the simplest cancel has not, no other can be seen.
fn expect_cancelled(answer: Answer) -> Judged {
    let reason = answer.result()?["stopReason"].clone();
    if reason == "cancelled" {
        return Ok(());
    }
    Err(Stop::Follows("ACP-CANCEL-001", format!("the cancelled turn ends with {reason}")))
}

fn cancel(client: &mut Client, session: &str) {
    client.notify("session/cancel", &json!({"sessionId": session}));
}

fn cancelled(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let turn = slow(case, &mut client, &session)?;
    cancel(&mut client, &session);
    expect_cancelled(client.answer(&turn)?)
}

fn silence_after(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let turn = slow(case, &mut client, &session)?;
    cancel(&mut client, &session);
    let place = client.answer(&turn)?.place;
    client.listen(case.subject.quiet * 2);
    match client
        .heard
        .iter()
        .find(|heard| heard.place > place && heard.updates(&session) && is_output(heard.kind()))
    {
        Some(late) => fail(format!("{} follows the answer of the cancelled turn", late.kind())),
        None => Ok(()),
    }
}

fn is_output(kind: &str) -> bool {
    kind.ends_with("_chunk") || kind.starts_with("tool_call") || kind == "plan"
}

fn soon(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let turn = slow(case, &mut client, &session)?;
    let began = Instant::now();
    cancel(&mut client, &session);
    expect_cancelled(client.answer(&turn)?)?;
    let took = began.elapsed();
    ensure(took < case.within(Duration::from_secs(3)), || {
        format!("cancelling took {:.1} s", took.as_secs_f64())
    })
}

fn in_a_tool(case: &mut Case<'_>) -> Judged {
    let words = case.words("run")?.replace("{COMMAND}", "sleep 30");
    let (mut client, session) = case.with_session()?;
    let turn = client.send("session/prompt", &prompt(&session, &words));
    client.listen_until(client.patience(), |client| {
        client.desk.permissions_asked > 0 || client.has_answer(&turn)
    });
    client.listen(case.subject.quiet);
    if client.has_answer(&turn) {
        return inconclusive("the command did not run long enough");
    }
    cancel(&mut client, &session);
    expect_cancelled(client.answer(&turn)?)
}

fn idle(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    cancel(&mut client, &session);
    cancel(&mut client, "accord-made-up");
    client.alive()?;
    let result = client.call("session/prompt", &prompt(&session, &case.plain()))?;
    let reason = &result["stopReason"];
    ensure(reason != "cancelled", || "an idle cancel cancels the next turn".into())?;
    client.listen(case.subject.quiet);
    ensure(client.unclaimed().next().is_none(), || "an idle cancel is answered".into())
}

fn in_one_write(case: &mut Case<'_>) -> Judged {
    let words = case.words("slow")?;
    let (mut client, session) = case.with_session()?;
    let request = json!({"jsonrpc": "2.0", "id": "both", "method": "session/prompt", "params": prompt(&session, words)});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}});
    client.process.write(format!("{request}\n{cancel}\n"));
    expect_cancelled(client.answer(&Sent { id: json!("both"), method: "session/prompt".into() })?)
}

fn own_session_only(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let first = case.session(&mut client)?;
    let second = case.session(&mut client)?;
    let one = slow(case, &mut client, &first)?;
    let two = slow(case, &mut client, &second)?;
    cancel(&mut client, &first);
    expect_cancelled(client.answer(&one)?)?;
    client.listen(case.subject.quiet);
    if client.has_answer(&two) {
        let reason = client.answer(&two)?.result()?["stopReason"].clone();
        return ensure(reason != "cancelled", || "the cancel ends the other session's turn, too".into());
    }
    cancel(&mut client, &second);
    client.answer(&two).map(drop)
}

/// A turn that waits for a permission which the kit holds back.
fn waiting(case: &mut Case<'_>, file: &str) -> Judged<(Client, String, Sent)> {
    let words = case.words("tool")?.replace("{PATH}", file).replace("{TEXT}", "x");
    case.desk.permission = Permission::Hold;
    let (mut client, session) = case.with_session()?;
    let turn = client.send("session/prompt", &prompt(&session, &words));
    let asked = client
        .listen_until(client.patience(), |client| !client.desk.held.is_empty() || client.has_answer(&turn));
    if !asked || client.desk.held.is_empty() {
        return inconclusive("the turn did not ask for permission");
    }
    Ok((client, session, turn))
}

fn pending_permission(case: &mut Case<'_>) -> Judged {
    let (mut client, session, turn) = waiting(case, "late.txt")?;
    cancel(&mut client, &session);
    expect_cancelled(client.answer(&turn)?)?;
    let held = std::mem::take(&mut client.desk.held);
    client.desk.permission = Permission::Allow;
    for (id, method, params) in held {
        if let Some(reply) = client.desk.reply(&id, &method, &params) {
            client.say(&reply);
        }
    }
    client.alive()?;
    client.listen(case.subject.quiet);
    ensure(!case.cwd().join("late.txt").exists(), || "a late answer runs the tool of a cancelled turn".into())
}

fn reads_while_it_waits(case: &mut Case<'_>) -> Judged {
    let (mut client, session, turn) = waiting(case, "meanwhile.txt")?;
    client.alive()?;
    cancel(&mut client, &session);
    for (id, _, _) in std::mem::take(&mut client.desk.held) {
        client.say(&json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}}));
    }
    // How the turn ends is for others to say; here the cancel and the answer have to be read.
    client.answer(&turn).map(drop)
}

fn next_prompt(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let turn = slow(case, &mut client, &session)?;
    cancel(&mut client, &session);
    client.answer(&turn)?;
    let result = client.call("session/prompt", &prompt(&session, &case.plain()))?;
    ensure(result["stopReason"] == "end_turn", || format!("the next turn ends with {}", result["stopReason"]))
}

fn twice(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let turn = slow(case, &mut client, &session)?;
    cancel(&mut client, &session);
    cancel(&mut client, &session);
    client.answer(&turn)?;
    client.listen(case.subject.quiet);
    ensure(client.unclaimed().next().is_none(), || "two cancels give two answers".into())
}

fn other_requests_meanwhile(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let turn = slow(case, &mut client, &session)?;
    let other = case.session(&mut client)?;
    client.call("session/prompt", &prompt(&other, &case.plain()))?;
    if case.subject.facts.offers("sessionCapabilities/list") {
        client.call("session/list", &json!({}))?;
    }
    if client.has_answer(&turn) {
        return inconclusive("the slow turn ended too soon to tell");
    }
    cancel(&mut client, &session);
    client.answer(&turn).map(drop)
}

fn never_answered(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let turn = slow(case, &mut client, &session)?;
    client.notify("$/cancel_request", &json!({"requestId": turn.id}));
    client.notify("$/cancel_request", &json!({"requestId": "never-used"}));
    client.alive()?;
    cancel(&mut client, &session);
    client.answer(&turn)?;
    client.listen(case.subject.quiet);
    ensure(client.unclaimed().next().is_none(), || "$/cancel_request is answered itself".into())
}

fn by_request_id(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let turn = slow(case, &mut client, &session)?;
    client.notify("$/cancel_request", &json!({"requestId": turn.id}));
    let answer = client.answer(&turn)?;
    match answer.code() {
        Some(-32800) | None => Ok(()),
        Some(code) => fail(format!("a request cancelled by its id is answered with {code}")),
    }
}

fn unknown_request_ids(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    for params in [
        json!({"requestId": 99_999}),
        json!({"requestId": 0}),
        json!({"requestId": {}}),
        json!({}),
        json!([]),
    ] {
        client.notify("$/cancel_request", &params);
    }
    client.call("session/prompt", &prompt(&session, &case.plain()))?;
    ensure(client.unclaimed().next().is_none(), || "$/cancel_request is answered".into())
}

fn by_request_or_session(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let turn = slow(case, &mut client, &session)?;
    client.notify("$/cancel_request", &json!({"requestId": turn.id}));
    client.listen_until(case.subject.quiet * 2, |client| client.has_answer(&turn));
    if !client.has_answer(&turn) {
        cancel(&mut client, &session);
    }
    let answer = client.answer(&turn)?;
    let place = answer.place;
    if answer.code() != Some(-32800) {
        expect_cancelled(answer)?;
    }
    client.listen(case.subject.quiet);
    let late = client.heard.iter().any(|heard| heard.place > place && is_output(heard.kind()));
    ensure(!late, || "output follows the answer".into())
}
