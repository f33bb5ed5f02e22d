//! The subject client as a program: what it prints, what it lets the agent do, and how its exit status names the cause.
#![cfg(unix)]

use std::{fs, path::Path, process::Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::fixtures::{AGENT, CLIENT, END_TURN, Piped, lines, shell, shell_with, subject};

/// What a run of the client came to.
struct Run {
    code: i32,
    events: Vec<Value>,
    end: Value,
    stderr: String,
}

impl Run {
    fn names(&self) -> Vec<&str> {
        self.events.iter().map(|event| event["type"].as_str().expect("events have names")).collect()
    }

    fn event(&self, name: &str) -> &Value {
        self.events
            .iter()
            .find(|event| event["type"] == name)
            .unwrap_or_else(|| panic!("no {name}: {:?}", self.names()))
    }

    /// The code and the cause, which the end line, the exit status and the message on stderr agree on.
    #[track_caller]
    fn failed(&self, code: i32, cause: &str, message: &str) {
        assert_eq!(
            (self.code, self.end["cause"].as_str()),
            (code, Some(cause)),
            "{} {}",
            self.end,
            self.stderr
        );
        assert_eq!(self.end["exitCode"], code);
        let said = self.end["message"].as_str().expect("a failure has a message");
        assert!(said.contains(message), "{said}");
        assert!(self.stderr.contains(said), "{}", self.stderr);
    }
}

/// Runs the client in `cwd` with an agent.
fn run(cwd: &Path, options: &[&str], agent: &[String]) -> Run {
    let output = Command::new(CLIENT)
        .args(options)
        .arg("--")
        .args(agent)
        .current_dir(cwd)
        .output()
        .expect("the subject client starts");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let mut events = lines(&stdout);
    let end = events.pop().expect("there is an end");
    assert_eq!(end["type"], "end");
    let code = output.status.code().expect("it was not killed");
    Run { code, events, end, stderr: String::from_utf8_lossy(&output.stderr).into_owned() }
}

// E18: yes, once: the tool runs, and everything is told.
#[test]
fn allowed_the_agent_does_it() {
    let (cwd, state) = (tempdir().unwrap(), tempdir().unwrap());
    let run =
        run(cwd.path(), &["--permission", "allow", "--prompt", "write a.txt hello"], &subject(state.path()));
    assert_eq!((run.code, run.end["cause"].as_str()), (0, Some("completed")), "{}", run.stderr);
    assert_eq!(fs::read_to_string(cwd.path().join("a.txt")).unwrap(), "hello");
    let names = run.names();
    for name in [
        "run.started",
        "tool.started",
        "approval.requested",
        "tool.completed",
        "diff.updated",
        "run.completed",
    ] {
        assert!(names.contains(&name), "no {name}: {names:?}");
    }
    assert_eq!(run.event("approval.settled")["by"], "answer");
    assert_eq!(run.event("run.completed")["stopReason"], "end_turn");
    assert_eq!(names.last(), Some(&"runner.closed"));
}

// E18: no: the tool does not run, and the turn ends of itself.
#[test]
fn rejected_the_agent_does_not() {
    let (cwd, state) = (tempdir().unwrap(), tempdir().unwrap());
    let run =
        run(cwd.path(), &["--permission", "reject", "--prompt", "write a.txt hello"], &subject(state.path()));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!cwd.path().join("a.txt").exists());
    assert_eq!(run.event("tool.completed")["status"], "failed");
    assert_eq!(run.event("run.completed")["stopReason"], "end_turn");
}

// E20: the turn is cancelled over the question; the next prompt runs.
#[test]
fn a_cancel_ends_the_turn_and_not_the_client() {
    let (cwd, state) = (tempdir().unwrap(), tempdir().unwrap());
    let options = ["--permission", "cancel", "--prompt", "write a.txt hello", "--prompt", "echo after"];
    let run = run(cwd.path(), &options, &subject(state.path()));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(!cwd.path().join("a.txt").exists());
    assert_eq!(run.event("approval.settled")["by"], "cancel");
    let ends: Vec<_> = run.events.iter().filter(|event| event["type"] == "run.completed").collect();
    assert_eq!(
        (ends[0]["stopReason"].as_str(), ends[1]["stopReason"].as_str()),
        (Some("cancelled"), Some("end_turn"))
    );
}

const ASK: &str = r#"ask q session/request_permission '{"sessionId":"sess_1","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}'"#;

// E11: nobody answers: the turn is cut off by its limit, and the question was left open until then.
#[test]
fn a_question_that_waits_runs_into_the_limit() {
    let cwd = tempdir().unwrap();
    let run = run(cwd.path(), &["--permission", "wait", "--timeout", "5", "--prompt", "go"], &shell("", ASK));
    run.failed(10, "timeout", "the turn was cut off");
    assert!(run.names().contains(&"approval.requested"));
    assert_eq!(run.event("approval.settled")["by"], "cancel");
}

// E12, T9: an agent that ignores the cancel has no next turn, and is named for it.
#[test]
fn an_agent_that_ignores_the_cancel_is_named() {
    let cwd = tempdir().unwrap();
    let options = ["--permission", "cancel", "--prompt", "go", "--prompt", "more"];
    let run = run(cwd.path(), &options, &shell("", &format!("{ASK}; while read -r line; do :; done")));
    run.failed(14, "cancel_ignored", "ignored the cancel");
}

#[test]
fn a_program_that_is_missing_is_named() {
    let cwd = tempdir().unwrap();
    let run = run(cwd.path(), &["--prompt", "go"], &["/no/such/agent".to_owned()]);
    run.failed(3, "not_started", "/no/such/agent");
    assert!(!run.names().contains(&"run.started"), "E22");
}

// T2, E5, E6
#[test]
fn what_comes_of_the_handshake_is_told_apart() {
    let cwd = tempdir().unwrap();
    let sh = |script: &str| vec!["/bin/sh".to_owned(), "-c".to_owned(), script.to_owned()];
    run(cwd.path(), &[], &sh("echo broken >&2; exit 7")).failed(4, "ended_before_initialize", "7");
    let silent = sh("while read -r line; do :; done");
    run(cwd.path(), &["--timeout", "0.2"], &silent).failed(
        5,
        "initialize_timeout",
        "did not answer initialize",
    );
    let old = shell_with("", "", r#"{"protocolVersion":2}"#, "{}");
    run(cwd.path(), &[], &old).failed(6, "protocol_version", "version 2");
    let refusing = sh(r#"read -r line; id=${line#*\"id\":}; id=${id%%,*}
        printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no licence"}}\n' "$id"; read -r line"#);
    run(cwd.path(), &[], &refusing).failed(7, "initialize_failed", "no licence");
}

// B163: a session that is refused, a prompt that is, and an answer that is none.
#[test]
fn refusals_and_malformed_answers_are_told_apart() {
    let cwd = tempdir().unwrap();
    let go = &["--prompt", "go"];
    let no = r#"refuse '{"code":-32603,"message":"disk full","data":{"details":"0 bytes left"}}'"#;
    run(cwd.path(), go, &shell("", no)).failed(11, "refused", "0 bytes left");
    let run_of = |prompt: &str| run(cwd.path(), go, &shell("", prompt));
    run_of(r#"reply '{"stopReason":5}'"#).failed(12, "malformed_answer", "stopReason");
    run_of("exit 3").failed(9, "connection_lost", "3");
    run_of("kill -9 $$").failed(9, "connection_lost", "9");
    let none = shell_with("", END_TURN, r#"{"protocolVersion":1}"#, r#"{"session":1}"#);
    run(cwd.path(), go, &none).failed(12, "malformed_answer", "sessionId");
}

// T14
#[test]
fn a_login_that_is_wanted_is_named_with_its_methods() {
    let (cwd, state) = (tempdir().unwrap(), tempdir().unwrap());
    let mut agent = subject(state.path());
    agent.push("--auth".to_owned());
    let run = run(cwd.path(), &["--prompt", "go"], &agent);
    run.failed(8, "auth_required", "`token`");
}

#[test]
fn wrong_usage_is_told_before_anything_starts() {
    for arguments in
        [&[][..], &["--prompt"], &["--permission", "maybe", "--", "x"], &["--bogus", "--", "x"], &["--"]]
    {
        let output = Command::new(CLIENT).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8_lossy(&output.stderr).contains("usage: accord-subject-client"));
    }
}

// ACPX-TR-007: noise on both outputs, before and during the turn: stdout stays JSON lines.
#[test]
fn an_agents_noise_stays_out_of_the_events() {
    let cwd = tempdir().unwrap();
    let noise = r#"echo "npm warn deprecated"; printf '\303\050\n{"half": \n[]\n' ; echo loud >&2"#;
    let prompt = format!(
        "{noise}; tell '{}'; {END_TURN}",
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}"#
    );
    let run = run(cwd.path(), &["--prompt", "go"], &shell(noise, &prompt));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.event("message.completed")["text"], "hi");
}

/// What the shell agent was answered, by its own ids.
fn answers(cwd: &Path) -> Vec<Value> {
    lines(&fs::read_to_string(cwd.join("answers")).expect("the agent asked"))
}

// Rule 10: files are offered, and only those of the folder it runs in; a link does not lead out of it.
#[test]
fn files_are_those_of_its_folder() {
    let (cwd, elsewhere) = (tempdir().unwrap(), tempdir().unwrap());
    let outside = elsewhere.path().join("secret.txt");
    fs::write(&outside, "secret").unwrap();
    fs::write(cwd.path().join("in.txt"), "inside").unwrap();
    std::os::unix::fs::symlink(&outside, cwd.path().join("link.txt")).unwrap();
    let path = |path: &Path| json!({"sessionId": "sess_1", "path": path}).to_string();
    let write = |path: &Path| json!({"sessionId": "sess_1", "path": path, "content": "x"}).to_string();
    let prompt = format!(
        "ask 1 fs/read_text_file '{}'; ask 2 fs/read_text_file '{}'; ask 3 fs/read_text_file '{}'; \
         ask 4 fs/write_text_file '{}'; ask 5 fs/write_text_file '{}'; {END_TURN}",
        path(&cwd.path().join("in.txt")),
        path(&outside),
        path(&cwd.path().join("link.txt")),
        write(&cwd.path().join("new/out.txt")),
        write(&outside),
    );
    let run = run(cwd.path(), &["--prompt", "go"], &shell("", &prompt));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let answers = answers(cwd.path());
    assert_eq!(answers[0]["result"]["content"], "inside");
    for refused in [1, 2, 4] {
        assert_eq!(answers[refused]["error"]["code"], -32602, "{}", answers[refused]);
    }
    assert_eq!(answers[3]["result"], json!({}));
    assert_eq!(fs::read_to_string(cwd.path().join("new/out.txt")).unwrap(), "x");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "secret");
    let hello = &lines(&fs::read_to_string(cwd.path().join("heard")).unwrap())[0];
    let offered = &hello["params"]["clientCapabilities"];
    assert_eq!(offered["fs"], json!({"readTextFile": true, "writeTextFile": true}));
    assert_eq!(offered["terminal"], true);
}

// A command runs in a terminal of the client's, in its folder.
#[test]
fn commands_run_in_its_terminals() {
    let cwd = tempdir().unwrap();
    let create = json!({"sessionId": "sess_1", "command": "/bin/sh", "args": ["-c", "pwd; exit 4"]});
    let terminal = |method: &str| {
        format!(r#"ask {method} terminal/{method} '{{"sessionId":"sess_1","terminalId":"terminal-1"}}'"#)
    };
    let prompt = format!(
        "ask create terminal/create '{create}'; {}; {}; {}; {END_TURN}",
        terminal("wait_for_exit"),
        terminal("output"),
        terminal("release"),
    );
    let run = run(cwd.path(), &["--prompt", "go"], &shell("", &prompt));
    assert_eq!(run.code, 0, "{}", run.stderr);
    let answers = answers(cwd.path());
    assert_eq!(answers[0]["result"]["terminalId"], "terminal-1");
    assert_eq!(answers[1]["result"]["exitCode"], 4);
    let output = answers[2]["result"]["output"].as_str().unwrap();
    assert_eq!(Path::new(output.trim_end()).canonicalize().unwrap(), cwd.path().canonicalize().unwrap());
    assert_eq!(answers[3]["result"], json!({}));
}

// E20: Ctrl-C ends the turn in order, and with it the client.
#[test]
fn an_interrupt_from_outside_ends_the_turn_in_order() {
    let (cwd, state) = (tempdir().unwrap(), tempdir().unwrap());
    let arguments: Vec<String> = ["--prompt", "slow 600000", "--", AGENT, "--state-dir"]
        .into_iter()
        .map(str::to_owned)
        .chain([state.path().display().to_string()])
        .collect();
    let mut client = Piped::start(CLIENT, &arguments, cwd.path());
    client.find(|event| event["type"] == "message.delta");
    let pid = i32::try_from(client.pid()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, Signal::INT).expect("it runs");
    let (rest, status) = client.end();
    let done =
        rest.iter().find(|event| event["type"] == "run.completed").expect("the turn was told to its end");
    assert_eq!(done["stopReason"], "cancelled");
    assert_eq!(status.code(), Some(0), "{rest:?}");
}
