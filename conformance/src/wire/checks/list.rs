//! session/list: entries, the filter by directory, pages, bad cursors.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::prompts::turn;
use super::restore::past_session;
use super::{Check, Gate, gated};
use crate::wire::case::{Case, new_session, prompt};
use crate::wire::client::Client;
use crate::wire::schema;
use crate::wire::verdict::{Judged, ensure, fail, inconclusive};

const LIST: Gate = Gate::Offers("sessionCapabilities/list");

pub(super) const CHECKS: &[Check] = &[
    gated("ACP-LIST-001", LIST, empty_params),
    gated("ACP-LIST-002", LIST, unused_directory),
    gated("ACPX-LIST-002", LIST, entries_fit),
    gated("ACPX-LIST-003", LIST, filter),
    gated("ACPX-LIST-004", LIST, pages),
    gated("ACPX-LIST-005", LIST, bad_cursor),
    gated("ACPX-LIST-006", LIST, page_size),
    gated("ACPX-LIST-009", LIST, relative_filter),
    gated("ACPX-LIST-010", LIST, changes_nothing),
    gated("ACPX-LIST-014", LIST, new_sessions),
    gated("ACPX-LIST-015", LIST, cwd_is_fixed),
    gated("ACPX-LIST-016", LIST, nulls),
    gated("ACPX-ADDDIRS-006", LIST, reported_roots),
];

/// How many sessions make a list that a sound agent cuts into pages.
const MANY: usize = 120;

/// All entries over all pages; `filter` is sent with every page.
pub(super) fn whole_list(client: &mut Client, filter: &Value) -> Judged<Vec<Value>> {
    let mut entries = Vec::new();
    let mut cursors = BTreeSet::new();
    let mut params = filter.clone();
    loop {
        let result = client.call("session/list", &params)?;
        entries.extend(result["sessions"].as_array().cloned().unwrap_or_default());
        let Some(cursor) = result["nextCursor"].as_str() else { break };
        ensure(cursors.insert(cursor.to_owned()), || {
            format!("cursor {cursor} comes again: the pages never end")
        })?;
        params["cursor"] = json!(cursor);
    }
    Ok(entries)
}

/// Sessions that ended with their process, each after one turn: `count` in the first directory, one in the other.
fn stored(case: &mut Case<'_>, count: usize) -> Judged<(Vec<String>, String)> {
    let mut client = case.ready()?;
    let mut here = Vec::new();
    for _ in 0..count {
        let id = case.session(&mut client)?;
        turn(&mut client, &prompt(&id, &case.plain()))?;
        here.push(id);
    }
    let there = new_session(&mut client, &json!({"cwd": case.other(), "mcpServers": []}))?;
    turn(&mut client, &prompt(&there, &case.plain()))?;
    leave(&mut client);
    Ok((here, there))
}

fn ids(entries: &[Value]) -> Vec<&str> {
    entries.iter().filter_map(|entry| entry["sessionId"].as_str()).collect()
}

fn empty_params(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let result = client.call("session/list", &json!({}))?;
    let faults = schema::stable().faults("ListSessionsResponse", &result);
    ensure(faults.is_empty(), || faults.join("; "))
}

fn unused_directory(case: &mut Case<'_>) -> Judged {
    let (mut client, _) = case.with_session()?;
    let result = client.call("session/list", &json!({"cwd": case.other()}))?;
    ensure(result["sessions"] == json!([]), || format!("sessions is {}", result["sessions"]))
}

fn entries_fit(case: &mut Case<'_>) -> Judged {
    stored(case, 1)?;
    let mut client = case.ready()?;
    let entries = whole_list(&mut client, &json!({"cwd": case.cwd()}))?;
    for entry in &entries {
        let faults = schema::stable().faults("SessionInfo", entry);
        ensure(faults.is_empty(), || faults.join("; "))?;
        let absolute = entry["cwd"].as_str().is_some_and(|cwd| cwd.starts_with('/'));
        ensure(absolute, || format!("cwd {} is not absolute", entry["cwd"]))?;
        let time = entry["updatedAt"].as_str();
        ensure(time.is_none_or(is_iso_8601), || format!("updatedAt {} is not ISO 8601", entry["updatedAt"]))?;
    }
    if entries.is_empty() { inconclusive("the list is empty") } else { Ok(()) }
}

fn is_iso_8601(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    digits(0..4)
        && digits(5..7)
        && digits(8..10)
        && bytes[4] == b'-'
        && (bytes.len() == 10 || bytes[10] == b'T')
}

fn filter(case: &mut Case<'_>) -> Judged {
    let (here, there) = stored(case, 3)?;
    let mut client = case.ready()?;
    let entries = whole_list(&mut client, &json!({"cwd": case.cwd()}))?;
    let listed = ids(&entries);
    ensure(!listed.contains(&there.as_str()), || "a session of another directory is listed".into())?;
    let missing: Vec<&String> = here.iter().filter(|id| !listed.contains(&id.as_str())).collect();
    ensure(missing.is_empty(), || {
        format!("{} of {} sessions of the directory are missing", missing.len(), here.len())
    })
}

/// As many sessions as make a long list, or as there is time for; gives how many there are.
fn many(case: &mut Case<'_>) -> Judged<(Client, usize)> {
    let with_turns = !lists_unused(case)?;
    let mut client = case.ready()?;
    let limit = case.within(Duration::from_secs(60));
    let began = Instant::now();
    let mut count = 0;
    while count < MANY && began.elapsed() < limit {
        let session = case.session(&mut client)?;
        if with_turns {
            turn(&mut client, &prompt(&session, &case.plain()))?;
        }
        count += 1;
    }
    leave(&mut client);
    Ok((case.ready()?, count))
}

/// Whether a session is listed in which nothing was ever said.
fn lists_unused(case: &mut Case<'_>) -> Judged<bool> {
    let (mut client, session) = case.with_session()?;
    leave(&mut client);
    let mut client = case.ready()?;
    let entries = whole_list(&mut client, &json!({"cwd": case.cwd()}))?;
    Ok(ids(&entries).contains(&session.as_str()))
}

fn leave(client: &mut Client) {
    client.process.close_stdin();
    if client.process.wait(client.patience()).is_none() {
        client.process.kill();
    }
}

fn pages(case: &mut Case<'_>) -> Judged {
    let (mut client, count) = many(case)?;
    for filter in [json!({}), json!({"cwd": case.cwd()})] {
        let entries = whole_list(&mut client, &filter)?;
        let listed = ids(&entries);
        let unique: BTreeSet<&str> = listed.iter().copied().collect();
        ensure(unique.len() == listed.len(), || "a session is on two pages".into())?;
        ensure(listed.len() >= count || filter["cwd"].is_null(), || {
            format!("{} of {count} sessions are listed", listed.len())
        })?;
    }
    Ok(())
}

fn bad_cursor(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.ask("session/list", &json!({"cursor": "accord made up"}))?.error()?;
    client.alive()
}

fn page_size(case: &mut Case<'_>) -> Judged {
    let (mut client, count) = many(case)?;
    let result = client.call("session/list", &json!({"cwd": case.cwd()}))?;
    let size = result["sessions"].as_array().map_or(0, Vec::len);
    match (size, result["nextCursor"].is_string()) {
        (_, true) => Ok(()),
        _ if count < MANY => inconclusive(format!("there was time for {count} sessions only")),
        (size, false) => fail(format!("one page holds all {size} of {count} sessions")),
    }
}

fn relative_filter(case: &mut Case<'_>) -> Judged {
    stored(case, 1)?;
    let mut client = case.ready()?;
    let answer = client.ask("session/list", &json!({"cwd": "work"}))?;
    let found = answer.outcome.as_ref().is_ok_and(|result| result["sessions"] != json!([]));
    ensure(!found, || "a relative directory finds sessions".into())
}

fn changes_nothing(case: &mut Case<'_>) -> Judged {
    stored(case, 2)?;
    let mut client = case.ready()?;
    let first = whole_list(&mut client, &json!({"cwd": case.cwd()}))?;
    let second = whole_list(&mut client, &json!({"cwd": case.cwd()}))?;
    ensure(first == second, || "listing changes what is listed".into())
}

fn new_sessions(case: &mut Case<'_>) -> Judged {
    let session = past_session(case, 1)?;
    let mut client = case.ready()?;
    let entries = whole_list(&mut client, &json!({"cwd": case.cwd()}))?;
    ensure(ids(&entries).contains(&session.as_str()), || "a session with a turn is not listed".into())
}

fn cwd_is_fixed(case: &mut Case<'_>) -> Judged {
    let session = past_session(case, 1)?;
    for _ in 0..2 {
        let mut client = case.ready()?;
        let entries = whole_list(&mut client, &json!({}))?;
        let entry = entries.iter().find(|entry| entry["sessionId"] == session);
        let Some(entry) = entry else { return inconclusive("the session is not listed") };
        ensure(entry["cwd"] == json!(case.cwd()), || format!("the cwd is {} now", entry["cwd"]))?;
    }
    Ok(())
}

fn nulls(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.call("session/list", &json!({"cwd": null, "cursor": null})).map(drop)
}

fn reported_roots(case: &mut Case<'_>) -> Judged {
    if !case.subject.facts.offers("sessionCapabilities/additionalDirectories") {
        return crate::wire::verdict::skip("sessionCapabilities/additionalDirectories is not advertised");
    }
    let mut client = case.ready()?;
    let params = json!({"cwd": case.cwd(), "mcpServers": [], "additionalDirectories": [case.other()]});
    let session = new_session(&mut client, &params)?;
    turn(&mut client, &prompt(&session, &case.plain()))?;
    client.finish(client.patience())?;
    let mut client = case.ready()?;
    let entries = whole_list(&mut client, &json!({"cwd": case.cwd()}))?;
    match entries
        .iter()
        .find(|entry| entry["sessionId"] == session)
        .map(|entry| &entry["additionalDirectories"])
    {
        None | Some(Value::Null) => {
            crate::wire::verdict::skip("the list does not report additionalDirectories, as it may")
        }
        Some(roots) => ensure(*roots == json!([case.other()]), || format!("the list reports {roots}")),
    }
}
