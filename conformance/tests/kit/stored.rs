//! The subject agent with a store of each kind.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::process::{Agent, SUBJECT, choose, updates};

/// The stores the subject agent has.
pub(crate) const STORES: [&str; 2] = ["jsonl", "sqlite"];

/// The subject agent on a folder, with further arguments, introduced.
pub(crate) fn start(state: &Path, store: &str, more: &[&str]) -> Agent {
    introduced(Agent::of(command(state, store).args(more)))
}

/// The same, but the process may have so many files open.
pub(crate) fn limited(state: &Path, store: &str, files: u32) -> Agent {
    let subject = command(state, store);
    let line = format!(r#"ulimit -n {files} && exec "$0" "$@""#);
    let mut limited = Command::new("sh");
    introduced(Agent::of(limited.args(["-c", &line]).arg(subject.get_program()).args(subject.get_args())))
}

fn introduced(mut agent: Agent) -> Agent {
    let answer = agent.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}));
    assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
    agent
}

fn command(state: &Path, store: &str) -> Command {
    let mut command = Command::new(SUBJECT);
    command.arg("--state-dir").arg(state).args(["--store", store]);
    command
}

/// A session in this directory.
pub(crate) fn session(agent: &mut Agent, cwd: &Path) -> String {
    let answer = agent.call("session/new", &json!({"cwd": cwd, "mcpServers": []}));
    answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// A request that names a session and its directory: the updates before its answer, and the answer.
pub(crate) fn reopen(agent: &mut Agent, method: &str, session: &str, cwd: &Path) -> (Vec<Value>, Value) {
    let id = agent.request(method, &json!({"sessionId": session, "cwd": cwd, "mcpServers": []}));
    let (before, answer) = agent.answer(id, |_, _| None).expect("an answer");
    (updates(&before), answer)
}

/// A turn that has to end well.
pub(crate) fn turn(agent: &mut Agent, session: &str, text: &str) {
    let id = agent.prompt(session, text);
    let (_, answer) = agent.answer(id, |_, frame| choose(frame, "allow")).expect("an answer");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{text}: {answer}");
}
