//! The tools, as a client sees them and as the files and processes are afterwards.

use std::{fs, io::Read};

use serde_json::json;

use super::harness::{Agent, folder, of, program, said};

// H6, H7, H12
#[test]
fn a_file_is_written_in_the_sessions_directory_once_the_user_agrees() {
    let (state, project) = (folder(), folder());
    let mut agent = Agent::scripted(state.path());
    let session = agent.session(project.path());
    let (response, updates) = agent.turn(&session, "write sub/a.txt hello", "reject");
    assert_eq!(response["result"]["stopReason"], "end_turn");
    assert!(!project.path().join("sub/a.txt").exists());
    assert_eq!(of(&updates, "tool_call_update").last().expect("an end")["status"], "failed");

    let updates = agent.prompt(&session, "write sub/a.txt hello");
    assert_eq!(fs::read_to_string(project.path().join("sub/a.txt")).expect("a file"), "hello");
    let call = of(&updates, "tool_call")[0];
    assert_eq!(
        (&call["kind"], &call["status"], &call["title"]),
        (&json!("edit"), &json!("pending"), &json!("Write sub/a.txt"))
    );
    let path = project.path().canonicalize().expect("it is there").join("sub/a.txt");
    let diff = json!([{ "type": "diff", "path": path, "newText": "hello" }]);
    let end = of(&updates, "tool_call_update").last().expect("an end").to_owned().clone();
    assert_eq!((&call["content"], &end["content"], &end["status"]), (&diff, &diff, &json!("completed")));
    assert_eq!(said(&agent.prompt(&session, "read sub/a.txt")), "hello");
    assert_eq!(said(&agent.prompt(&session, "search hell")), "sub/a.txt:1: hello");
    agent.end();
}

// H12
#[test]
fn nothing_outside_the_sessions_directory_is_touched() {
    let (state, project, outside) = (folder(), folder(), folder());
    fs::write(outside.path().join("secret"), "s3cret").expect("a file");
    std::os::unix::fs::symlink(outside.path(), project.path().join("link")).expect("a link");
    std::os::unix::fs::symlink(outside.path().join("new"), project.path().join("dangling")).expect("a link");
    let mut agent = Agent::scripted(state.path());
    let session = agent.session(project.path());
    let outer = outside.path().display();
    for words in [
        format!("read {outer}/secret"),
        "read link/secret".to_owned(),
        "write link/new x".to_owned(),
        "write dangling x".to_owned(),
        format!("write {outer}/new x"),
    ] {
        let updates = agent.prompt(&session, &words);
        let end = of(&updates, "tool_call_update").last().expect("an end").to_owned().clone();
        assert_eq!(end["status"], "failed", "{words}: {end}");
        assert!(said(&updates).contains("outside"), "{words}");
        assert!(!serde_json::to_string(&updates).expect("JSON").contains("s3cret"), "{words}");
    }
    assert!(!outside.path().join("new").exists());
    agent.end();
}

/// Starts a command that holds a pipe open, with a grandchild that does too, until both are gone; returns the other end.
#[cfg(unix)]
fn hold_a_pipe(agent: &mut Agent, session: &str, project: &std::path::Path) -> (i64, fs::File) {
    let pipe = project.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let id = agent.start_text(session, "run exec 3> pipe; (sleep 3600 & echo ready; wait) & wait");
    let question = agent.take(|frame| frame["method"] == "session/request_permission");
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow" } });
    agent.line(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": outcome }));
    let held = fs::File::open(&pipe).expect("the command opens the other end");
    // The call itself shows the command; what it has printed comes behind that.
    agent.take(|frame| {
        let content = frame["params"]["update"]["content"].as_array();
        content
            .and_then(|content| content.last())
            .is_some_and(|last| last["content"]["text"] == "```\nready\n```")
    });
    (id, held)
}

// H9
#[cfg(unix)]
#[test]
fn a_cancel_kills_the_command_and_all_it_started() {
    let (state, project) = (folder(), folder());
    let mut agent = Agent::scripted(state.path());
    let session = agent.session(project.path());
    let (id, mut held) = hold_a_pipe(&mut agent, &session, project.path());
    agent.cancel(&session);
    assert_eq!(agent.response(id)["result"]["stopReason"], "cancelled");
    assert_eq!(held.read(&mut [0; 1]).expect("a pipe"), 0, "nobody holds it any more");
    let updates = agent.updates(&session);
    assert_eq!(of(&updates, "tool_call_update").last().expect("an end")["status"], "failed");
    assert_eq!(said(&agent.prompt(&session, "echo next")), "next");
    agent.end();
}

// H9
#[cfg(unix)]
#[test]
fn a_command_ends_though_something_it_started_holds_its_output() {
    let (state, project) = (folder(), folder());
    let mut agent = Agent::scripted(state.path());
    let session = agent.session(project.path());
    let words = "run setsid sh -c 'echo $$ > pid; exec sleep 600' & until [ -s pid ]; do sleep 0.1; done; echo started";
    let updates = agent.prompt(&session, words);
    let end = of(&updates, "tool_call_update").last().expect("an end").to_owned().clone();
    let text = end["rawOutput"]["output"].as_str().expect("output");
    assert!(text.starts_with("started\n") && text.contains("holds its output"), "{end}");
    let pid = fs::read_to_string(project.path().join("pid")).expect("a file");
    let killed = std::process::Command::new("kill").args(["-9", pid.trim()]).status().expect("kill runs");
    assert!(killed.success(), "it was still there");
    assert_eq!(said(&agent.prompt(&session, "echo next")), "next");
    agent.end();
}

// ACPX-TR-021
#[cfg(unix)]
#[test]
fn a_killed_agent_leaves_no_command_behind() {
    let (state, project) = (folder(), folder());
    let mut agent = Agent::scripted(state.path());
    let session = agent.session(project.path());
    let (_, mut held) = hold_a_pipe(&mut agent, &session, project.path());
    agent.kill();
    assert_eq!(held.read(&mut [0; 1]).expect("a pipe"), 0, "nobody holds it any more");
}

// ACPX-TR-015
#[cfg(unix)]
#[test]
fn an_agent_whose_client_is_gone_ends_with_its_commands() {
    let (state, project) = (folder(), folder());
    let mut agent = Agent::scripted(state.path());
    let session = agent.session(project.path());
    let (_, mut held) = hold_a_pipe(&mut agent, &session, project.path());
    agent.end();
    assert_eq!(held.read(&mut [0; 1]).expect("a pipe"), 0, "nobody holds it any more");
}

// H12, B190
#[test]
fn files_are_what_the_editor_shows() {
    let (state, project) = (folder(), folder());
    let capabilities = json!({ "fs": { "readTextFile": true, "writeTextFile": true } });
    let mut agent =
        Agent::start_with(&mut program(state.path(), &[("ACCORD_BACKEND", "scripted")]), capabilities);
    let session = agent.session(project.path());
    let path = project.path().canonicalize().expect("it is there").join("a.txt");
    fs::write(&path, "saved").expect("a file");

    let id = agent.start_text(&session, "read a.txt");
    let read = agent.take(|frame| frame["method"] == "fs/read_text_file");
    assert_eq!(read["params"]["path"].as_str(), path.to_str());
    agent.line(&json!({ "jsonrpc": "2.0", "id": read["id"], "result": { "content": "unsaved" } }));
    agent.response(id);
    assert_eq!(said(&agent.updates(&session)), "unsaved");

    let id = agent.start_text(&session, "read a.txt");
    let read = agent.take(|frame| frame["method"] == "fs/read_text_file");
    let error = json!({ "code": -32002, "message": "not open" });
    agent.line(&json!({ "jsonrpc": "2.0", "id": read["id"], "error": error }));
    agent.response(id);
    assert_eq!(said(&agent.updates(&session)), "saved", "the disk has what the editor does not know");

    let id = agent.start_text(&session, "write a.txt new");
    let question = agent.take(|frame| frame["method"] == "session/request_permission");
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow" } });
    agent.line(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": outcome }));
    let write = agent.take(|frame| frame["method"] == "fs/write_text_file");
    assert_eq!(
        (&write["params"]["content"], write["params"]["path"].as_str()),
        (&json!("new"), path.to_str())
    );
    agent.line(&json!({ "jsonrpc": "2.0", "id": write["id"], "result": {} }));
    assert_eq!(agent.response(id)["result"]["stopReason"], "end_turn");
    assert_eq!(fs::read_to_string(&path).expect("a file"), "saved", "writing is the editor's business");
    agent.end();
}

// H7
#[test]
fn a_command_shows_what_it_printed_and_how_it_ended() {
    let (state, project) = (folder(), folder());
    let mut agent = Agent::scripted(state.path());
    let session = agent.session(project.path());
    let updates = agent.prompt(&session, "run echo out; exit 3");
    let end = of(&updates, "tool_call_update").last().expect("an end").to_owned().clone();
    assert_eq!(end["status"], "failed");
    assert_eq!(
        end["content"][0]["content"]["text"],
        "```console\n$ echo out; exit 3\nout\n[exit status 3]\n```"
    );
    assert_eq!(end["rawOutput"], json!({ "output": "out\n", "exit_code": 3 }));
    let updates = agent.prompt(&session, "run pwd");
    let place = project.path().canonicalize().expect("it is there");
    assert!(said(&updates).contains(&*place.to_string_lossy()), "{updates:?}");
    agent.end();
}
