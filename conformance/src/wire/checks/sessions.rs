//! session/new: ids, working directories, bad params, independence.

use serde_json::{Value, json};

use super::{Check, Gate, check, gated};
use crate::wire::case::{Case, is_empty, new_session, prompt};
use crate::wire::client::{Client, Heard, told};
use crate::wire::schema;
use crate::wire::verdict::{Judged, ensure, fail, inconclusive};

pub(super) const CHECKS: &[Check] = &[
    check("ACP-SESSION-001", succeeds),
    check("ACP-SESSION-002", different_ids),
    gated("ACP-ADDDIRS-001", Gate::Offers("sessionCapabilities/additionalDirectories"), additional_directory),
    gated("ACPX-ADDDIRS-005", Gate::Offers("sessionCapabilities/additionalDirectories"), bad_directories),
    gated("ACPX-ADDDIRS-007", Gate::Offers("sessionCapabilities/additionalDirectories"), cwd_stays_first),
    check("ACPX-SESS-003", relative_cwd),
    check("ACPX-SESS-004", missing_members),
    check("ACPX-SESS-005", vanished_cwd),
    check("ACPX-SESS-006", cwd_is_used),
    check("ACPX-SESS-007", cwd_of_each),
    check("ACPX-SESS-008", cwd_is_writable),
    check("ACPX-SESS-009", outside_cwd),
    check("ACPX-SESS-010", ids_over_processes),
    check("ACPX-SESS-011", independent),
    check("ACPX-SESS-012", unknown_ids),
    check("ACPX-SESS-013", silent_before_the_answer),
];

fn succeeds(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let answer = client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}))?;
    if answer.code() == Some(-32000) {
        return inconclusive("the agent asks for authentication first: log in, or give --auth METHOD");
    }
    let result = answer.result()?;
    let faults = schema::stable().faults("NewSessionResponse", &result);
    ensure(faults.is_empty(), || faults.join("; "))?;
    let named = result["sessionId"].as_str().is_some_and(|id| !id.is_empty());
    ensure(named, || "sessionId is empty".into())
}

fn different_ids(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let mut ids = Vec::new();
    for _ in 0..4 {
        let id = case.session(&mut client)?;
        ensure(!ids.contains(&id), || format!("{id} is given twice"))?;
        ids.push(id);
    }
    Ok(())
}

fn additional_directory(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let params = json!({"cwd": case.cwd(), "mcpServers": [], "additionalDirectories": [case.other()]});
    new_session(&mut client, &params).map(drop)
}

fn bad_directories(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    for entry in [json!("relative/dir"), json!(""), json!(5)] {
        let params = json!({"cwd": case.cwd(), "mcpServers": [], "additionalDirectories": [entry]});
        let code = client.ask("session/new", &params)?.code();
        ensure(code == Some(-32602), || format!("the entry {entry} gives {}, not -32602", told(code)))?;
    }
    Ok(())
}

fn cwd_stays_first(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let params = json!({"cwd": case.cwd(), "mcpServers": [], "additionalDirectories": [case.other()]});
    let session = new_session(&mut client, &params)?;
    write_here(case, &mut client, &session, "first.txt")?;
    let there = case.cwd().join("first.txt").exists() && !case.other().join("first.txt").exists();
    ensure(there, || "a relative path was not resolved in cwd".into())
}

fn relative_cwd(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let code = client.ask("session/new", &json!({"cwd": "relative/dir", "mcpServers": []}))?.code();
    ensure(code == Some(-32602), || format!("a relative cwd gives {}, not -32602", told(code)))
}

fn missing_members(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let code = client.ask("session/new", &json!({"mcpServers": []}))?.code();
    ensure(code == Some(-32602), || format!("a missing cwd gives {}, not -32602", told(code)))?;
    let answer = client.ask("session/new", &json!({"cwd": case.cwd()}))?;
    ensure(answer.outcome.is_ok() || answer.code() == Some(-32602), || {
        format!("missing mcpServers give {}", answer.told())
    })?;
    new_session(&mut client, &json!({"cwd": case.cwd(), "mcpServers": null})).map(drop)
}

fn vanished_cwd(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let gone = case.scratch("not/there");
    client.ask("session/new", &json!({"cwd": gone, "mcpServers": []}))?;
    client.alive()
}

/// A turn that writes a file given by a relative path.
fn write_here(case: &Case<'_>, client: &mut Client, session: &str, name: &str) -> Judged {
    let words = case.words("tool")?;
    if !words.contains("{PATH}") {
        return inconclusive("--prompt-tool names no {PATH}");
    }
    let words = words.replace("{PATH}", name).replace("{TEXT}", "written");
    let from = client.heard.len();
    client.call("session/prompt", &prompt(session, &words))?;
    tool_used(&client.heard[from..])?;
    let failed = client.heard[from..].iter().any(|heard| heard.params["update"]["status"] == "failed");
    if failed { inconclusive("the tool failed, so nothing can be said of where it writes") } else { Ok(()) }
}

/// A model may do without the tool that it was asked to use; then nothing was seen of the tool.
pub(super) fn tool_used(heard: &[Heard]) -> Judged {
    let asks = |heard: &Heard| heard.id.is_some();
    let used = heard.iter().any(|heard| asks(heard) || heard.kind().starts_with("tool_call"));
    if used { Ok(()) } else { inconclusive("the turn used no tool") }
}

fn cwd_is_used(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    write_here(case, &mut client, &session, "here.txt")?;
    ensure(case.cwd().join("here.txt").exists(), || "the file is not in the session's cwd".into())
}

fn cwd_of_each(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let first = case.session(&mut client)?;
    let second = new_session(&mut client, &json!({"cwd": case.other(), "mcpServers": []}))?;
    write_here(case, &mut client, &first, "one.txt")?;
    write_here(case, &mut client, &second, "two.txt")?;
    write_here(case, &mut client, &first, "three.txt")?;
    let there = |folder: std::path::PathBuf, name: &str| folder.join(name).exists();
    let right =
        there(case.cwd(), "one.txt") && there(case.other(), "two.txt") && there(case.cwd(), "three.txt");
    ensure(right, || "a file is not in its own session's cwd".into())
}

fn cwd_is_writable(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    write_here(case, &mut client, &session, "mine.txt")?;
    ensure(!is_empty(&case.cwd()), || "the tool wrote nothing inside cwd".into())
}

fn outside_cwd(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let outside = case.other().join("outside.txt");
    client.desk.permission = crate::wire::desk::Permission::Reject;
    let words = case.words("tool")?;
    if !words.contains("{PATH}") {
        return inconclusive("--prompt-tool names no {PATH}");
    }
    let words = words.replace("{PATH}", &outside.to_string_lossy()).replace("{TEXT}", "written");
    let from = client.heard.len();
    client.ask("session/prompt", &prompt(&session, &words))?;
    ensure(!outside.exists(), || "the tool wrote outside the session's directories".into())?;
    tool_used(&client.heard[from..])
}

fn ids_over_processes(case: &mut Case<'_>) -> Judged {
    let mut ids: Vec<String> = Vec::new();
    for _ in 0..3 {
        let mut client = case.ready()?;
        for _ in 0..2 {
            let id = case.session(&mut client)?;
            ensure(!ids.contains(&id), || format!("{id} was given by an earlier process, too"))?;
            ids.push(id);
        }
        client.process.kill();
    }
    Ok(())
}

fn independent(case: &mut Case<'_>) -> Judged {
    let words = case.words("history")?;
    let mut client = case.ready()?;
    let first = case.session(&mut client)?;
    let second = case.session(&mut client)?;
    client.call("session/prompt", &prompt(&first, &case.echo("xylophone")))?;
    let from = client.heard.len();
    client.call("session/prompt", &prompt(&second, words))?;
    let leaked = client.heard[from..].iter().any(|heard| heard.params.to_string().contains("xylophone"));
    ensure(!leaked, || "one session's words show up in the other's history".into())?;
    let from = client.heard.len();
    client.call("session/prompt", &prompt(&first, words))?;
    let known = client.heard[from..].iter().any(|heard| heard.params.to_string().contains("xylophone"));
    if known { Ok(()) } else { inconclusive("the agent did not tell its history") }
}

fn unknown_ids(case: &mut Case<'_>) -> Judged {
    let facts = case.subject.facts.clone();
    let mut client = case.ready()?;
    let setup = json!({"sessionId": "accord-made-up", "cwd": case.cwd(), "mcpServers": []});
    let mut asked: Vec<(&str, Value)> =
        vec![("session/prompt", prompt("accord-made-up", "nobody hears this"))];
    if facts.offers("loadSession") {
        asked.push(("session/load", setup.clone()));
    }
    if facts.offers("sessionCapabilities/resume") {
        asked.push(("session/resume", setup));
    }
    if facts.session_has("modes") {
        asked.push(("session/set_mode", json!({"sessionId": "accord-made-up", "modeId": "x"})));
    }
    if facts.session_has("configOptions") {
        let params = json!({"sessionId": "accord-made-up", "configId": "x", "value": "y"});
        asked.push(("session/set_config_option", params));
    }
    for (method, params) in asked {
        let answer = client.ask(method, &params)?;
        let code = answer.code();
        ensure(matches!(code, Some(-32002 | -32602)), || {
            format!("{method} for an unknown session gives {}, neither -32002 nor -32602", told(code))
        })?;
    }
    Ok(())
}

fn silent_before_the_answer(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let sent = client.send("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}));
    let answer = client.answer(&sent)?;
    let place = answer.place;
    let id = answer.result()?["sessionId"].as_str().unwrap_or_default().to_owned();
    match client.heard.iter().find(|heard| heard.updates(&id) && heard.place < place) {
        Some(early) => fail(format!("{} comes before the answer that names the session", early.kind())),
        None => Ok(()),
    }
}
