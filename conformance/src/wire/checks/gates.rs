//! What the client did not offer is not used, what it offered is used as the protocol says: files, terminals, forms.

use std::fs;

use serde_json::{Value, json};

use super::prompts::turn;
use super::{Check, check};
use crate::wire::case::{Case, prompt};
use crate::wire::client::Client;
use crate::wire::desk::Terminals;
use crate::wire::schema;
use crate::wire::verdict::{Judged, ensure, inconclusive};

pub(super) const CHECKS: &[Check] = &[
    check("ACP-CLIENTCAP-001", no_files),
    check("ACP-CLIENTCAP-002", no_terminal),
    check("ACP-CLIENTCAP-003", no_forms),
    check("ACPX-FS-001", reading_apart_from_writing),
    check("ACPX-FS-002", file_calls_fit),
    check("ACPX-FS-010", file_errors),
    check("ACPX-INIT-006", nothing_offered),
    check("ACPX-INIT-007", all_combinations),
    check("ACPX-ELIC-001", offered_modes_only),
    check("ACPX-ELIC-002", falls_back),
    check("ACPX-ELIC-003", request_fits),
    check("ACPX-ELIC-005", form_fits),
    check("ACPX-ELIC-010", not_accepted),
    check("ACPX-ELIC-019", unknown_action),
    check("ACPX-ELIC-027", content_left_out),
    check("ACPX-FS-006", null_result),
    check("ACPX-TERM-009", terminals_are_released),
];

/// All turns that might use something of the client's, for a client that offers `capabilities`.
fn busy_turns(case: &mut Case<'_>, capabilities: &Value) -> Judged<Client> {
    fs::write(case.cwd().join("seen.txt"), "one\ntwo\n")
        .or_else(|_| inconclusive("no file could be written"))?;
    case.desk.files = Some(case.cwd());
    let (mut client, session) = case.with_session_and(capabilities)?;
    let mut tried = 0;
    for (kind, file) in [("tool", "made.txt"), ("read", "seen.txt"), ("run", ""), ("ask", ""), ("echo", "")] {
        let Ok(words) = case.words(kind) else { continue };
        tried += 1;
        let words = words.replace("{PATH}", file).replace("{TEXT}", "x").replace("{COMMAND}", "echo hi");
        turn(&mut client, &prompt(&session, &words))?;
    }
    if tried == 0 {
        turn(&mut client, &prompt(&session, &case.plain()))?;
    }
    Ok(client)
}

fn uses(client: &Client, start: &str) -> Option<String> {
    client.heard.iter().find(|heard| heard.method.starts_with(start)).map(|heard| heard.method.clone())
}

fn unused(case: &mut Case<'_>, capabilities: &Value, methods: &[&str]) -> Judged {
    let client = busy_turns(case, capabilities)?;
    for method in methods {
        let used = uses(&client, method);
        ensure(used.is_none(), || format!("{} is used, and was not offered", used.unwrap_or_default()))?;
    }
    Ok(())
}

fn no_files(case: &mut Case<'_>) -> Judged {
    unused(case, &json!({}), &["fs/"])
}

fn no_terminal(case: &mut Case<'_>) -> Judged {
    unused(case, &json!({}), &["terminal/"])?;
    unused(case, &json!({"terminal": false}), &["terminal/"])
}

fn no_forms(case: &mut Case<'_>) -> Judged {
    for elicitation in [json!(null), json!({})] {
        unused(case, &json!({"elicitation": elicitation}), &["elicitation/"])?;
    }
    Ok(())
}

fn nothing_offered(case: &mut Case<'_>) -> Judged {
    // These two may be null by the schema; other nulls are values of the wrong type, which are no agent's duty to read.
    let offer = json!({"session": null, "elicitation": null});
    unused(case, &offer, &["fs/", "terminal/", "elicitation/"])
}

fn reading_apart_from_writing(case: &mut Case<'_>) -> Judged {
    let reading = json!({"fs": {"readTextFile": true, "writeTextFile": false}});
    unused(case, &reading, &["fs/write_text_file"])?;
    let writing = json!({"fs": {"writeTextFile": true}});
    unused(case, &writing, &["fs/read_text_file"])
}

fn all_combinations(case: &mut Case<'_>) -> Judged {
    for capabilities in [
        json!({"fs": {"readTextFile": true}}),
        json!({"fs": {"writeTextFile": true}}),
        json!({"fs": {"readTextFile": true, "writeTextFile": true}, "elicitation": {"form": {}}}),
        json!({"elicitation": {"url": {}}, "session": {"notices": {}, "compaction": {}}}),
    ] {
        busy_turns(case, &capabilities)?;
    }
    Ok(())
}

fn file_calls_fit(case: &mut Case<'_>) -> Judged {
    let client = busy_turns(case, &json!({"fs": {"readTextFile": true, "writeTextFile": true}}))?;
    let calls: Vec<_> = client.heard.iter().filter(|heard| heard.method.starts_with("fs/")).collect();
    for call in &calls {
        let definition =
            if call.method.contains("read") { "ReadTextFileRequest" } else { "WriteTextFileRequest" };
        let faults = schema::stable().faults(definition, &call.params);
        ensure(faults.is_empty(), || faults.join("; "))?;
        let absolute = call.params["path"].as_str().is_some_and(|path| path.starts_with('/'));
        ensure(absolute, || format!("{} names the path {}", call.method, call.params["path"]))?;
        let counted = call.params["line"].as_u64().is_none_or(|line| line > 0);
        ensure(counted, || "lines count from 1".into())?;
    }
    if calls.is_empty() { inconclusive("the agent used no fs/* method") } else { Ok(()) }
}

fn file_errors(case: &mut Case<'_>) -> Judged {
    case.desk.files_fail = true;
    let client = busy_turns(case, &json!({"fs": {"readTextFile": true, "writeTextFile": true}}))?;
    if uses(&client, "fs/").is_some() { Ok(()) } else { inconclusive("the agent used no fs/* method") }
}

fn asked(case: &mut Case<'_>, capabilities: &Value, answer: Value) -> Judged<(Client, Vec<Value>)> {
    let words = case.words("ask")?;
    case.desk.elicitation = answer;
    let (mut client, session) = case.with_session_and(capabilities)?;
    turn(&mut client, &prompt(&session, words))?;
    let requests = client.heard.iter().filter(|heard| heard.method == "elicitation/create");
    let requests = requests.map(|heard| heard.params.clone()).collect();
    Ok((client, requests))
}

fn offered_modes_only(case: &mut Case<'_>) -> Judged {
    for mode in ["form", "url"] {
        let (_, requests) = asked(case, &json!({"elicitation": {mode: {}}}), json!({"action": "cancel"}))?;
        let other = requests.iter().find(|request| request["mode"] != mode);
        ensure(other.is_none(), || {
            format!("a client that offers only {mode} is asked {}", other.unwrap_or(&Value::Null))
        })?;
    }
    Ok(())
}

fn falls_back(case: &mut Case<'_>) -> Judged {
    asked(case, &json!({}), json!({"action": "cancel"})).map(drop)
}

fn form(case: &mut Case<'_>, answer: Value) -> Judged<(Client, Vec<Value>)> {
    let (client, requests) = asked(case, &json!({"elicitation": {"form": {}, "url": {}}}), answer)?;
    if requests.is_empty() {
        return inconclusive("the agent asked nothing");
    }
    Ok((client, requests))
}

fn request_fits(case: &mut Case<'_>) -> Judged {
    for request in form(case, json!({"action": "cancel"}))?.1 {
        let faults = schema::stable().faults("CreateElicitationRequest", &request);
        ensure(faults.is_empty(), || faults.join("; "))?;
        let scopes =
            [&request["sessionId"], &request["requestId"]].iter().filter(|scope| !scope.is_null()).count();
        ensure(scopes == 1, || "the request has not exactly one of sessionId and requestId".into())?;
    }
    Ok(())
}

fn form_fits(case: &mut Case<'_>) -> Judged {
    for request in form(case, json!({"action": "cancel"}))?.1 {
        if request["mode"] == "form" {
            let faults = schema::stable().faults("ElicitationSchema", &request["requestedSchema"]);
            ensure(faults.is_empty(), || faults.join("; "))?;
        }
    }
    Ok(())
}

fn not_accepted(case: &mut Case<'_>) -> Judged {
    for answer in [
        json!({"action": "decline"}),
        json!({"action": "cancel"}),
        json!({"action": "accept", "content": {}}),
    ] {
        let (mut client, _) = form(case, answer)?;
        client.alive()?;
    }
    Ok(())
}

fn unknown_action(case: &mut Case<'_>) -> Judged {
    let (mut client, _) = form(case, json!({"action": "_accord/unknown", "content": {"any": "thing"}}))?;
    client.alive()
}

fn content_left_out(case: &mut Case<'_>) -> Judged {
    for action in ["accept", "decline", "cancel"] {
        for content in [None, Some(Value::Null)] {
            let mut answer = json!({"action": action});
            if let Some(content) = content {
                answer["content"] = content;
            }
            form(case, answer)?.0.alive()?;
        }
    }
    form(case, json!({"action": "decline", "content": {"ignored": true}}))?.0.alive()
}

fn null_result(case: &mut Case<'_>) -> Judged {
    case.desk.null_results = true;
    let client = busy_turns(case, &json!({"fs": {"writeTextFile": true}}))?;
    if uses(&client, "fs/write").is_none() {
        return inconclusive("the agent did not use fs/write_text_file");
    }
    let failed = client.heard.iter().any(|heard| heard.params["update"]["status"] == "failed");
    ensure(!failed, || "a tool fails when fs/write_text_file is answered with null".into())
}

fn terminals_are_released(case: &mut Case<'_>) -> Judged {
    case.desk.terminals = Some(Terminals::default());
    let client = busy_turns(case, &json!({"terminal": true}))?;
    let (made, released) = client.desk.terminals.as_ref().map_or((0, 0), |all| (all.made, all.released));
    if made == 0 {
        return inconclusive("the agent made no terminal");
    }
    ensure(made == released, || {
        format!("{released} of {made} terminals were released by the end of the turn")
    })
}
