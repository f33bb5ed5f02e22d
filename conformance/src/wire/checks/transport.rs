//! Lines and bytes: read boundaries, many messages at once, big ones, a reader that pauses, the end of input.

use std::time::Duration;

use serde_json::json;

use super::prompts::turn;
use super::{Check, check};
use crate::wire::case::{Case, hello, prompt};
use crate::wire::client::Sent;
use crate::wire::verdict::{Judged, Stop, ensure, fail, inconclusive};

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
    let plain = format!("{} ", case.plain());
    let padded = |size: usize| plain.clone() + &"x".repeat(size.saturating_sub(plain.len()));
    client.call("session/prompt", &prompt(&session, &padded(1_000_000)))?;
    client.ask("session/prompt", &prompt(&session, &padded(20_000_000)))?;
    client.alive()
}

/// More than a pipe holds, so that a writer has to wait for its reader.
const PIPE: usize = 128 * 1024;

fn pausing_reader(case: &mut Case<'_>) -> Judged {
    let words = case.words("stream")?;
    let mut client = case.ready()?;
    let mut sessions = Vec::new();
    for _ in 0..4 {
        sessions.push(case.session(&mut client)?);
    }
    // Whether equal turns say the same at all is seen without a pause first.
    for session in &sessions[2..] {
        turn(&mut client, &prompt(session, words))?;
    }
    client.process.pause_reading();
    let turns = [0, 1].map(|place| client.send("session/prompt", &prompt(&sessions[place], words)));
    std::thread::sleep(case.subject.quiet * 2);
    client.process.resume_reading();
    for turn in &turns {
        client.answer(turn)?.result()?;
    }
    let frames = client.process.evidence().frames();
    if frames.iter().any(|frame| frame.json().is_err()) {
        return Err(Stop::Follows("ACP-TRANSPORT-001", "a line does not parse".into()));
    }
    let said = |session: &String| -> String {
        let chunks = client.heard.iter().filter(|heard| heard.updates(session));
        let chunks = chunks.filter(|heard| heard.kind() == "agent_message_chunk");
        chunks.filter_map(|heard| heard.params["update"]["content"]["text"].as_str()).collect()
    };
    let said: Vec<String> = sessions.iter().map(said).collect();
    if said[2] == said[3] {
        let lost = said[..2].iter().find(|text| **text != said[2]);
        ensure(lost.is_none(), || {
            let lengths = [lost.map_or(0, String::len), said[2].len()];
            format!("a turn says {} bytes while nobody reads, and {} otherwise", lengths[0], lengths[1])
        })?;
    }
    let size: usize = said[..2].iter().map(String::len).sum();
    if size < PIPE { inconclusive("the turn streams too little to fill a pipe") } else { Ok(()) }
}
