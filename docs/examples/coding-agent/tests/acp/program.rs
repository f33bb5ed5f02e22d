//! The program around the agent: what it answers before it serves anything.

use std::{
    io::Write,
    process::{Output, Stdio},
};

use serde_json::Value;

use super::{
    harness::{Agent, folder, program, said},
    server,
};

fn output(variables: &[(&str, &str)], arguments: &[&str], input: &str) -> (Output, tempfile::TempDir) {
    let state = folder();
    let mut command = program(state.path(), variables);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    // A program that does not read its input may be gone before it is written.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    (child.wait_with_output().expect("it ends"), state)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

// H1
#[test]
fn version_check_and_help_answer_and_end() {
    let (version, _state) = output(&[], &["--version"], "");
    assert!(version.status.success());
    assert_eq!(text(&version.stdout), format!("accord-coding-agent {}\n", env!("CARGO_PKG_VERSION")));

    let (good, _state) = output(&[("ACCORD_BACKEND", "scripted")], &["--check"], "");
    assert!(good.status.success() && text(&good.stdout).ends_with("ready\n"), "{}", text(&good.stdout));
    let (bad, _state) = output(&[], &["--check"], "");
    assert_eq!(bad.status.code(), Some(1));
    assert!(text(&bad.stdout).contains("--setup") && text(&bad.stdout).ends_with("not ready\n"));

    let (help, _state) = output(&[], &["--help"], "");
    assert!(
        ["--version", "--check", "--setup", "--manifest"]
            .iter()
            .all(|flag| text(&help.stdout).contains(flag))
    );
    let (wrong, _state) = output(&[], &["--fly"], "");
    assert_eq!((wrong.status.code(), text(&wrong.stdout)), (Some(2), ""));
    assert!(text(&wrong.stderr).contains("--fly"));
}

// H15
#[test]
fn the_manifest_is_printed() {
    let (manifest, _state) = output(&[], &["--manifest"], "");
    let manifest: Value = serde_json::from_slice(&manifest.stdout).expect("JSON");
    assert_eq!(
        (&manifest["id"], &manifest["version"]),
        (&"accord-coding-agent".into(), &env!("CARGO_PKG_VERSION").into())
    );
    assert!(manifest["distribution"]["binary"]["linux-x86_64"]["cmd"].is_string());
}

// H1, H11
#[test]
fn a_setup_makes_the_agent_usable() {
    let url = server::scripted();
    let (setup, state) =
        output(&[], &["--setup", "--env-file", "/dev/null/none"], &format!("{url}\nplain\nkey\n"));
    assert_eq!(setup.status.code(), Some(1), "an env file that can't be written");
    drop(state);

    let state = folder();
    let file = state.path().join("settings");
    let file = file.to_str().expect("a path");
    let run = |arguments: &[&str], input: &str| {
        let mut command = program(state.path(), &[]);
        command.args(["--env-file", file]).args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        child.wait_with_output().expect("it ends")
    };
    assert_eq!(run(&["--setup"], "https://far.example/v1\n").status.code(), Some(1), "this build has no TLS");
    assert!(run(&["--setup"], &format!("{url}\nplain\nk y\n")).status.success());
    assert!(run(&["--check"], "").status.success());
    let mut command = program(state.path(), &[]);
    let mut agent = Agent::start(command.args(["--env-file", file, "--log", "info"]));
    let session = agent.session(state.path());
    assert_eq!(said(&agent.prompt(&session, "whoami")), "server/plain, effort as the provider sees fit");
    agent.end();
}

// H11, B194
#[test]
fn an_agent_without_a_model_server_wants_a_login_and_names_the_way() {
    let state = folder();
    let file = state.path().join("settings");
    let mut command = program(state.path(), &[]);
    let mut agent = Agent::start(command.arg("--env-file").arg(&file));
    let params = serde_json::json!({ "cwd": state.path(), "mcpServers": [] });
    let id = agent.send("session/new", params.clone());
    let error = agent.response(id)["error"].clone();
    assert_eq!(error["code"], -32000);
    assert!(error["message"].as_str().expect("a message").contains("--setup"), "{error}");
    let url = server::scripted();
    std::fs::write(&file, format!("ACCORD_BASE_URL={url}\nACCORD_MODEL=plain\n")).expect("a file");
    let opened = agent.call("session/new", params);
    let session = opened["sessionId"].as_str().expect("an id").to_owned();
    assert_eq!(said(&agent.prompt(&session, "echo now it works")), "now it works");
    agent.end();
}

// B127
#[test]
fn settings_that_are_not_understood_leave_their_defaults() {
    let (state, url) = (folder(), server::scripted());
    let mut agent = Agent::start(&mut program(
        state.path(),
        &[
            ("ACCORD_BACKEND", "futuristic"),
            ("ACCORD_CONTEXT", "wide"),
            ("ACCORD_IMAGES", "some"),
            ("ACCORD_EFFORTS", " ,,"),
            ("ACCORD_BASE_URL", &url),
            ("ACCORD_MODEL", ",plain"),
        ],
    ));
    let session = agent.session(state.path());
    assert_eq!(said(&agent.prompt(&session, "echo it works")), "it works");
    agent.end();
}
