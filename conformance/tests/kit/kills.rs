//! The subject agent, killed behind each frame of a session's life in turn: what was announced is never lost.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

/// The requests of one life, in order; the session's id is filled in once it is known.
const LIFE: &[&str] =
    &["initialize", "session/new", "think first", "write kept.txt words", "history", "session/close"];

/// A running subject agent, on raw lines.
struct Agent {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Agent {
    fn start(state: &Path, store: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_accord-subject-agent"))
            .arg("--state-dir")
            .arg(state)
            .args(["--store", store])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the subject agent starts");
        let input = process.stdin.take().expect("piped");
        let output = BufReader::new(process.stdout.take().expect("piped"));
        Self { process, input, output }
    }

    fn send(&mut self, message: &Value) {
        // A killed agent takes nothing; its next frame says so.
        let _ = writeln!(self.input, "{message}");
    }

    fn request(&mut self, id: usize, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn frame(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = self.output.read_line(&mut line).expect("UTF-8");
        (length > 0).then(|| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// The answer to a request; a question on the way is allowed, and everything else is passed over.
    fn answer(&mut self, id: usize, mut frame_read: impl FnMut(&mut Child)) -> Option<Value> {
        loop {
            let frame = self.frame()?;
            frame_read(&mut self.process);
            if frame["method"] == "session/request_permission" {
                let outcome = json!({"outcome": {"outcome": "selected", "optionId": "allow"}});
                self.send(&json!({"jsonrpc": "2.0", "id": frame["id"], "result": outcome}));
            } else if frame["method"].is_null() && frame["id"] == id {
                return Some(frame["result"].clone());
            }
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Lives until `last` frames were read, and is killed there; the session's id, if it was announced by then, and whether
/// the whole life was lived.
fn live(state: &Path, cwd: &Path, store: &str, last: usize) -> (Option<String>, bool) {
    let mut agent = Agent::start(state, store);
    let (mut frames, mut session) = (0, None);
    for (id, step) in LIFE.iter().enumerate() {
        let (method, params) = match *step {
            "initialize" => (*step, json!({"protocolVersion": 1, "clientCapabilities": {}})),
            "session/new" => (*step, json!({"cwd": cwd, "mcpServers": []})),
            "session/close" => (*step, json!({"sessionId": session})),
            text => {
                let prompt = json!([{"type": "text", "text": text}]);
                ("session/prompt", json!({"sessionId": session, "prompt": prompt}))
            }
        };
        agent.request(id, method, &params);
        let answer = agent.answer(id, |process| {
            frames += 1;
            if frames == last {
                process.kill().expect("it can be killed");
            }
        });
        let Some(answer) = answer else { return (session, false) };
        session = answer["sessionId"].as_str().map(str::to_owned).or(session);
    }
    (session, frames < last)
}

// D6, X3, ACPX-RESTART-001: for every frame of the life, on both stores
#[test]
fn a_kill_behind_any_frame_loses_no_announced_session() {
    for store in ["jsonl", "sqlite"] {
        for last in 1.. {
            let (state, cwd) =
                (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
            let (session, whole) = live(state.path(), cwd.path(), store, last);
            let mut agent = Agent::start(state.path(), store);
            agent.request(0, "initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}));
            agent.answer(0, |_| ()).expect("it starts over what is left");
            agent.request(1, "session/list", &json!({}));
            let listed = agent.answer(1, |_| ()).expect("it lists");
            if let Some(session) = &session {
                let params = json!({"sessionId": session, "cwd": cwd.path(), "mcpServers": []});
                agent.request(2, "session/load", &params);
                let loaded = agent.answer(2, |_| ()).expect("it loads");
                let ids: Vec<_> = listed["sessions"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|one| &one["sessionId"])
                    .collect();
                assert!(
                    ids.iter().any(|id| **id == *session),
                    "{store}, frame {last}: {session} is not in {listed}"
                );
                assert!(loaded.is_object(), "{store}, frame {last}: {session} is not loaded");
            }
            if whole {
                assert!(last > LIFE.len(), "{store}: every step was killed in");
                break;
            }
        }
    }
}
