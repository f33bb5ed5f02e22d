//! Prompt turns: accepted content, stop reasons, updates and their order, more than one turn.

use serde_json::{Value, json};

use super::{Check, Gate, check, gated};
use crate::wire::case::{Case, prompt};
use crate::wire::client::{Answer, Client};
use crate::wire::schema;
use crate::wire::verdict::{Judged, ensure, fail, inconclusive, skip};

pub(super) const CHECKS: &[Check] = &[
    check("ACP-PROMPT-001", text_turn),
    check("ACP-PROMPT-002", updates_fit),
    check("ACP-PROMPT-003", resource_link),
    check("ACPX-PROMPT-003", resource_link),
    check("ACPX-CONTENT-003", text_turn),
    gated("ACP-PROMPTCAP-001", Gate::Offers("promptCapabilities/image"), image),
    gated("ACP-PROMPTCAP-002", Gate::Offers("promptCapabilities/audio"), audio),
    gated("ACP-PROMPTCAP-003", Gate::Offers("promptCapabilities/embeddedContext"), embedded),
    check("ACPX-CONTENT-005", annotations),
    check("ACPX-PROMPT-004", stop_reasons),
    check("ACPX-PROMPT-005", streamed),
    check("ACPX-PROMPT-006", message_ids),
    check("ACPX-PROMPT-008", usage),
    check("ACPX-PROMPT-009", tools_at_once),
    check("ACPX-PROMPT-010", earlier_turns),
    check("ACPX-PROMPT-011", second_prompt),
    check("ACPX-PROMPT-013", parallel_turns),
    check("ACPX-PROMPT-014", silence_after),
    check("ACPX-PLAN-001", plan_progresses),
    check("ACPX-PLAN-004", plan_fits),
    check("ACPX-CMD-002", commands_fit),
    check("ACPX-LIST-011", session_info_fits),
];

const REASONS: [&str; 5] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];

/// A one-pixel PNG.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
/// A WAV file without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Sends the blocks and expects a proper end.
pub(super) fn turn(client: &mut Client, params: &Value) -> Judged<String> {
    let result = client.call("session/prompt", params)?;
    reason(&result)
}

fn reason(result: &Value) -> Judged<String> {
    let reason = result["stopReason"].as_str().unwrap_or_default();
    ensure(REASONS.contains(&reason), || format!("the stop reason is {}", result["stopReason"]))?;
    Ok(reason.to_owned())
}

fn text_turn(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    turn(&mut client, &prompt(&session, &case.plain())).map(drop)
}

/// Situations in which an agent tells, or asks, what is seldom told or asked; the witness looks at what it says then.
const RARE: [&str; 4] = ["image", "notice", "compact", "visit"];

fn updates_fit(case: &mut Case<'_>) -> Judged {
    let offer = json!({"session": {"notices": {}, "compaction": {}}, "elicitation": {"url": {}}});
    let (mut client, session) = case.with_session_and(&offer)?;
    let from = client.heard.len();
    turn(&mut client, &prompt(&session, &case.plain()))?;
    for words in RARE.iter().filter_map(|kind| case.words(kind).ok()) {
        turn(&mut client, &prompt(&session, words))?;
    }
    for heard in &client.heard[from..] {
        if heard.method == "session/update" {
            ensure(heard.updates(&session), || {
                format!("an update of another session: {}", heard.params["sessionId"])
            })?;
            let faults = schema::stable().faults("SessionNotification", &heard.params);
            ensure(faults.is_empty(), || faults.join("; "))?;
        }
    }
    Ok(())
}

fn with_block(case: &mut Case<'_>, block: &Value) -> Judged {
    let (mut client, session) = case.with_session()?;
    let mut params = prompt(&session, &case.plain());
    if let Some(blocks) = params["prompt"].as_array_mut() {
        blocks.push(block.clone());
    }
    turn(&mut client, &params).map(drop)
}

fn resource_link(case: &mut Case<'_>) -> Judged {
    let uri = format!("file://{}", case.cwd().join("notes.txt").display());
    with_block(case, &json!({"type": "resource_link", "uri": uri, "name": "notes.txt"}))
}

fn image(case: &mut Case<'_>) -> Judged {
    with_block(case, &json!({"type": "image", "data": PNG, "mimeType": "image/png"}))
}

fn audio(case: &mut Case<'_>) -> Judged {
    with_block(case, &json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"}))
}

fn embedded(case: &mut Case<'_>) -> Judged {
    let text = json!({"uri": "file:///notes.txt", "text": "some notes", "mimeType": "text/plain"});
    with_block(case, &json!({"type": "resource", "resource": text}))?;
    let blob = json!({"uri": "file:///dot.png", "blob": PNG, "mimeType": "image/png"});
    with_block(case, &json!({"type": "resource", "resource": blob}))
}

fn annotations(case: &mut Case<'_>) -> Judged {
    for annotations in [
        json!({"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-02T03:04:05Z"}),
        json!({"audience": null, "priority": null}),
        json!(null),
    ] {
        let (mut client, session) = case.with_session()?;
        let mut params = prompt(&session, &case.plain());
        params["prompt"][0]["annotations"] = annotations;
        turn(&mut client, &params)?;
    }
    Ok(())
}

fn stop_reasons(case: &mut Case<'_>) -> Judged {
    let wanted = [("refuse", "refusal"), ("limit", "max_tokens"), ("requests", "max_turn_requests")];
    let mut tried = 0;
    for (kind, expected) in wanted {
        let Ok(words) = case.words(kind) else { continue };
        tried += 1;
        let (mut client, session) = case.with_session()?;
        let given = turn(&mut client, &prompt(&session, words))?;
        ensure(given == expected, || format!("{words:?} ends with {given}, not {expected}"))?;
    }
    let (mut client, session) = case.with_session()?;
    let given = turn(&mut client, &prompt(&session, &case.plain()))?;
    ensure(given == "end_turn", || format!("an ordinary turn ends with {given}"))?;
    if tried == 0 {
        inconclusive("give --prompt-refuse, --prompt-limit or --prompt-requests")
    } else {
        Ok(())
    }
}

fn streamed(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let answer = client.ask("session/prompt", &prompt(&session, &case.plain()))?;
    let place = answer.place;
    answer.result()?;
    client.listen(case.subject.quiet);
    let chunks: Vec<_> = client.heard.iter().filter(|heard| heard.kind().ends_with("_chunk")).collect();
    if chunks.is_empty() {
        return inconclusive("the turn said nothing");
    }
    let late = chunks.iter().any(|chunk| chunk.place > place);
    ensure(!late, || "output comes after the turn's answer".into())
}

fn message_ids(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    for _ in 0..2 {
        turn(&mut client, &prompt(&session, &case.plain()))?;
    }
    let mut seen: Vec<(&str, &str)> = Vec::new();
    let chunks = client.heard.iter().filter(|heard| heard.kind().ends_with("_chunk"));
    for chunk in chunks {
        let Some(id) = chunk.params["update"]["messageId"].as_str() else { continue };
        let key = (id, author(chunk.kind()));
        // A message is one run of chunks: an id that comes back later, or changes its author, is used for two.
        let reused = seen.iter().any(|(other, author)| *other == id && *author != key.1);
        ensure(!reused, || format!("message id {id} stands for messages of user and agent"))?;
        let returns = seen.last() != Some(&key) && seen.contains(&key);
        ensure(!returns, || format!("message id {id} comes back after another message"))?;
        seen.push(key);
    }
    if seen.is_empty() { skip("the agent gives no message ids") } else { Ok(()) }
}

/// Whose message a chunk belongs to; a model's message may begin with its thoughts.
pub(super) fn author(kind: &str) -> &'static str {
    if kind.starts_with("user") { "user" } else { "agent" }
}

fn usage(case: &mut Case<'_>) -> Judged {
    let words = case.subject.prompts.get("usage").cloned().unwrap_or_else(|| case.plain());
    fits_update(case, &words, "usage_update", "UsageUpdate")
}

fn plan_fits(case: &mut Case<'_>) -> Judged {
    let words = case.words("plan")?.to_owned();
    fits_update(case, &words, "plan", "Plan")
}

fn plan_progresses(case: &mut Case<'_>) -> Judged {
    let words = case.words("plan")?;
    let (mut client, session) = case.with_session()?;
    turn(&mut client, &prompt(&session, words))?;
    match client.heard.iter().filter(|heard| heard.kind() == "plan").count() {
        0 => inconclusive("no plan was made"),
        1 => fail("the plan is reported, and its progress is not"),
        _ => Ok(()),
    }
}

fn session_info_fits(case: &mut Case<'_>) -> Judged {
    let words = case.subject.prompts.get("title").cloned().unwrap_or_else(|| case.plain());
    fits_update(case, &words.replace("{TEXT}", "A new title"), "session_info_update", "SessionInfoUpdate")
}

fn commands_fit(case: &mut Case<'_>) -> Judged {
    let words = case.subject.prompts.get("commands").cloned().unwrap_or_else(|| case.plain());
    fits_update(case, &words, "available_commands_update", "AvailableCommandsUpdate")
}

fn fits_update(case: &mut Case<'_>, words: &str, kind: &str, definition: &str) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.ask("session/prompt", &prompt(&session, words))?;
    client.listen(case.subject.quiet);
    let updates: Vec<&Value> = client
        .heard
        .iter()
        .filter(|heard| heard.kind() == kind)
        .map(|heard| &heard.params["update"])
        .collect();
    for update in &updates {
        let faults = schema::stable().faults(definition, update);
        ensure(faults.is_empty(), || faults.join("; "))?;
    }
    if updates.is_empty() { inconclusive(format!("no {kind} was sent")) } else { Ok(()) }
}

fn tools_at_once(case: &mut Case<'_>) -> Judged {
    let words = case.words("tool")?.replace("{PATH}", "soon.txt").replace("{TEXT}", "x");
    let (mut client, session) = case.with_session()?;
    client.call("session/prompt", &prompt(&session, &words))?;
    let call = client.heard.iter().position(|heard| heard.kind() == "tool_call");
    let asked = client.heard.iter().position(|heard| heard.method == "session/request_permission");
    match (call, asked) {
        (Some(call), Some(asked)) => {
            ensure(call < asked, || "permission is asked before the call is reported".into())
        }
        (None, _) => inconclusive("no tool was called"),
        (Some(_), None) => Ok(()),
    }
}

fn earlier_turns(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    for _ in 0..3 {
        turn(&mut client, &prompt(&session, &case.echo("marmalade")))?;
    }
    let words = case.words("history")?;
    let from = client.heard.len();
    turn(&mut client, &prompt(&session, words))?;
    let known = client.heard[from..].iter().any(|heard| heard.params.to_string().contains("marmalade"));
    ensure(known, || "the agent does not know what was said before".into())
}

fn second_prompt(case: &mut Case<'_>) -> Judged {
    // The turn has to end by itself: a cancel would hide what the second prompt did to it.
    let words = case.words("busy").or_else(|_| case.words("slow"))?;
    let (mut client, session) = case.with_session()?;
    let first = client.send("session/prompt", &prompt(&session, words));
    let second = client.send("session/prompt", &prompt(&session, &case.plain()));
    let limit = client.patience() * 2;
    let answer: Answer = client.answer_within(&first, limit)?;
    client.answer_within(&second, limit)?;
    let reason = answer.result()?["stopReason"].clone();
    ensure(REASONS.contains(&reason.as_str().unwrap_or_default()), || "the running turn is damaged".into())
}

fn parallel_turns(case: &mut Case<'_>) -> Judged {
    let words = case.words("slow")?;
    let mut client = case.ready()?;
    let first = case.session(&mut client)?;
    let second = case.session(&mut client)?;
    let long = client.send("session/prompt", &prompt(&first, words));
    turn(&mut client, &prompt(&second, &case.plain()))?;
    if client.has_answer(&long) {
        return inconclusive("the slow turn ended before the short one");
    }
    client.notify("session/cancel", &json!({"sessionId": first}));
    client.answer(&long).map(drop)
}

fn silence_after(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let answer = client.ask("session/prompt", &prompt(&session, &case.plain()))?;
    let place = answer.place;
    client.listen(case.subject.quiet * 2);
    let late = client.heard.iter().find(|heard| {
        let kind = heard.kind();
        heard.place > place && (kind.ends_with("_chunk") || kind.starts_with("tool_call") || kind == "plan")
    });
    match late {
        Some(late) => fail(format!("{} comes after the turn's answer", late.kind())),
        None => Ok(()),
    }
}
