//! session/load and session/resume: what is replayed and when, and what the session knows afterwards.

use serde_json::{Value, json};

use super::prompts::{author, turn};
use super::{Check, Gate, gated};
use crate::wire::case::{Case, prompt};
use crate::wire::client::{Answer, Client};
use crate::wire::schema;
use crate::wire::verdict::{Judged, Stop, ensure, fail, inconclusive, skip};

const LOAD: Gate = Gate::Offers("loadSession");
const RESUME: Gate = Gate::Offers("sessionCapabilities/resume");
const EITHER: Gate = Gate::OffersAny(&["loadSession", "sessionCapabilities/resume"]);

pub(super) const CHECKS: &[Check] = &[
    gated("ACP-LOAD-001", LOAD, loads),
    gated("ACP-LOAD-002", LOAD, replay_comes_first),
    gated("ACP-LOAD-003", LOAD, empty_object),
    gated("ACPX-LOAD-003", LOAD, whole_conversation),
    gated("ACPX-LOAD-004", LOAD, message_ids),
    gated("ACPX-LOAD-005", EITHER, context_is_kept),
    gated("ACPX-LOAD-006", LOAD, unknown_session),
    gated("ACPX-LOAD-007", EITHER, other_cwd),
    gated("ACPX-LOAD-009", LOAD, no_notices),
    gated(
        "ACPX-ADDDIRS-003",
        Gate::Offers("sessionCapabilities/additionalDirectories"),
        roots_are_not_restored,
    ),
    gated("ACP-RESUME-001", RESUME, resumes),
    gated("ACP-RESUME-002", RESUME, nothing_replayed),
    gated("ACPX-RESUME-002", RESUME, tools_not_replayed),
    gated("ACPX-RESUME-003", RESUME, ready_at_once),
    gated("ACPX-RESUME-004", RESUME, state_in_the_result),
];

/// A session with this many turns, in a process that has ended; gives its id.
pub(super) fn past_session(case: &mut Case<'_>, turns: usize) -> Judged<String> {
    let (mut client, session) = case.with_session()?;
    for number in 0..turns {
        turn(&mut client, &prompt(&session, &case.echo(&format!("marmalade {number}"))))?;
    }
    leave(case, &mut client, &session)?;
    Ok(session)
}

/// Ends a session's process as a client would.
fn leave(case: &Case<'_>, client: &mut Client, session: &str) -> Judged {
    if case.subject.facts.offers("sessionCapabilities/close") {
        client.call("session/close", &json!({"sessionId": session}))?;
    }
    client.process.close_stdin();
    if client.process.wait(client.patience()).is_none() {
        client.process.kill();
    }
    Ok(())
}

/// Load or resume, whichever the agent has.
pub(super) fn restore(case: &Case<'_>, client: &mut Client, session: &str) -> Judged<Answer> {
    let method = if case.subject.facts.offers("sessionCapabilities/resume") {
        "session/resume"
    } else {
        "session/load"
    };
    client.ask(method, &params(case, session))
}

/// The result of taking a session up; where that can't be done at all, nothing is seen of what comes after it.
pub(super) fn taken_up(answer: Answer) -> Judged<Value> {
    let source = if answer.method == "session/load" { "ACP-LOAD-001" } else { "ACP-RESUME-001" };
    answer.result().map_err(|stop| match stop {
        Stop::Failed(why) => Stop::Follows(source, why),
        other => other,
    })
}

fn params(case: &Case<'_>, session: &str) -> Value {
    json!({"sessionId": session, "cwd": case.cwd(), "mcpServers": []})
}

fn loaded(case: &mut Case<'_>, turns: usize) -> Judged<(Client, String, Answer)> {
    let session = past_session(case, turns)?;
    let mut client = case.ready()?;
    let answer = client.ask("session/load", &params(case, &session))?;
    Ok((client, session, answer))
}

fn loads(case: &mut Case<'_>) -> Judged {
    let (_, _, answer) = loaded(case, 1)?;
    let result = answer.result()?;
    if result.is_null() {
        return Ok(());
    }
    let faults = schema::stable().faults("LoadSessionResponse", &result);
    ensure(faults.is_empty(), || faults.join("; "))
}

fn replay_comes_first(case: &mut Case<'_>) -> Judged {
    let (mut client, session, answer) = loaded(case, 2)?;
    let place = answer.place;
    taken_up(answer)?;
    client.listen(case.subject.quiet * 2);
    match client
        .heard
        .iter()
        .find(|heard| heard.place > place && heard.updates(&session) && is_history(heard.kind()))
    {
        Some(late) => fail(format!("{} comes after the answer to session/load", late.kind())),
        None => Ok(()),
    }
}

fn is_history(kind: &str) -> bool {
    kind.ends_with("message_chunk")
        || kind.ends_with("thought_chunk")
        || kind.starts_with("tool_call")
        || kind == "plan"
}

fn empty_object(case: &mut Case<'_>) -> Judged {
    let (_, _, answer) = loaded(case, 1)?;
    let result = taken_up(answer)?;
    ensure(result.is_object(), || format!("the result of session/load is {result}"))
}

fn whole_conversation(case: &mut Case<'_>) -> Judged {
    let (mut client, session, answer) = loaded(case, 3)?;
    taken_up(answer)?;
    // What comes late is ACP-LOAD-002's affair; here it only has to come.
    client.listen(case.subject.quiet * 2);
    let replayed: Vec<_> = client.heard.iter().filter(|heard| heard.updates(&session)).collect();
    let said = |kind: &str| -> String {
        let of_kind = replayed.iter().filter(|heard| heard.kind() == kind);
        of_kind.filter_map(|heard| heard.params["update"]["content"]["text"].as_str()).collect()
    };
    let user = said("user_message_chunk");
    ensure(!user.is_empty(), || "the user's messages are not replayed".into())?;
    let places: Vec<Option<usize>> =
        (0..3).map(|number| user.find(case.echo(&format!("marmalade {number}")).as_str())).collect();
    ensure(places.iter().all(Option::is_some), || format!("a prompt is missing from the replay {user:?}"))?;
    ensure(places.is_sorted() || !case.echoes(), || "the prompts are replayed out of order".into())?;
    ensure(!said("agent_message_chunk").is_empty(), || "the agent's messages are not replayed".into())
}

fn message_ids(case: &mut Case<'_>) -> Judged {
    let (client, _, answer) = loaded(case, 3)?;
    taken_up(answer)?;
    let mut runs: Vec<(&str, &str)> = Vec::new();
    for heard in client.heard.iter().filter(|heard| heard.kind().ends_with("_chunk")) {
        let Some(id) = heard.params["update"]["messageId"].as_str() else { continue };
        let author = author(heard.kind());
        if runs.last() != Some(&(id, author)) {
            ensure(!runs.iter().any(|(other, _)| *other == id), || {
                format!("message id {id} stands for two messages")
            })?;
            runs.push((id, author));
        }
    }
    if runs.is_empty() { skip("the replay has no message ids") } else { Ok(()) }
}

fn context_is_kept(case: &mut Case<'_>) -> Judged {
    let words = case.words("history")?;
    let session = past_session(case, 2)?;
    let mut client = case.ready()?;
    taken_up(restore(case, &mut client, &session)?)?;
    let from = client.heard.len();
    turn(&mut client, &prompt(&session, words))?;
    let known = client.heard[from..].iter().any(|heard| heard.params.to_string().contains("marmalade"));
    ensure(known, || "the restored session does not know its earlier turns".into())
}

fn unknown_session(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.ask("session/load", &params(case, "accord-made-up"))?.error()?;
    client.alive()
}

fn other_cwd(case: &mut Case<'_>) -> Judged {
    let session = past_session(case, 1)?;
    let mut client = case.ready()?;
    let method = if case.subject.facts.offers("loadSession") { "session/load" } else { "session/resume" };
    client.ask(method, &json!({"sessionId": session, "cwd": case.other(), "mcpServers": []}))?;
    client.alive()
}

/// A notice amid the replayed history is replayed itself; one before or behind it may be about the loading.
fn no_notices(case: &mut Case<'_>) -> Judged {
    let session = past_session(case, 2)?;
    let mut client = case.ready_with(&json!({"session": {"notices": {}}}))?;
    let answer = client.ask("session/load", &params(case, &session))?;
    let place = answer.place;
    taken_up(answer)?;
    let replay: Vec<_> =
        client.heard.iter().filter(|heard| heard.updates(&session) && heard.place < place).collect();
    let first = replay.iter().position(|heard| is_history(heard.kind()));
    let last = replay.iter().rposition(|heard| is_history(heard.kind()));
    let (Some(first), Some(last)) = (first, last) else {
        return inconclusive("the load replays nothing");
    };
    let replayed = replay[first..last].iter().any(|heard| heard.kind() == "notice");
    ensure(!replayed, || "a notice stands amid the replayed history".into())
}

fn roots_are_not_restored(case: &mut Case<'_>) -> Judged {
    let words = case.words("tool")?;
    if !words.contains("{PATH}") {
        return inconclusive("--prompt-tool names no {PATH}");
    }
    let outside = case.other().join("old-root.txt");
    let words = words.replace("{PATH}", &outside.to_string_lossy()).replace("{TEXT}", "x");
    let mut client = case.ready()?;
    let params = json!({"cwd": case.cwd(), "mcpServers": [], "additionalDirectories": [case.other()]});
    let session = crate::wire::case::new_session(&mut client, &params)?;
    turn(&mut client, &prompt(&session, &case.plain()))?;
    leave(case, &mut client, &session)?;
    let mut client = case.ready()?;
    client.desk.permission = crate::wire::desk::Permission::Reject;
    taken_up(restore(case, &mut client, &session)?)?;
    let from = client.heard.len();
    client.ask("session/prompt", &prompt(&session, &words))?;
    ensure(!outside.exists(), || "a root of an earlier connection is still open".into())?;
    super::sessions::tool_used(&client.heard[from..])
}

fn resumed(case: &mut Case<'_>, turns: usize) -> Judged<(Client, String, Answer)> {
    let session = past_session(case, turns)?;
    let mut client = case.ready()?;
    let answer = client.ask("session/resume", &json!({"sessionId": session, "cwd": case.cwd()}))?;
    Ok((client, session, answer))
}

fn resumes(case: &mut Case<'_>) -> Judged {
    let (_, _, answer) = resumed(case, 1)?;
    let faults = schema::stable().faults("ResumeSessionResponse", &answer.result()?);
    ensure(faults.is_empty(), || faults.join("; "))
}

fn nothing_replayed(case: &mut Case<'_>) -> Judged {
    let (client, session, answer) = resumed(case, 2)?;
    let place = answer.place;
    taken_up(answer)?;
    let early = |kind: &str| kind.ends_with("message_chunk") || kind.ends_with("thought_chunk");
    match client
        .heard
        .iter()
        .find(|heard| heard.updates(&session) && heard.place < place && early(heard.kind()))
    {
        Some(heard) => fail(format!("{} comes before the answer to session/resume", heard.kind())),
        None => Ok(()),
    }
}

fn tools_not_replayed(case: &mut Case<'_>) -> Judged {
    let words = case.words("tool")?.replace("{PATH}", "tool.txt").replace("{TEXT}", "x");
    let (mut client, session) = case.with_session()?;
    turn(&mut client, &prompt(&session, &words))?;
    if !client.heard.iter().any(|heard| heard.kind() == "tool_call") {
        return inconclusive("no tool was called");
    }
    leave(case, &mut client, &session)?;
    let mut client = case.ready()?;
    let answer = restore(case, &mut client, &session)?;
    let place = answer.place;
    taken_up(answer)?;
    let early = client.heard.iter().find(|heard| heard.place < place && is_history(heard.kind()));
    match early {
        Some(heard) => fail(format!("{} comes before the answer to session/resume", heard.kind())),
        None => Ok(()),
    }
}

fn ready_at_once(case: &mut Case<'_>) -> Judged {
    let session = past_session(case, 1)?;
    let mut client = case.ready()?;
    let resume = client.send("session/resume", &params(case, &session));
    taken_up(client.answer(&resume)?)?;
    turn(&mut client, &prompt(&session, &case.plain())).map(drop)
}

fn state_in_the_result(case: &mut Case<'_>) -> Judged {
    let (_, _, answer) = resumed(case, 1)?;
    let result = taken_up(answer)?;
    let facts = &case.subject.facts;
    for member in ["modes", "configOptions"] {
        if facts.session_has(member) && result[member].is_null() {
            return inconclusive(format!("session/new gives {member}, session/resume does not (it may)"));
        }
    }
    Ok(())
}
