//! The relay as a program between others: every byte passes, cancels and ends reach the other side, the tap tells of it.
#![cfg(unix)]

use std::{fs, path::Path, process::Command};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::fixtures::{CLIENT, Piped, RELAY, lines, shell, subject};

/// The arguments of a relay in front of an agent.
fn before(agent: &[String], tap: &Path) -> Vec<String> {
    let own = ["--tap".to_owned(), tap.display().to_string(), "--".to_owned()];
    own.into_iter().chain(agent.iter().cloned()).collect()
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

// Rule 8: whatever a line holds, it comes out as it went in: odd spacing and numbers, ids of any kind, members twice, unknown
// methods, carriage returns, noise, what is no UTF-8, a long line, a last line without an end.
#[test]
fn every_byte_passes() {
    let dir = tempdir().unwrap();
    let tap = dir.path().join("tap");
    let cat = ["cat".to_owned()];
    let mut echo = Piped::start(RELAY, &before(&cat, &tap), dir.path());
    let long = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"_x/long\",\"params\":\"{}\"}}\n",
        "y".repeat(5 * 1024 * 1024)
    );
    let odd: [&[u8]; 8] = [
        b"  { \"id\" : 1e2 , \"method\":\"_future/thing\",\"method\":\"twice\", \"params\":[1.000, -0] }\r\n",
        b"\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{\"\\u00e9\":\"\\ud800\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":{\"sessionUpdate\":\"_new\",\"z\":1,\"a\":2}}}\n",
        b"npm warn \xFF\xFE\n",
        b"[1, 2]\n",
        long.as_bytes(),
        b"{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":\"a\"}}\n",
    ];
    for line in odd {
        assert!(echo.exchange(line) == line, "{}", line[..line.len().min(100)].escape_ascii());
    }
    echo.write(b"{\"no\":\"end\"");
    echo.close();
    assert_eq!(echo.line(), b"{\"no\":\"end\"");
    let (rest, status) = echo.end();
    assert_eq!((rest.len(), status.code()), (0, Some(0)));
    // The tap tells which way and what, and nothing of what is said.
    let told = fs::read_to_string(&tap).unwrap();
    for what in [
        "-> notification $/cancel_request",
        "<- notification $/cancel_request",
        "-> no message",
        "-> a long line",
    ] {
        assert!(told.contains(what), "no `{what}` in {told}");
    }
    assert!(!told.contains("npm") && !told.contains("yyy"), "{told}");
}

// A whole turn with a permission, as a user's client drives it: the agent behind the relay is as the agent itself.
#[test]
fn a_turn_passes_with_its_permission() {
    let (dir, state) = (tempdir().unwrap(), tempdir().unwrap());
    let tap = dir.path().join("tap");
    let output = Command::new(CLIENT)
        .args(["--permission", "allow", "--prompt", "write a.txt hello", "--prompt", "echo done", "--"])
        .arg(RELAY)
        .args(before(&subject(state.path()), &tap))
        .current_dir(dir.path())
        .output()
        .unwrap();
    let events = lines(&String::from_utf8(output.stdout).unwrap());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "hello");
    assert!(events.iter().any(|event| event["type"] == "message.completed" && event["text"] == "done"));
    let told = fs::read_to_string(&tap).unwrap();
    for what in [
        "-> request 1 initialize",
        "<- answer 1",
        "<- update of ",
        "<- request ",
        "session/request_permission",
    ] {
        assert!(told.contains(what), "no `{what}` in {told}");
    }
    assert!(!told.contains("hello"), "{told}");
}

// E20: the client's cancel reaches the agent, and what the agent says of it the client: the question is taken back, the turn
// ends cancelled.
#[test]
fn cancels_pass_both_ways() {
    let (dir, state) = (tempdir().unwrap(), tempdir().unwrap());
    let mut client =
        Piped::start(RELAY, &before(&subject(state.path()), &dir.path().join("tap")), dir.path());
    client.send(&request(0, "initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}})));
    client.send(&request(1, "session/new", &json!({"cwd": dir.path(), "mcpServers": []})));
    let session =
        client.find(|message| message["id"] == 1 && message["method"].is_null())["result"]["sessionId"]
            .clone();
    let text = json!([{"type": "text", "text": "permit 1"}]);
    client.send(&request(2, "session/prompt", &json!({"sessionId": session, "prompt": text})));
    let question = client.find(|message| message["method"] == "session/request_permission");
    client.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}));
    let taken_back = client.find(|message| message["method"] == "$/cancel_request");
    assert_eq!(taken_back["params"]["requestId"], question["id"]);
    let outcome = json!({"outcome": {"outcome": "cancelled"}});
    client.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
    let answer = client.find(|message| message["id"] == 2 && message["method"].is_null());
    assert_eq!(answer["result"]["stopReason"], "cancelled");
}

// E5, B040: the agent dies in a turn: the client sees that at once, with the agent's own exit status.
#[test]
fn the_agents_end_reaches_the_client() {
    let dir = tempdir().unwrap();
    let output = Command::new(CLIENT)
        .args(["--prompt", "go", "--"])
        .arg(RELAY)
        .args(before(&shell("", "exit 7"), &dir.path().join("tap")))
        .current_dir(dir.path())
        .output()
        .unwrap();
    let events = lines(&String::from_utf8(output.stdout).unwrap());
    let end = events.last().unwrap();
    assert_eq!((output.status.code(), end["cause"].as_str()), (Some(9), Some("connection_lost")), "{end}");
    assert!(end["message"].as_str().unwrap().contains('7'), "{end}");
}

// E5: the client goes away: the agent's input ends, and the relay does not outlive it. Killed, the agent is gone as well.
#[test]
fn the_clients_end_reaches_the_agent() {
    for killed in [false, true] {
        let (dir, state) = (tempdir().unwrap(), tempdir().unwrap());
        let mut client = Piped::start(
            RELAY,
            &before(&subject_with_pid(state.path()), &dir.path().join("tap")),
            dir.path(),
        );
        client.send(&request(0, "initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}})));
        client.find(|message| message["id"] == 0);
        let agent = pid_in(&dir.path().join("pid"));
        assert!(test_kill_process(agent).is_ok(), "the agent runs");
        if killed {
            kill_process(agent, Signal::KILL).expect("it runs");
            let (rest, status) = client.end();
            assert!(rest.is_empty() && !status.success(), "{rest:?} {status}");
        } else {
            client.close();
            let (_, status) = client.end();
            assert_eq!(status.code(), Some(0));
        }
        assert!(test_kill_process(agent).is_err(), "the agent is gone");
    }
}

/// The subject agent, which writes down its process id first.
fn subject_with_pid(state: &Path) -> Vec<String> {
    let agent = subject(state).join("' '");
    vec!["/bin/sh".to_owned(), "-c".to_owned(), format!("echo $$ > pid; exec '{agent}'")]
}

fn pid_in(file: &Path) -> Pid {
    let text = fs::read_to_string(file).expect("the agent wrote its process id");
    text.trim().parse().ok().and_then(Pid::from_raw).expect("a process id")
}
