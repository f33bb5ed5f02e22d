//! Recordings as scripted peers: of each other, of our own client, of our own agent.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::fixtures::captures;

const KIT: &str = env!("CARGO_BIN_EXE_accord-conformance");

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

// X4: both ends of each recording, played to each other, come to its end.
#[test]
fn a_recordings_two_sides_play_to_each_other() {
    let files = captures();
    if files.is_empty() {
        eprintln!("skipped: there are no recordings here; ACCORD_CAPTURES names their folder");
        return;
    }
    let mut whole = 0;
    for file in &files {
        let output = Command::new(KIT)
            .args(["replay", "--whole", "--timeout", "60"])
            .arg(file)
            .args(["--", KIT, "replay", "--timeout", "60"])
            .arg(file)
            .stdin(Stdio::null())
            .output()
            .expect("the kit is built");
        let told = said(&output);
        // A recording may end in the middle of things, but never by our doing.
        assert!(!told.contains("does not come"), "{}: {told}", file.display());
        assert!(!told.contains("not in the recording"), "{}: {told}", file.display());
        whole += usize::from(output.status.success());
    }
    assert!(whole * 10 > files.len() * 9, "{whole} of {} came to their ends", files.len());
}

/// A small session of the subject agent's, recorded as the kit does.
fn recorded(folder: &Path) -> PathBuf {
    let tape = folder.join("session.jsonl");
    let agent = env!("CARGO_BIN_EXE_accord-subject-agent");
    let output = Command::new(env!("CARGO_BIN_EXE_accord-subject-client"))
        .args([
            "--permission",
            "allow",
            "--prompt",
            "echo one two three",
            "--prompt",
            "write made.txt words",
            "--",
        ])
        .args([KIT, "tee"])
        .arg(&tape)
        .args(["--", agent])
        .current_dir(folder)
        .output()
        .expect("the subjects are built");
    assert!(output.status.success(), "{}", said(&output));
    tape
}

// X4: the recording of an agent stands in for it, and the recording of a client drives another agent process
#[test]
fn what_was_recorded_stands_in_for_either_side() {
    let folder = tempfile::tempdir().unwrap();
    let tape = recorded(folder.path());

    let other = tempfile::tempdir().unwrap();
    let client = Command::new(env!("CARGO_BIN_EXE_accord-subject-client"))
        .args([
            "--permission",
            "allow",
            "--prompt",
            "echo one two three",
            "--prompt",
            "write made.txt words",
            "--",
        ])
        .args([KIT, "replay"])
        .arg(&tape)
        .current_dir(other.path())
        .output()
        .unwrap();
    assert!(client.status.success(), "{}", said(&client));
    let told = String::from_utf8_lossy(&client.stdout).into_owned();
    assert!(told.contains("one two three"), "{told}");

    let agent = Command::new(KIT)
        .args(["replay", "--whole"])
        .arg(&tape)
        .args(["--", env!("CARGO_BIN_EXE_accord-subject-agent")])
        .current_dir(other.path())
        .output()
        .unwrap();
    assert!(agent.status.success(), "{}", said(&agent));
    assert_eq!(std::fs::read_to_string(other.path().join("made.txt")).unwrap(), "words");
}

// X4: a peer that goes another way is told so
#[test]
fn what_is_not_in_the_recording_is_refused_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let tape = recorded(folder.path());
    let mut play = Command::new(KIT)
        .arg("replay")
        .arg(&tape)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let odd = b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"session/list\"}\n";
    std::io::Write::write_all(&mut play.stdin.take().unwrap(), odd).unwrap();
    let output = play.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("-32601"));
    assert!(said(&output).contains("session/list is not in the recording"), "{}", said(&output));
}

// X4: an answer that was recorded to other words is told
#[test]
fn another_prompt_than_the_recorded_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let tape = recorded(folder.path());
    let log = folder.path().join("replay.log");
    let replay = format!("exec '{KIT}' replay '{}' 2> '{}'", tape.display(), log.display());
    let client = Command::new(env!("CARGO_BIN_EXE_accord-subject-client"))
        .args([
            "--permission",
            "allow",
            "--prompt",
            "echo something else",
            "--prompt",
            "write made.txt words",
            "--",
        ])
        .args(["sh", "-c", &replay])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(client.status.success(), "{}", said(&client));
    let told = std::fs::read_to_string(&log).unwrap();
    let wanted = r#"the prompt is "echo something else", and the recorded one is "echo one two three""#;
    assert_eq!(told.matches("the prompt is").count(), 1, "{told}");
    assert!(told.contains(wanted), "{told}");
}
