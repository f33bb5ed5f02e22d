//! The subject agent is asked to terminate: with a client that reads and with one that does not.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use serde_json::json;

use crate::{
    fixtures::hears_hang_ups,
    process::{Agent, Home, said, updates},
};

/// A pipe of sixteen pages holds at least so much, however its writes fall: two that follow each other fill more than one page.
const FULL: u64 = 30_000;
/// Far more than anything here takes.
const HANG: Duration = Duration::from_secs(120);

/// A named pipe, into which a process writes its number when it has started.
pub(crate) fn report(dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    path
}

pub(crate) fn pid(report: &Path) -> String {
    let mut line = String::new();
    BufReader::new(File::open(report).expect("it is there")).read_line(&mut line).expect("a line");
    line.trim().to_owned()
}

/// Waits until a process is gone; one that nobody has waited for is.
pub(crate) fn wait_for_the_end_of(pid: &str) {
    let started = Instant::now();
    while let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) {
        if stat.contains(") Z ") {
            return;
        }
        assert!(started.elapsed() < HANG, "process {pid} is still there");
        thread::yield_now();
    }
}

/// A session with a server and a running command; their processes.
fn busy(home: &Home, agent: &mut Agent) -> [String; 2] {
    let [server, command] = ["server", "command"].map(|name| report(home.cwd(), name));
    let script = format!("echo $$ > server; exec {}", env!("CARGO_BIN_EXE_accord-mcp-server"));
    let declared = json!({"name": "kit", "command": "/bin/sh", "args": ["-c", script], "env": []});
    let new = agent.request("session/new", &json!({"cwd": home.cwd(), "mcpServers": [declared]}));
    let server = pid(&server);
    let (_, answer) = agent.answer(new, |_, _| None).expect("an answer");
    let session = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    agent.call("session/set_mode", &json!({"sessionId": session, "modeId": "auto"}));
    agent.prompt(&session, "run echo $$ > command; exec sleep 1000");
    [server, pid(&command)]
}

// D4, X5: nothing waits for a client that does not read, and nothing that was stored is lost
#[test]
fn a_client_that_does_not_read_does_not_hold_up_the_end() {
    for store in ["jsonl", "sqlite"] {
        let home = Home::new();
        let mut agent = home.start(&["--store", store, "--grace", "200"], &json!({}));
        let children = busy(&home, &mut agent);
        let flooded = home.session(&mut agent);
        agent.prompt(&flooded, "stream 1000000 1000");
        while agent.unread() < FULL {
            thread::yield_now();
        }
        agent.signal(Signal::TERM);
        let status = agent.ended();
        assert!(status.success(), "{store}: {status}");
        for pid in &children {
            wait_for_the_end_of(pid);
        }
        drop(agent);

        let mut agent = home.start(&["--store", store], &json!({}));
        let listed = agent.call("session/list", &json!({}));
        assert_eq!(listed["result"]["sessions"].as_array().map(Vec::len), Some(2), "{store}: {listed}");
        let params = json!({"sessionId": flooded, "cwd": home.cwd(), "mcpServers": []});
        let load = agent.request("session/load", &params);
        let (replayed, answer) = agent.answer(load, |_, _| None).expect("an answer");
        assert!(answer["result"].is_object(), "{store}: {answer}");
        assert!(said(&updates(&replayed)).starts_with("xxx"), "{store}: what was said is there");
        let (told, answer) = agent.turn(&flooded, "history", "allow");
        assert_eq!(answer["result"]["stopReason"], "end_turn");
        assert_eq!(said(&told), "1 turns\n1. stream 1000000 1000", "{store}");
    }
}

// D4, ACPX-CANCEL-002: a turn is answered before the end
#[test]
fn a_client_that_reads_gets_its_answers_before_the_end() {
    for signal in [Signal::TERM, Signal::INT] {
        let home = Home::new();
        let mut agent = home.start(&[], &json!({}));
        let children = busy(&home, &mut agent);
        let session = home.session(&mut agent);
        let prompt = agent.prompt(&session, "slow 1000000");
        // It runs: its first word is there.
        while said(&updates(&[agent.frame().expect("it goes on")])).is_empty() {}
        agent.signal(signal);
        let (_, answer) = agent.answer(prompt, |_, _| None).expect("an answer");
        assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
        while agent.frame().is_some() {}
        assert!(agent.ended().success());
        for pid in &children {
            wait_for_the_end_of(pid);
        }
    }
}

// D4
#[test]
fn an_idle_agent_ends_when_it_is_asked_to() {
    let home = Home::new();
    let mut agent = home.start(&[], &json!({}));
    let session = home.session(&mut agent);
    agent.signal(Signal::TERM);
    while agent.frame().is_some() {}
    assert!(agent.ended().success());
    // As soon as it has answered anything.
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        if signal == Signal::HUP && !hears_hang_ups() {
            continue;
        }
        let mut agent = home.start(&[], &json!({}));
        agent.signal(signal);
        let status = agent.ended();
        assert!(status.success(), "{signal:?}: {status}");
    }
    let mut agent = home.start(&[], &json!({}));
    let params = json!({"sessionId": session, "cwd": home.cwd(), "mcpServers": []});
    assert!(agent.call("session/resume", &params)["result"].is_object());
}
