//! Lines that are no messages, and messages that make no sense: each concerns only itself.

use serde_json::json;

use super::{Check, check};
use crate::wire::case::{Case, prompt};
use crate::wire::client::{Client, told};
use crate::wire::verdict::{Judged, ensure, fail};

pub(super) const CHECKS: &[Check] = &[
    check("ACP-INFO-PARSE-001", no_json),
    check("ACP-INFO-INVALIDREQ-001", no_message),
    check("ACP-INFO-UNKNOWNSESSION-001", unknown_session),
    check("ACPX-TR-010", white_space),
    check("ACPX-TR-011", blank_lines),
    check("ACPX-TR-014", malformed_lines),
    check("ACPX-TR-020", unusual_json),
    check("ACPX-RPC-010", parse_error),
    check("ACPX-RPC-011", invalid_request),
    check("ACPX-RPC-012", arrays),
    check("ACPX-PROMPT-019", prompt_without_blocks),
    check("ACPX-PROMPT-020", unknown_block),
    check("ACPX-PROMPT-022", empty_prompt),
];

fn no_json(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.process.write("{oops\n");
    client.alive()
}

fn no_message(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.process.write("{\"foo\":\"bar\"}\n");
    client.alive()
}

fn unknown_session(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.ask("session/prompt", &prompt("made-up", "nobody hears this")).map(drop)
}

fn white_space(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    for (id, line) in [
        ("crlf", "{\"jsonrpc\":\"2.0\",\"id\":\"crlf\",\"method\":\"_accord/x\",\"params\":{}}\r\n"),
        ("indented", "  \t{ \"jsonrpc\" : \"2.0\", \"id\": \"indented\", \"method\": \"_accord/x\" } \n"),
    ] {
        client.process.write(line);
        answered(&mut client, id)?;
    }
    Ok(())
}

fn answered(client: &mut Client, id: &str) -> Judged {
    let sent = crate::wire::client::Sent { id: json!(id), method: format!("the {id} request") };
    client.answer(&sent).map(drop)
}

fn blank_lines(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.process.write("\n\n   \n\t\n\r\n");
    client.alive()
}

fn malformed_lines(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    for line in [
        "nonsense",
        "{\"jsonrpc\":",
        "42",
        "\"text\"",
        "null",
        "true",
        "{}",
        "{\"jsonrpc\":\"2.0\",\"method\":5}",
    ] {
        client.process.write(format!("{line}\n"));
        client.alive().or_else(|_| fail(format!("the line {line} ends the connection")))?;
    }
    client.call("session/prompt", &prompt(&session, &case.plain())).map(drop)
}

fn unusual_json(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let lines: [(&str, Vec<u8>); 4] = [
        ("nested 100000 deep", with_param("deep", deep.as_bytes())),
        ("a lone surrogate", with_param("surrogate", b"\"\\ud800\"")),
        ("a NUL escape", with_param("nul", b"\"a\\u0000b\"")),
        ("invalid UTF-8", with_param("bytes", b"\"\xff\xfe\"")),
    ];
    for (what, line) in lines {
        client.process.write(line);
        client.alive().or_else(|_| fail(format!("{what} ends the connection")))?;
    }
    Ok(())
}

fn with_param(id: &str, value: &[u8]) -> Vec<u8> {
    let start =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"_accord/odd\",\"params\":{{\"x\":");
    [start.as_bytes(), value, b"}}\n"].concat()
}

fn parse_error(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.process.write("{oops\n");
    expect_null(&mut client, -32700)
}

fn invalid_request(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.process.write("{\"jsonrpc\":\"2.0\",\"foo\":1}\n");
    expect_null(&mut client, -32600)
}

/// One error with the id null and this code.
fn expect_null(client: &mut Client, code: i64) -> Judged {
    client.alive()?;
    let quiet = std::time::Duration::from_millis(300);
    client.listen_until(quiet, |client| client.unclaimed().next().is_some());
    let answers: Vec<String> =
        client.unclaimed().map(|(id, answer)| format!("{} with the id {id}", told(answer.code()))).collect();
    let given = if answers.is_empty() { "nothing".to_owned() } else { answers.join(", ") };
    let wanted = format!("the error {code} with the id null");
    ensure(given == wanted, || format!("expected {wanted}, got {given}"))
}

fn arrays(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.process.write("[{\"jsonrpc\":\"2.0\",\"id\":\"in a batch\",\"method\":\"_accord/x\"}]\n");
    client.alive().or_else(|_| fail("a batch ends the connection"))?;
    client.process.write("[]\n");
    client.alive().or_else(|_| fail("an empty array ends the connection"))
}

fn prompt_without_blocks(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    for params in [json!({"sessionId": session}), json!({"sessionId": session, "prompt": "text"})] {
        let code = client.ask("session/prompt", &params)?.code();
        ensure(code == Some(-32602), || format!("{params} is answered with {}, not -32602", told(code)))?;
    }
    Ok(())
}

fn unknown_block(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let params = json!({"sessionId": session, "prompt": [{"type": "_accord/hologram", "data": 1}]});
    client.ask("session/prompt", &params)?;
    client.alive()
}

fn empty_prompt(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.ask("session/prompt", &json!({"sessionId": session, "prompt": []}))?;
    client.alive()
}
