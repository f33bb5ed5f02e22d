//! Programs that are no agents, or slow ones: what is told of them, and what is told while the kit waits.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::command_line::{KIT, complaint, kit};
use crate::fixtures::AGENT;

#[test]
fn a_program_that_repeats_its_input_is_no_agent() {
    for command in ["agent", "scenario"] {
        let told = complaint(&[command, "--", "cat"]);
        assert!(told.contains("this is no agent: it repeats its input"), "{told}");
        assert!(told.lines().count() <= 4, "{told}");
    }
    // A terminal in between repeats what it is sent, whatever the agent behind it says.
    let behind = "while read -r line; do printf '%s\\n' \"$line\"; echo '{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}'; done";
    assert!(complaint(&["agent", "--", "sh", "-c", behind]).contains("A terminal in between"));
}

// What is silent may be a runtime that starts; what prints has started.
#[test]
fn a_program_that_prints_other_things_is_waited_for_no_longer_than_usual() {
    let prints = ["agent", "--timeout", "5", "--", "sh", "-c", "echo hello; exec sleep 1000"];
    let told = complaint(&prints);
    assert!(told.contains("no answer to initialize within 5 s"), "{told}");
    assert!(told.contains("on stdout:\n    hello"), "{told}");
    let told = complaint(&["agent", "--timeout", "1", "--", "sleep", "1000"]);
    assert!(told.contains("no answer to initialize within 3 s"), "{told}");
}

#[test]
fn what_is_waited_for_is_told_meanwhile() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let gate = folder.path().join("gate");
    assert!(Command::new("mkfifo").arg(&gate).status().expect("mkfifo is there").success());
    // It says nothing, and ends once this test has opened the pipe.
    let silent = format!("read -r line < '{}'", gate.display());
    let mut run = Command::new(KIT)
        .args(["agent", "--timeout", "200", "--", "sh", "-c", &silent])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the kit is built");
    let mut said = BufReader::new(run.stderr.take().expect("piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("text");
    assert!(line.contains("waiting for the answer to initialize"), "{line}");
    assert!(line.contains("of at most 200 s"), "{line}");
    drop(std::fs::File::create(&gate).expect("the program reads it"));
    assert_eq!(run.wait().expect("it was started").code(), Some(2));
}

// The committed view shows nothing of a turn before its end.
#[test]
fn a_turn_that_shows_nothing_is_cancelled_all_the_same() {
    let agent = [AGENT, "--state-dir", "{STATE}", "--projection", "committed"];
    let flags = ["scenario", "--timeout", "120", "--prompt-slow", "slow 90000", "--"];
    let ran = kit(&[&flags[..], &agent].concat());
    let told = String::from_utf8(ran.stdout).expect("text");
    for step in ["cancels a turn by session/cancel", "cancels a turn by $/cancel_request"] {
        let line = told.lines().find(|line| line.contains(step)).expect("the step is told");
        assert!(line.contains("passed"), "{told}");
    }
}
