//! Permission requests: asked before the tool runs, and nothing but a yes counts as one.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::prompts::turn;
use super::{Check, check};
use crate::wire::case::{Case, prompt};
use crate::wire::client::Client;
use crate::wire::desk::Permission;
use crate::wire::schema;
use crate::wire::verdict::{Judged, ensure, inconclusive};

pub(super) const CHECKS: &[Check] = &[
    check("ACPX-PERM-002", request_fits),
    check("ACPX-PERM-003", call_first),
    check("ACPX-PERM-004", waits),
    check("ACPX-PERM-005", rejected),
    check("ACPX-PERM-006", only_yes_counts),
    check("ACPX-PERM-012", always_is_remembered),
    check("ACPX-RPC-019", error_data),
    check("ACPX-TOOL-001", calls_are_reported),
    check("ACPX-TOOL-006", in_progress),
    check("ACPX-TOOL-007", ends),
    check("ACPX-TOOL-010", name_is_stable),
];

/// A turn with a tool that writes `name`; says whether the agent asked for permission.
fn tool_turn(case: &mut Case<'_>, permission: Permission, name: &str) -> Judged<(Client, String, PathBuf)> {
    let words = words(case, name)?;
    case.desk.permission = permission;
    let (mut client, session) = case.with_session()?;
    turn(&mut client, &prompt(&session, &words))?;
    if client.desk.permissions_asked == 0 {
        return inconclusive("the turn did not ask for permission");
    }
    Ok((client, session, case.cwd().join(name)))
}

fn words(case: &Case<'_>, name: &str) -> Judged<String> {
    Ok(case.words("tool")?.replace("{PATH}", name).replace("{TEXT}", "written"))
}

fn requests(client: &Client) -> impl Iterator<Item = &Value> {
    client
        .heard
        .iter()
        .filter(|heard| heard.method == "session/request_permission")
        .map(|heard| &heard.params)
}

fn updates<'c>(client: &'c Client, call: &'c Value) -> impl Iterator<Item = &'c Value> {
    let updates = client.heard.iter().map(|heard| &heard.params["update"]);
    updates.filter(move |update| update["toolCallId"] == *call && !call.is_null())
}

fn request_fits(case: &mut Case<'_>) -> Judged {
    let (client, session, _) = tool_turn(case, Permission::Allow, "fits.txt")?;
    for params in requests(&client) {
        let faults = schema::stable().faults("RequestPermissionRequest", params);
        ensure(faults.is_empty(), || faults.join("; "))?;
        ensure(params["sessionId"] == session, || "the request names another session".into())?;
    }
    Ok(())
}

fn call_first(case: &mut Case<'_>) -> Judged {
    let (client, _, _) = tool_turn(case, Permission::Allow, "first.txt")?;
    let asked = client
        .heard
        .iter()
        .position(|heard| heard.method == "session/request_permission")
        .unwrap_or_default();
    let id = &client.heard[asked].params["toolCall"]["toolCallId"];
    let announced = client.heard[..asked]
        .iter()
        .any(|heard| heard.kind() == "tool_call" && heard.params["update"]["toolCallId"] == *id);
    ensure(announced, || format!("permission for tool call {id} is asked before the call is reported"))
}

fn waits(case: &mut Case<'_>) -> Judged {
    let words = words(case, "waits.txt")?;
    case.desk.permission = Permission::Hold;
    let (mut client, session) = case.with_session()?;
    let sent = client.send("session/prompt", &prompt(&session, &words));
    client.listen_until(client.patience(), |client| !client.desk.held.is_empty() || client.has_answer(&sent));
    if client.desk.held.is_empty() {
        return inconclusive("the turn did not ask for permission");
    }
    client.listen(case.subject.quiet * 2);
    ensure(!client.has_answer(&sent), || "the turn ends while its permission request is open".into())?;
    ensure(!case.cwd().join("waits.txt").exists(), || "the tool runs before it is permitted".into())?;
    client.desk.permission = Permission::Reject;
    for (id, method, params) in std::mem::take(&mut client.desk.held) {
        if let Some(reply) = client.desk.reply(&id, &method, &params) {
            client.say(&reply);
        }
    }
    client.answer(&sent).map(drop)
}

fn rejected(case: &mut Case<'_>) -> Judged {
    let (_, _, file) = tool_turn(case, Permission::Reject, "rejected.txt")?;
    ensure(!file.exists(), || "a rejected tool runs".into())
}

fn only_yes_counts(case: &mut Case<'_>) -> Judged {
    for permission in
        [Permission::Cancelled, Permission::Error, Permission::NotOffered, Permission::Malformed]
    {
        let what = format!("{permission:?}");
        let words = words(case, "never.txt")?;
        case.desk.permission = permission;
        let (mut client, session) = case.with_session()?;
        let answer = client.ask("session/prompt", &prompt(&session, &words))?;
        if client.desk.permissions_asked == 0 {
            return inconclusive("the turn did not ask for permission");
        }
        drop(answer);
        ensure(!case.cwd().join("never.txt").exists(), || format!("the tool runs after the answer {what}"))?;
        let calls: Vec<&Value> = requests(&client).map(|params| &params["toolCall"]["toolCallId"]).collect();
        let completed = calls
            .into_iter()
            .any(|call| updates(&client, call).any(|update| update["status"] == "completed"));
        ensure(!completed, || format!("the tool completes after the answer {what}"))?;
    }
    Ok(())
}

fn always_is_remembered(case: &mut Case<'_>) -> Judged {
    let (mut client, session, _) = tool_turn(case, Permission::AllowAlways, "always.txt")?;
    let offered =
        requests(&client).flat_map(|params| params["options"].as_array().cloned().unwrap_or_default());
    if !offered.into_iter().any(|option| option["kind"] == "allow_always") {
        return inconclusive("the agent offers nothing for good");
    }
    let asked = client.desk.permissions_asked;
    turn(&mut client, &prompt(&session, &words(case, "always.txt")?))?;
    ensure(client.desk.permissions_asked == asked, || {
        "the same operation is asked again after allow_always".into()
    })?;
    let (mut client, session, _) = tool_turn(case, Permission::Allow, "once.txt")?;
    let asked = client.desk.permissions_asked;
    turn(&mut client, &prompt(&session, &words(case, "once.txt")?))?;
    ensure(client.desk.permissions_asked > asked, || "allow_once is remembered".into())
}

fn error_data(case: &mut Case<'_>) -> Judged {
    for data in [json!(null), json!("text"), json!([1, {"a": null}]), json!(5)] {
        let words = words(case, "data.txt")?;
        case.desk.permission = Permission::Hold;
        let (mut client, session) = case.with_session()?;
        let sent = client.send("session/prompt", &prompt(&session, &words));
        client.listen_until(client.patience(), |client| {
            !client.desk.held.is_empty() || client.has_answer(&sent)
        });
        for (id, _, _) in std::mem::take(&mut client.desk.held) {
            let error = json!({"code": 4242, "message": "an unusual code", "data": data});
            client.say(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
        client.answer(&sent)?;
        client.alive()?;
    }
    Ok(())
}

fn calls_are_reported(case: &mut Case<'_>) -> Judged {
    let (client, _, file) = tool_turn(case, Permission::Allow, "reported.txt")?;
    let reported = client.heard.iter().any(|heard| heard.kind() == "tool_call");
    ensure(reported, || format!("{} was written, and no tool_call was sent", file.display()))
}

fn in_progress(case: &mut Case<'_>) -> Judged {
    let (client, _, _) = tool_turn(case, Permission::Allow, "progress.txt")?;
    let call =
        requests(&client).next().map(|params| params["toolCall"]["toolCallId"].clone()).unwrap_or_default();
    let seen = updates(&client, &call).any(|update| update["status"] == "in_progress");
    ensure(seen, || "the tool never went to in_progress".into())
}

fn ends(case: &mut Case<'_>) -> Judged {
    for permission in [Permission::Allow, Permission::Reject] {
        let (client, _, _) = tool_turn(case, permission, "ends.txt")?;
        let call = requests(&client)
            .next()
            .map(|params| params["toolCall"]["toolCallId"].clone())
            .unwrap_or_default();
        let last = updates(&client, &call).filter_map(|update| update["status"].as_str()).last();
        ensure(matches!(last, Some("completed" | "failed")), || {
            format!("the tool's last status is {}", last.unwrap_or("none"))
        })?;
    }
    Ok(())
}

fn name_is_stable(case: &mut Case<'_>) -> Judged {
    let (client, _, _) = tool_turn(case, Permission::Allow, "name.txt")?;
    let call =
        requests(&client).next().map(|params| params["toolCall"]["toolCallId"].clone()).unwrap_or_default();
    let mut names: Vec<&str> = updates(&client, &call).filter_map(|update| update["name"].as_str()).collect();
    let first = updates(&client, &call).next().is_some_and(|update| update["name"].is_string());
    names.dedup();
    match names.len() {
        0 => inconclusive("the agent gives no tool names"),
        1 => ensure(first, || "the name comes only with a later update".into()),
        _ => ensure(false, || format!("the tool's name changes: {}", names.join(", "))),
    }
}
