//! Agents on real pipes, sockets and files. T-numbers and rows beside each test.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::fixture::fixture;

const REQUEST: &str = r#"{"jsonrpc":"2.0","id":5,"method":"_x","params":{"a":1}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":5,"result":{"a":1}}"#;

fn agent(mode: &str) -> Command {
    fixture("fixture::echo_agent", mode)
}

/// Writes `input`, closes stdin, and waits for the end.
fn exchange(command: &mut Command, input: &str) -> Output {
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("it starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).expect("UTF-8")
}

/// What was written to the wire, behind what libtest prints before the agent runs.
fn wire(bytes: &[u8]) -> &str {
    text(bytes).split_once("running 1 test\n").expect("libtest says so").1
}

// Rule 11, B167, B169, ACPX-TR-015
#[test]
fn stray_prints_do_not_reach_the_wire() {
    let output = exchange(&mut agent("stray"), &format!("{REQUEST}\n"));
    assert_eq!(wire(&output.stdout), format!("{ANSWER}\n"));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("a stray print") && stderr.contains("from a child"), "{stderr}");
    assert!(stderr.contains("the peer closed the connection"), "{stderr}");
    assert!(output.status.success());
}

// B080, bad-input 2: what was asked before the end of input is answered, the last line without its line end too
#[test]
fn the_last_request_is_answered_after_the_end_of_input() {
    let second = REQUEST.replace('5', "6");
    for mode in ["", "slow"] {
        let output = exchange(&mut agent(mode), &format!("{REQUEST}\n{second}"));
        let lines: Vec<&str> = wire(&output.stdout).lines().collect();
        assert_eq!(lines, [ANSWER, &ANSWER.replace('5', "6")], "{mode}");
        assert!(output.status.success(), "{mode}");
    }
    let output = exchange(&mut agent(""), r#"{"jsonrpc":"2.0","id":5,"meth"#);
    let answer: Value = serde_json::from_str(wire(&output.stdout)).expect("one line of JSON");
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &(-32700).into()));
}

// B076
#[test]
fn an_empty_input_is_the_end() {
    let output = agent("").stdin(Stdio::null()).output().expect("it runs");
    assert!(output.status.success());
    assert_eq!(wire(&output.stdout), "");
}

// B083, bad-input 2: files on both sides
#[test]
fn files_are_a_wire_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let (input, output) = (directory.path().join("in"), directory.path().join("out"));
    std::fs::write(&input, format!("{REQUEST}\n")).expect("written");
    let status = agent("")
        .stdin(File::open(&input).expect("there"))
        .stdout(File::create(&output).expect("creatable"))
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("it runs").success());
    assert_eq!(wire(&std::fs::read(&output).expect("there")), format!("{ANSWER}\n"));
}

/// Some parents give a socket where others give a pipe, and the same one for both directions.
#[test]
fn a_socket_is_a_wire_too() {
    let (mut ours, theirs) = UnixStream::pair().expect("a pair");
    let (input, output): (OwnedFd, OwnedFd) = (theirs.try_clone().expect("a copy").into(), theirs.into());
    let mut command = agent("");
    let mut child = command.stdin(input).stdout(output).stderr(Stdio::null()).spawn().expect("it starts");
    drop(command);
    let large = REQUEST.replace("1}", &format!("\"{}\"}}", "x".repeat(3 << 20)));
    let writer = std::thread::spawn({
        let mut ours = ours.try_clone().expect("a copy");
        move || {
            writeln!(ours, "{large}").expect("it reads");
            ours.shutdown(std::net::Shutdown::Write).expect("open until now");
        }
    });
    let mut answer = String::new();
    ours.read_to_string(&mut answer).expect("it writes");
    writer.join().expect("no panic");
    assert_eq!(wire(answer.as_bytes()).len(), ANSWER.len() - 1 + 2 + (3 << 20) + 1);
    assert!(child.wait().expect("it ends").success());
}

// B077: nobody reads: it ends, without a panic
#[test]
fn a_closed_output_is_the_end() {
    let mut command = agent("");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("it starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("piped");
    // It may be gone before all of it is written.
    let _ = writeln!(stdin, "{REQUEST}");
    let output = child.wait_with_output().expect("it ends though its stdin is open");
    assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
    drop(stdin);
}

// Started by hand, it says what it is, and still ends with its input
#[test]
fn at_a_terminal_it_says_what_it_is() {
    let command = agent("");
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line = words.map(|word| format!("'{}'", word.display())).collect::<Vec<_>>().join(" ");
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
    let Ok(output) = terminal.output() else {
        println!("skipped: there is no `script` here");
        return;
    };
    let shown = text(&output.stdout);
    assert!(shown.contains("This is an agent of the Agent Client Protocol"), "{shown}");
    assert!(shown.contains("the peer closed the connection"), "{shown}");
    assert!(!text(&exchange(&mut agent(""), "").stderr).contains("This is an agent"));
}
