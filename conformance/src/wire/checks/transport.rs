//! Lines and bytes: read boundaries, many messages at once, big ones, a reader that pauses, the end of input.

use std::time::Duration;

use serde_json::json;

use super::{Check, check};
use crate::wire::case::{Case, hello, prompt};
use crate::wire::client::Sent;
use crate::wire::verdict::{Judged, ensure, fail, inconclusive};

pub(super) const CHECKS: &[Check] = &[
    check("ACPX-TR-007", byte_by_byte),
    check("ACPX-TR-008", split_characters),
    check("ACPX-TR-009", many_in_one_write),
    check("ACPX-TR-012", large_messages),
    check("ACPX-TR-013", pausing_reader),
];

fn byte_by_byte(case: &mut Case<'_>) -> Judged {
    let mut client = case.start()?;
    let params = hello(&json!({}));
    let line = json!({"jsonrpc": "2.0", "id": "slow", "method": "initialize", "params": params});
    client.process.write_slowly(format!("{line}\n"), Duration::from_micros(500));
    let sent = Sent { id: json!("slow"), method: "initialize".into() };
    client.answer(&sent)?.result().map(drop)
}

fn split_characters(case: &mut Case<'_>) -> Judged {
    const TEXT: &str = "grün 漢字 😀 é";
    let (mut client, session) = case.with_session()?;
    let echo = case.subject.prompts.get("echo").filter(|words| words.contains("{TEXT}"));
    let words = echo
        .map_or_else(|| TEXT.to_owned(), |words| words.replace("{TEXT}", &format!("{TEXT} \\ud83d\\ude00")));
    let params =
        prompt(&session, &words).to_string().replace("\\\\ud83d", "\\ud83d").replace("\\\\ude00", "\\ude00");
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":\"split\",\"method\":\"session/prompt\",\"params\":{params}}}\n"
    );
    client.process.write_slowly(line, Duration::from_micros(200));
    let sent = Sent { id: json!("split"), method: "session/prompt".into() };
    client.answer(&sent)?.result()?;
    if echo.is_none() {
        return Ok(());
    }
    let said: String = client
        .heard
        .iter()
        .filter(|heard| heard.kind() == "agent_message_chunk")
        .filter_map(|heard| heard.params["update"]["content"]["text"].as_str())
        .collect();
    ensure(said.contains(&format!("{TEXT} 😀")), || format!("the text comes back as {said:?}"))
}

fn many_in_one_write(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let ids: Vec<String> = (0..20).map(|number| format!("many-{number}")).collect();
    let mut lines = String::new();
    for id in &ids {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "_accord/x", "params": {}});
        lines.push_str(&request.to_string());
        lines.push('\n');
    }
    client.process.write(lines);
    for id in ids {
        client.answer(&Sent { id: json!(id), method: id.clone() })?;
    }
    client.listen(case.subject.quiet);
    match client.unclaimed().next() {
        Some((id, _)) => fail(format!("{id} is answered twice")),
        None => Ok(()),
    }
}

fn large_messages(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let padding = |size: usize| format!("{} {}", case.plain(), "x".repeat(size));
    client.call("session/prompt", &prompt(&session, &padding(1 << 20)))?;
    client.ask("session/prompt", &prompt(&session, &padding(20 << 20)))?;
    client.alive()
}

fn pausing_reader(case: &mut Case<'_>) -> Judged {
    let words = case.words("stream")?;
    let mut client = case.ready()?;
    let first = case.session(&mut client)?;
    let second = case.session(&mut client)?;
    client.process.pause_reading();
    let turns = [&first, &second].map(|session| client.send("session/prompt", &prompt(session, words)));
    std::thread::sleep(case.subject.quiet * 2);
    client.process.resume_reading();
    for turn in &turns {
        client.answer(turn)?.result()?;
    }
    let torn = client.process.evidence().frames().iter().any(|frame| frame.json().is_err());
    ensure(!torn, || "a line does not parse".into())?;
    let of = |session: &str| client.heard.iter().filter(|heard| heard.updates(session)).count();
    ensure(of(&first) == of(&second), || {
        format!("two equal turns gave {} and {} updates", of(&first), of(&second))
    })?;
    if of(&first) < 100 { inconclusive("the turn streams too little to fill a pipe") } else { Ok(()) }
}
