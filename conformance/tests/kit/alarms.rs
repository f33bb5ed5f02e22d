//! False alarms that other people's programs have set off: agents that do as they may, and must not be blamed for it.

use std::path::Path;
use std::process::Command;

use accord_conformance::wire::frame::{Direction, Frame};
use accord_conformance::wire::witness::judge;
use serde_json::{Value, json};

const SESSION: &str = r#"{"sessionId":"s"}"#;
const HELLO: &str = r#"{"protocolVersion":1,"agentCapabilities":{}}"#;
const TURN: &str = r#"{"stopReason":"end_turn"}"#;

/// An agent that gives each request the lines that stand behind its method, and refuses the others.
fn stub(answers: &[(&str, String)]) -> Vec<String> {
    let rule = |(method, lines): &(&str, String)| {
        [r#"s|^.*"id":([^,]*),.*"method":""#, method, r#"".*$|"#, lines, "|;t;"].concat()
    };
    let mut script: String = answers.iter().map(rule).collect();
    script.push_str(r#"s|^.*"id":([^,]*),.*"method".*$|{"jsonrpc":"2.0","id":\1,"error":{"code":-32601,"message":"no"}}|;t;d"#);
    ["sed", "-u", "-E", &script].map(str::to_owned).into()
}

/// The line that answers a request.
fn result(text: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":\1,"result":{text}}}"#)
}

/// Updates of the session.
fn updates(updates: &[Value]) -> String {
    let line = |update: &Value| json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}});
    let lines = updates.iter().map(|update| line(update).to_string());
    lines.collect::<Vec<_>>().join("\\n")
}

fn chunk(kind: &str, id: &str) -> Value {
    json!({"sessionUpdate": kind, "messageId": id, "content": {"type": "text", "text": "x"}})
}

/// An agent with sessions, whose load replays these updates.
fn loading(updates: &[Value]) -> Vec<String> {
    let hello = r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}"#;
    stub(&[
        ("initialize", result(hello)),
        ("session/new", result(SESSION)),
        ("session/prompt", result(TURN)),
        ("session/load", [self::updates(updates), result("{}")].join("\\n")),
    ])
}

/// The verdict and the reason for each of `ids`.
fn verdicts(ids: &str, flags: &[&str], agent: &[String]) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let report = folder.path().join("report.json");
    let ran = Command::new(env!("CARGO_BIN_EXE_accord-conformance"))
        .args(["agent", "--only", ids, "--json"])
        .arg(&report)
        .args(flags)
        .arg("--")
        .args(agent)
        .output()
        .expect("the kit is built");
    read(&report, ids).unwrap_or_else(|| panic!("no report: {}", String::from_utf8_lossy(&ran.stderr)))
}

fn read(report: &Path, ids: &str) -> Option<Vec<(String, String)>> {
    let report: Value = serde_json::from_slice(&std::fs::read(report).ok()?).ok()?;
    let of = |id: &str| {
        let outcome = report["results"].as_array()?.iter().find(|outcome| outcome["id"] == id)?.clone();
        Some((outcome["verdict"].as_str()?.to_owned(), outcome["why"].as_str()?.to_owned()))
    };
    ids.split(',').map(of).collect()
}

// The SDK's smallest example knows initialize alone: one requirement is broken, and not all that need a session.
#[test]
fn without_any_session_only_the_requirement_of_sessions_fails() {
    let agent = stub(&[("initialize", result(HELLO))]);
    let found = verdicts(
        "ACP-SESSION-001,ACP-PROMPT-001,ACPX-SESS-011,ACPX-RPC-023",
        &["--prompt-history=x"],
        &agent,
    );
    let names: Vec<&str> = found.iter().map(|(verdict, _)| verdict.as_str()).collect();
    assert_eq!(names, ["failed", "inconclusive", "inconclusive", "inconclusive"], "{found:?}");
}

// Who takes no MCP servers breaks the requirement of MCP servers, and none of those about how they are started.
#[test]
fn without_any_mcp_server_only_the_requirement_of_servers_fails() {
    let mut agent = stub(&[
        ("initialize", result(HELLO)),
        ("session/new", result(SESSION)),
        ("session/prompt", result(TURN)),
    ]);
    let refusal = r#"{"jsonrpc":"2.0","id":\1,"error":{"code":-32602,"message":"no servers"}}"#;
    agent[3] = format!(r#"s|^.*"id":([^,]*),.*"mcpServers":\[\{{.*$|{refusal}|;t;{}"#, agent[3]);
    let ids = "ACPX-MCP-001,ACPX-MCP-002,ACPX-MCP-003,ACPX-MCP-009,ACPX-MCP-013,ACPX-AUTH-014,ACPX-MCP-010";
    let found = verdicts(ids, &[], &agent);
    let names: Vec<&str> = found.iter().map(|(verdict, _)| verdict.as_str()).collect();
    let open = "inconclusive";
    assert_eq!(names, ["failed", open, open, open, open, open, "passed"], "{found:?}");
    assert!(found[1..6].iter().all(|(_, why)| why.contains("see ACPX-MCP-001")), "{found:?}");
}

// Only some capabilities may be null by the schema, and an agent that refuses another null is not lenient, which is no duty.
#[test]
fn a_null_that_the_schema_does_not_have_breaks_no_mandatory_requirement() {
    let mut agent = stub(&[
        ("initialize", result(HELLO)),
        ("session/new", result(SESSION)),
        ("session/prompt", result(TURN)),
    ]);
    let refusal = r#"{"jsonrpc":"2.0","id":\1,"error":{"code":-32603,"message":"no null"}}"#;
    agent[3] = format!(
        r#"s|^.*"fs":null.*"id":([^,]*),.*$|{refusal}|;t;s|^.*"id":([^,]*),.*"fs":null.*$|{refusal}|;t;{}"#,
        agent[3]
    );
    let found = verdicts("ACPX-INIT-006,ACPX-INIT-012", &[], &agent);
    let names: Vec<&str> = found.iter().map(|(verdict, _)| verdict.as_str()).collect();
    assert_eq!(names, ["passed", "failed"], "{found:?}");
}

// A scripted model that is offered no such tool says so, and the file is nowhere.
#[test]
fn a_turn_without_a_tool_says_nothing_of_where_tools_write() {
    let agent = stub(&[
        ("initialize", result(HELLO)),
        ("session/new", result(SESSION)),
        ("session/prompt", result(TURN)),
    ]);
    let ids = "ACPX-SESS-006,ACPX-SESS-007,ACPX-SESS-008,ACPX-SESS-009";
    let found = verdicts(ids, &["--prompt-tool=write {PATH}"], &agent);
    assert!(found.iter().all(|(_, why)| why == "the turn used no tool"), "{found:?}");
}

// One fault is one failure: a load that never succeeds says nothing of what it replays.
#[test]
fn what_follows_from_a_load_that_fails_is_not_held_against_the_rest() {
    let hello = r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}"#;
    let agent = stub(&[
        ("initialize", result(hello)),
        ("session/new", result(SESSION)),
        ("session/prompt", result(TURN)),
    ]);
    let found = verdicts("ACP-LOAD-001,ACP-LOAD-002,ACPX-LOAD-003,ACPX-RESTART-003", &[], &agent);
    let names: Vec<&str> = found.iter().map(|(verdict, _)| verdict.as_str()).collect();
    assert_eq!(names, ["failed", "inconclusive", "inconclusive", "inconclusive"], "{found:?}");
    assert!(found[1..].iter().all(|(_, why)| why.starts_with("see ACP-LOAD-001: ")), "{found:?}");
    // Alone it has nothing to follow from.
    let found = verdicts("ACPX-LOAD-003", &[], &agent);
    assert_eq!(found[0].0, "failed", "{found:?}");
}

// A model's message begins with its thoughts, and both are chunks of one message.
#[test]
fn thoughts_and_text_of_one_message_share_its_id() {
    let kinds = ["agent_thought_chunk", "agent_message_chunk"].map(|kind| chunk(kind, "m"));
    let found = verdicts("ACPX-LOAD-004", &[], &loading(&kinds));
    assert_eq!(found[0].0, "passed", "{found:?}");
    let mixed = ["user_message_chunk", "agent_message_chunk"].map(|kind| chunk(kind, "m"));
    let found = verdicts("ACPX-LOAD-004", &[], &loading(&mixed));
    assert_eq!(found[0].0, "failed", "{found:?}");
}

// The tool that was asked about is not the only one of its turn.
#[test]
fn what_needs_no_permission_may_complete_before_one_is_refused() {
    let read = |status: &str| json!({"sessionUpdate": "tool_call", "toolCallId": "read", "title": "Read", "status": status});
    let write =
        json!({"sessionUpdate": "tool_call", "toolCallId": "write", "title": "Write", "status": "pending"});
    let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
    let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "write"}, "options": options});
    let ask = json!({"jsonrpc": "2.0", "id": 100, "method": "session/request_permission", "params": params});
    for (status, verdict) in [("pending", "passed"), ("completed", "failed")] {
        let end = json!({"sessionUpdate": "tool_call_update", "toolCallId": "write", "status": status});
        let mut agent = stub(&[
            ("initialize", result(HELLO)),
            ("session/new", result(SESSION)),
            ("session/prompt", [updates(&[read("completed"), write.clone()]), ask.to_string()].join("\\n")),
        ]);
        // The third request is the prompt; its turn ends when the question is answered.
        let turn = format!(r#"{}\n{{"jsonrpc":"2.0","id":2,"result":{TURN}}}"#, updates(&[end]));
        agent[3] = format!(r#"s|^.*"id":100,.*$|{turn}|;t;{}"#, agent[3]);
        let found = verdicts("ACPX-PERM-006", &["--prompt-tool=write"], &agent);
        assert_eq!(found[0].0, verdict, "{found:?}");
    }
}

// What is said of the loading itself comes before or behind the history.
#[test]
fn a_notice_about_the_loading_is_not_replayed() {
    let notice = json!({"sessionUpdate": "notice", "severity": "warning", "title": "No sandbox"});
    let (asked, told) = (chunk("user_message_chunk", "1"), chunk("agent_message_chunk", "2"));
    let found = verdicts("ACPX-LOAD-009", &[], &loading(&[asked.clone(), told.clone(), notice.clone()]));
    assert_eq!(found[0].0, "passed", "{found:?}");
    let found = verdicts("ACPX-LOAD-009", &[], &loading(&[asked, notice, told]));
    assert_eq!(found[0].0, "failed", "{found:?}");
}

fn told(lines: &[(Direction, Value)]) -> Vec<&'static str> {
    let frames: Vec<Frame> = lines
        .iter()
        .map(|(direction, line)| {
            Frame::new(std::time::Duration::ZERO, *direction, line.to_string().into_bytes())
        })
        .collect();
    judge(&frames).findings.iter().map(|finding| finding.id).collect()
}

// To JSON-RPC, params that are neither object nor array make a request invalid, and its answer has no id.
#[test]
fn a_request_with_scalar_params_may_be_answered_without_its_id() {
    let answer =
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "Invalid request"}});
    for (params, count) in [(json!(5), 0), (json!({}), 1)] {
        let ask = json!({"jsonrpc": "2.0", "id": 2, "method": "_x", "params": params});
        let lines = [(Direction::ToClient, ask), (Direction::ToAgent, answer.clone())];
        let found = told(&lines).into_iter().filter(|id| *id == "ACPX-RPC-003").count();
        assert_eq!(found, count, "{params}");
    }
}

// An agent that speaks a later version answers in that version's form.
#[test]
fn the_schema_of_version_1_does_not_judge_another_version() {
    let hello = |version: u16| json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": version}});
    let answer = |version: u16| {
        let result =
            json!({"protocolVersion": version, "info": {"name": "a"}, "authMethods": [{"methodId": "m"}]});
        json!({"jsonrpc": "2.0", "id": 0, "result": result})
    };
    let later = [(Direction::ToAgent, hello(9)), (Direction::ToClient, answer(2))];
    assert_eq!(told(&later), Vec::<&str>::new());
    let first = [(Direction::ToAgent, hello(1)), (Direction::ToClient, answer(1))];
    assert!(told(&first).contains(&"ACP-SCHEMA-001"));
}
