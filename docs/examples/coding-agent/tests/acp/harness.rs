//! The agent's process and a client that is only lines of JSON.

#![expect(
    clippy::needless_pass_by_value,
    reason = "`json!` makes values, and tests read better without a `&` before each"
)]

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// So long nothing takes that works.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    next: i64,
    come: VecDeque<Value>,
}

/// The program, in an environment of its own.
pub(crate) fn program(state: &Path, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_accord-coding-agent"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", state).env("ACCORD_STATE_DIR", state.join("state"));
    command.envs(variables.iter().copied());
    command
}

impl Agent {
    /// Starts the agent with the scripted model.
    pub(crate) fn scripted(state: &Path) -> Self {
        Self::start(&mut program(state, &[("ACCORD_BACKEND", "scripted")]))
    }

    /// Starts the agent with a model server.
    pub(crate) fn chat(state: &Path, url: &str) -> Self {
        let variables =
            [("ACCORD_BASE_URL", url), ("ACCORD_MODEL", "plain,thorough"), ("ACCORD_API_KEY", "k-1")];
        Self::start(&mut program(state, &variables))
    }

    pub(crate) fn start(command: &mut Command) -> Self {
        Self::start_with(command, json!({}))
    }

    /// Starts the agent for a client with these capabilities.
    pub(crate) fn start_with(command: &mut Command, capabilities: Value) -> Self {
        let mut agent = Self::spawn(command);
        agent.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities }));
        agent
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the agent starts");
        let stdout = child.stdout.take().expect("a pipe");
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let line = line.expect("UTF-8");
                let frame = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no frame: {line}"));
                if tell.send(frame).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next: 0, come: VecDeque::new() }
    }

    /// Kills the agent where it stands.
    #[cfg(unix)]
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
    }

    pub(crate) fn line(&mut self, line: &Value) {
        let stdin = self.stdin.as_mut().expect("it is open");
        stdin.write_all(format!("{line}\n").as_bytes()).expect("the agent reads");
    }

    pub(crate) fn send(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        let id = self.next;
        self.line(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// The next frame that `wanted` names; others wait.
    pub(crate) fn take(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.come.iter().position(&wanted) {
            return self.come.remove(index).expect("it is there");
        }
        loop {
            let frame = self.lines.recv_timeout(PATIENCE).expect("a frame in time");
            if wanted(&frame) {
                return frame;
            }
            self.come.push_back(frame);
        }
    }

    pub(crate) fn response(&mut self, id: i64) -> Value {
        self.take(|frame| frame["id"] == id && frame.get("method").is_none())
    }

    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        let response = self.response(id);
        assert!(response.get("error").is_none(), "{method}: {response}");
        response["result"].clone()
    }

    pub(crate) fn session(&mut self, cwd: &Path) -> String {
        let result = self.call("session/new", json!({ "cwd": cwd, "mcpServers": [] }));
        result["sessionId"].as_str().expect("an id").to_owned()
    }

    pub(crate) fn start_prompt(&mut self, session: &str, prompt: &Value) -> i64 {
        self.send("session/prompt", json!({ "sessionId": session, "prompt": prompt }))
    }

    pub(crate) fn start_text(&mut self, session: &str, text: &str) -> i64 {
        self.start_prompt(session, &json!([{ "type": "text", "text": text }]))
    }

    /// Runs a turn, answers each question with `option`, and returns the response and the updates.
    pub(crate) fn turn(&mut self, session: &str, text: &str, option: &str) -> (Value, Vec<Value>) {
        self.updates(session);
        let id = self.start_text(session, text);
        loop {
            let frame = self.take(|frame| frame.get("id").is_some());
            if frame.get("method").is_none() {
                assert_eq!(frame["id"], id);
                return (frame, self.updates(session));
            }
            let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
            self.line(&json!({ "jsonrpc": "2.0", "id": frame["id"], "result": outcome }));
        }
    }

    /// Runs a turn that ends well, and returns its updates.
    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> Vec<Value> {
        let (response, updates) = self.turn(session, text, "allow");
        assert_eq!(response["result"]["stopReason"], "end_turn", "{response}");
        updates
    }

    pub(crate) fn cancel(&mut self, session: &str) {
        self.line(
            &json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }),
        );
    }

    pub(crate) fn updates(&mut self, session: &str) -> Vec<Value> {
        let mut updates = Vec::new();
        self.come.retain(|frame| {
            let ours = frame["method"] == "session/update" && frame["params"]["sessionId"] == session;
            if ours {
                updates.push(frame["params"]["update"].clone());
            }
            !ours
        });
        updates
    }

    /// Closes the agent's input and waits for its end, which must be a good one.
    pub(crate) fn end(mut self) {
        drop(self.stdin.take());
        assert!(self.child.wait().expect("it ends").success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // After a failed assertion the process must not outlive the test.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn of<'a>(updates: &'a [Value], kind: &str) -> Vec<&'a Value> {
    updates.iter().filter(|update| update["sessionUpdate"] == kind).collect()
}

pub(crate) fn said(updates: &[Value]) -> String {
    of(updates, "agent_message_chunk").iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
}

pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}
