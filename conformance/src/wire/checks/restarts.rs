//! Processes that end, gently or by `kill -9`, and what the next one still knows.

use std::fs;

use serde_json::{Value, json};

use super::list::whole_list;
use super::prompts::turn;
use super::restore::{past_session, restore, taken_up};
use super::{Check, Gate, gated};
use crate::wire::case::{Case, prompt};
use crate::wire::verdict::{Judged, ensure, inconclusive};

const LIST: Gate = Gate::Offers("sessionCapabilities/list");
const STORED: Gate =
    Gate::OffersAny(&["sessionCapabilities/list", "loadSession", "sessionCapabilities/resume"]);
const RESTORED: Gate = Gate::OffersAny(&["loadSession", "sessionCapabilities/resume"]);

pub(super) const CHECKS: &[Check] = &[
    gated("ACPX-RESTART-001", STORED, killed_after_new),
    gated("ACPX-RESTART-002", LIST, same_list),
    gated("ACPX-RESTART-003", Gate::Offers("loadSession"), loads_in_a_new_process),
    gated("ACPX-RESTART-004", Gate::Offers("sessionCapabilities/resume"), resumes_in_a_new_process),
    gated("ACPX-RESTART-005", RESTORED, settings_survive),
    gated("ACPX-RESTART-006", STORED, killed_in_a_turn),
    gated("ACPX-RESTART-007", LIST, two_processes),
    gated("ACPX-RESTART-008", LIST, damaged_record),
];

fn listed(entries: &[Value], session: &str) -> bool {
    entries.iter().any(|entry| entry["sessionId"] == session)
}

/// Whether a session can be found again, by list or by restoring it.
fn found(case: &mut Case<'_>, session: &str) -> Judged<bool> {
    let mut client = case.ready()?;
    if case.subject.facts.offers("sessionCapabilities/list") {
        return Ok(listed(&whole_list(&mut client, &json!({}))?, session));
    }
    Ok(restore(case, &mut client, session)?.outcome.is_ok())
}

fn killed_after_new(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.process.kill();
    let found = found(case, &session)?;
    ensure(found, || "the session is gone after kill -9 right behind the answer".into())
}

fn same_list(case: &mut Case<'_>) -> Judged {
    let session = past_session(case, 1)?;
    let mut lists = Vec::new();
    for _ in 0..2 {
        let mut client = case.ready()?;
        let entries = whole_list(&mut client, &json!({}))?;
        let mut known: Vec<(Value, Value)> =
            entries.iter().map(|entry| (entry["sessionId"].clone(), entry["cwd"].clone())).collect();
        known.sort_by_key(|(id, _)| id.to_string());
        lists.push(known);
        client.finish(client.patience())?;
    }
    ensure(lists[0].iter().any(|(id, _)| *id == json!(session)), || "the session is not listed".into())?;
    ensure(lists[0] == lists[1], || "another process lists other sessions".into())
}

fn loads_in_a_new_process(case: &mut Case<'_>) -> Judged {
    let session = past_session(case, 1)?;
    let mut client = case.ready()?;
    let params = json!({"sessionId": session, "cwd": case.cwd(), "mcpServers": []});
    taken_up(client.ask("session/load", &params)?)?;
    let replayed =
        client.heard.iter().any(|heard| heard.updates(&session) && heard.kind() == "user_message_chunk");
    ensure(replayed, || "nothing of the earlier process is replayed".into())
}

fn resumes_in_a_new_process(case: &mut Case<'_>) -> Judged {
    let session = past_session(case, 1)?;
    let mut client = case.ready()?;
    let params = json!({"sessionId": session, "cwd": case.cwd(), "mcpServers": []});
    taken_up(client.ask("session/resume", &params)?)?;
    turn(&mut client, &prompt(&session, &case.plain())).map(drop)
}

fn settings_survive(case: &mut Case<'_>) -> Judged {
    let options = case.subject.facts.session["configOptions"].as_array().cloned().unwrap_or_default();
    let change = options.iter().find_map(super::config::other_value);
    let Some((config, value)) = change else {
        return inconclusive("there is no option with two values");
    };
    let (mut client, session) = case.with_session()?;
    client.call(
        "session/set_config_option",
        &json!({"sessionId": session, "configId": config, "value": value}),
    )?;
    // The model that was chosen may be out of reach, and is kept all the same.
    client.ask("session/prompt", &prompt(&session, &case.plain()))?;
    client.finish(client.patience())?;
    let mut client = case.ready()?;
    let result = taken_up(restore(case, &mut client, &session)?)?;
    match super::config::current(&result["configOptions"], &config) {
        Some(now) => ensure(now == value, || format!("{config} was {value}, and is {now} after a restart")),
        None => inconclusive("the restored session gives no configOptions"),
    }
}

fn killed_in_a_turn(case: &mut Case<'_>) -> Judged {
    let words = case.words("slow")?;
    let (mut client, session) = case.with_session()?;
    turn(&mut client, &prompt(&session, &case.echo("before the crash")))?;
    client.send("session/prompt", &prompt(&session, words));
    let from = client.heard.len();
    client.listen_until(client.patience(), |client| client.heard.len() > from);
    client.process.kill();
    let found = found(case, &session)?;
    ensure(found, || "the session is gone after kill -9 in a turn".into())?;
    let facts = &case.subject.facts;
    if !facts.offers("loadSession") && !facts.offers("sessionCapabilities/resume") {
        return Ok(());
    }
    let mut client = case.ready()?;
    taken_up(restore(case, &mut client, &session)?)?;
    turn(&mut client, &prompt(&session, &case.plain())).map(drop)
}

fn two_processes(case: &mut Case<'_>) -> Judged {
    let mut first = case.ready()?;
    let mut second = case.ready()?;
    let mut sessions = Vec::new();
    for _ in 0..5 {
        for client in [&mut first, &mut second] {
            let session = case.session(client)?;
            turn(client, &prompt(&session, &case.plain()))?;
            sessions.push(session);
        }
    }
    for client in [&mut first, &mut second] {
        client.finish(client.patience())?;
    }
    let mut third = case.ready()?;
    let entries = whole_list(&mut third, &json!({}))?;
    let missing = sessions.iter().filter(|session| !listed(&entries, session)).count();
    ensure(missing == 0, || format!("{missing} of {} sessions of two processes are missing", sessions.len()))
}

fn damaged_record(case: &mut Case<'_>) -> Judged {
    let sessions = [past_session(case, 1)?, past_session(case, 1)?, past_session(case, 1)?];
    let state = case.state();
    let files = files_below(&state);
    let damaged = files.iter().find(|path| path.to_string_lossy().contains(&sessions[1]));
    let Some(path) = damaged else {
        return inconclusive("no file of the session was found below {STATE}");
    };
    let content = fs::read(path).unwrap_or_default();
    if fs::write(path, &content[..content.len() / 2]).is_err() {
        return inconclusive("the file could not be damaged");
    }
    let mut client = case.ready()?;
    let entries = whole_list(&mut client, &json!({}))?;
    let others = listed(&entries, &sessions[0]) && listed(&entries, &sessions[2]);
    ensure(others, || "one damaged record hides the others".into())
}

fn files_below(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found
}
