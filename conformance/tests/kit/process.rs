//! A subject agent as a process, on raw lines.

use std::{
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Far more than anything here takes; it turns a hang into a failure.
const HANG: Duration = Duration::from_secs(120);

/// The subject agent's program.
pub(crate) const SUBJECT: &str = env!("CARGO_BIN_EXE_accord-subject-agent");

/// A running subject agent; killed when it is dropped.
pub(crate) struct Agent {
    pub(crate) process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    stderr: ChildStderr,
    next_id: usize,
    /// Dropped with the agent, which ends the watch.
    _watched: mpsc::Sender<()>,
}

/// The folders of a life with restarts.
pub(crate) struct Home {
    state: TempDir,
    work: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = || tempfile::tempdir().expect("a folder");
        Self { state: folder(), work: folder() }
    }

    pub(crate) fn state(&self) -> &Path {
        self.state.path()
    }

    pub(crate) fn cwd(&self) -> &Path {
        self.work.path()
    }

    /// An agent over what is stored here, that has been introduced to a client with these capabilities.
    pub(crate) fn start(&self, args: &[&str], capabilities: &Value) -> Agent {
        let state = self.state().to_str().expect("Unicode");
        let mut agent = Agent::start(&[&["--state-dir", state], args].concat());
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        assert_eq!(agent.call("initialize", &params)["result"]["protocolVersion"], 1);
        agent
    }

    /// A new session without servers.
    pub(crate) fn session(&self, agent: &mut Agent) -> String {
        let answer = agent.call("session/new", &json!({"cwd": self.cwd(), "mcpServers": []}));
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {answer}")).to_owned()
    }
}

impl Agent {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::of(Command::new(SUBJECT).args(args))
    }

    /// The same by a command that is or becomes the subject agent.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the subject agent starts");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("piped"));
        let stderr = process.stderr.take().expect("piped");
        let (watched, watching) = mpsc::channel();
        let pid = Pid::from_child(&process);
        thread::spawn(move || {
            if watching.recv_timeout(HANG) == Err(mpsc::RecvTimeoutError::Timeout) {
                // It may have ended by itself just now.
                let _ = kill_process(pid, Signal::KILL);
            }
        });
        Self { process, input, output, stderr, next_id: 0, _watched: watched }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("its input has not ended");
        // A killed agent takes nothing; its next frame says so.
        let _ = writeln!(input, "{message}");
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> usize {
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        self.next_id
    }

    pub(crate) fn prompt(&mut self, session: &str, text: &str) -> usize {
        let prompt = json!([{"type": "text", "text": text}]);
        self.request("session/prompt", &json!({"sessionId": session, "prompt": prompt}))
    }

    /// The next frame; `None` at the end.
    pub(crate) fn frame(&mut self) -> Option<Value> {
        let mut line = String::new();
        let length = self.output.read_line(&mut line).expect("UTF-8");
        (length > 0).then(|| serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// Everything up to the answer to a request, and that answer; `None` if the end comes first. What `serve` gives for
    /// a frame is sent back under the frame's id.
    pub(crate) fn answer(
        &mut self,
        id: usize,
        mut serve: impl FnMut(&mut Child, &Value) -> Option<Value>,
    ) -> Option<(Vec<Value>, Value)> {
        let mut before = Vec::new();
        loop {
            let frame = self.frame()?;
            let reply = serve(&mut self.process, &frame);
            if frame["method"].is_null() && frame["id"] == id {
                return Some((before, frame));
            }
            if let Some(mut reply) = reply {
                reply["jsonrpc"] = json!("2.0");
                reply["id"] = frame["id"].clone();
                self.send(&reply);
            }
            before.push(frame);
        }
    }

    /// A request of which only the answer counts.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id, |_, _| None).unwrap_or_else(|| panic!("no answer to {method}")).1
    }

    /// A turn whose questions are answered with `option`: the updates of it, and the answer.
    pub(crate) fn turn(&mut self, session: &str, text: &str, option: &str) -> (Vec<Value>, Value) {
        let id = self.prompt(session, text);
        let (before, answer) = self.answer(id, |_, frame| choose(frame, option)).expect("an answer");
        (updates(&before), answer)
    }

    /// So many of the bytes it says next; fewer if it ends, or if it waits: it has answered, or asks something.
    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let waits = |bytes: &[u8]| {
            let line = bytes.strip_suffix(b"\n").and_then(|bytes| bytes.rsplit(|byte| *byte == b'\n').next());
            let frame = line.and_then(|line| serde_json::from_slice::<Value>(line).ok());
            frame.is_some_and(|frame| !frame["id"].is_null())
        };
        let mut bytes = Vec::new();
        while bytes.len() < count && !waits(&bytes) {
            let next = self.output.fill_buf().expect("readable");
            // At most to the end of a line: what is behind an answer is nobody's to wait for.
            let line = next.iter().position(|byte| *byte == b'\n').map_or(next.len(), |end| end + 1);
            let taken = line.min(count - bytes.len());
            bytes.extend_from_slice(&next[..taken]);
            self.output.consume(taken);
            if taken == 0 {
                break;
            }
        }
        bytes
    }

    /// Everything it said before it died.
    pub(crate) fn last_words(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.output.read_to_end(&mut bytes).expect("readable");
        bytes
    }

    /// The most memory that was ever resident, in kilobytes.
    pub(crate) fn peak_kb(&self) -> u64 {
        let status = format!("/proc/{}/status", self.process.id());
        let status = std::fs::read_to_string(status).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel counts");
        line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
    }

    /// How full the pipe is that this agent writes to, in bytes.
    pub(crate) fn unread(&self) -> u64 {
        rustix::io::ioctl_fionread(self.output.get_ref()).expect("a pipe")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).expect("it is there");
    }

    /// Waits for the end of the process; what it has written is left in the pipe.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        self.process.wait().expect("a child")
    }

    pub(crate) fn end_input(&mut self) {
        self.input = None;
    }

    /// Ends the input, and returns what the process said on stderr until it was gone.
    pub(crate) fn hang_up(mut self) -> String {
        self.input = None;
        let mut told = String::new();
        self.stderr.read_to_string(&mut told).expect("UTF-8");
        told
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The answer to a question for permission, if it is one.
pub(crate) fn choose(frame: &Value, option: &str) -> Option<Value> {
    let asked = frame["method"] == "session/request_permission";
    asked.then(|| json!({"result": {"outcome": {"outcome": "selected", "optionId": option}}}))
}

/// The updates among some frames.
pub(crate) fn updates(frames: &[Value]) -> Vec<Value> {
    let updates = frames.iter().filter(|frame| frame["method"] == "session/update");
    updates.map(|frame| frame["params"]["update"].clone()).collect()
}

/// The agent's text among some updates.
pub(crate) fn said(updates: &[Value]) -> String {
    let chunks = updates.iter().filter(|update| update["sessionUpdate"] == "agent_message_chunk");
    chunks.filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
}
