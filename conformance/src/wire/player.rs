//! A scripted agent: the client under test starts it as its agent, and it does what one check's script says.
//!
//! It runs in a process of its own, so whatever crosses is written to a recording as it crosses; the kit judges that afterwards.

use std::fs::File;
use std::io::{self, Read, Write};
use std::process;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::frame::{Direction, Frame};
use super::recording;

/// The session that the player opens, whatever it is asked.
pub(crate) const SESSION: &str = "session-1";

/// The agent's side of the connection, in the hands of a script.
#[derive(Debug)]
pub(crate) struct Player {
    /// The answer to initialize; `agentCapabilities` is what scripts change.
    pub(crate) hello: Value,
    /// The answer to session/new.
    pub(crate) opening: Value,
    inbox: Receiver<Vec<u8>>,
    record: File,
    since: Instant,
    next: i64,
    /// Answers to the player's own requests that nobody asked for yet.
    answers: Vec<Value>,
    /// Requests that came while the script looked for something else.
    waiting: Vec<Value>,
    ended: bool,
    /// The directory of the session, as the client gave it.
    cwd: String,
}

/// How long a script waits for what a client may never send.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

impl Player {
    /// Takes over the process's stdin and stdout, recording to `path`.
    pub(crate) fn take(path: &str) -> io::Result<Self> {
        let record = File::options().create(true).append(true).open(path)?;
        let (deliver, inbox) = mpsc::channel();
        thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            let (mut chunk, mut line) = (vec![0; 64 * 1024], Vec::new());
            while let Ok(count @ 1..) = stdin.read(&mut chunk) {
                for byte in &chunk[..count] {
                    line.push(*byte);
                    if *byte == b'\n' {
                        // The script may have ended; then nobody cares.
                        let _ = deliver.send(std::mem::take(&mut line));
                    }
                }
            }
            if !line.is_empty() {
                let _ = deliver.send(line);
            }
        });
        let info = json!({"name": "accord-player", "title": "Accord's scripted agent", "version": env!("CARGO_PKG_VERSION")});
        let mut player = Self {
            hello: json!({"protocolVersion": 1, "agentCapabilities": {}, "agentInfo": info, "authMethods": []}),
            opening: json!({"sessionId": SESSION}),
            inbox,
            record,
            since: Instant::now(),
            next: 0,
            answers: Vec::new(),
            waiting: Vec::new(),
            ended: false,
            cwd: String::new(),
        };
        player.note(&format!("start {}", process::id()));
        Ok(player)
    }

    /// Serves the client until it prompts; gives the prompt.
    pub(crate) fn turn(&mut self) -> Option<Value> {
        self.until("session/prompt")
    }

    /// Serves the client until it asks `method`, which is left for the script to answer.
    pub(crate) fn until(&mut self, method: &str) -> Option<Value> {
        loop {
            let request = self.request(PATIENCE * 4)?;
            if request["method"] == method {
                return Some(request);
            }
            self.serve(&request);
        }
    }

    /// The ordinary answer to a request; a notification needs none.
    pub(crate) fn serve(&mut self, request: &Value) {
        if request.get("id").is_none() {
            return;
        }
        let params = &request["params"];
        let result = match request["method"].as_str().unwrap_or_default() {
            "initialize" => self.hello.clone(),
            "session/new" => {
                params["cwd"].as_str().unwrap_or_default().clone_into(&mut self.cwd);
                self.opening.clone()
            }
            "session/list" => json!({"sessions": []}),
            "session/set_config_option" => json!({"configOptions": self.opening["configOptions"]}),
            "session/prompt" => {
                let session = params["sessionId"].clone();
                self.say_to(&session, "And on we go.");
                json!({"stopReason": "end_turn"})
            }
            "authenticate" | "logout" | "session/set_mode" | "session/load" | "session/resume"
            | "session/close" | "session/delete" => json!({}),
            _ => return self.refuse(request, -32601, "method not found"),
        };
        self.answer(request, &result);
    }

    /// Answers with a result.
    pub(crate) fn answer(&mut self, request: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Answers with an error.
    pub(crate) fn refuse(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "error": error}));
    }

    /// Ends the turn of `prompt`.
    pub(crate) fn end_turn(&mut self, prompt: &Value) {
        self.answer(prompt, &json!({"stopReason": "end_turn"}));
    }

    /// A message chunk in the player's session.
    pub(crate) fn say(&mut self, text: &str) {
        self.say_to(&json!(SESSION), text);
    }

    fn say_to(&mut self, session: &Value, text: &str) {
        let content = json!({"type": "text", "text": text});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
        self.notify("session/update", &json!({"sessionId": session, "update": update}));
    }

    /// An update of the player's session.
    pub(crate) fn update(&mut self, update: &Value) {
        self.notify("session/update", &json!({"sessionId": SESSION, "update": update}));
    }

    /// A notification.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// A request under the next id of the player's own.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = json!(self.next);
        self.next += 1;
        self.ask_as(&id, method, params);
        id
    }

    /// A request under an id of the script's.
    pub(crate) fn ask_as(&mut self, id: &Value, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// Waits for the answer to a request of the player's, serving the client meanwhile.
    pub(crate) fn reply(&mut self, id: &Value) -> Option<Value> {
        self.reply_within(id, PATIENCE)
    }

    /// `reply`, with a limit of its own.
    pub(crate) fn reply_within(&mut self, id: &Value, limit: Duration) -> Option<Value> {
        let deadline = Instant::now() + limit;
        loop {
            if let Some(place) = self.answers.iter().position(|answer| answer["id"] == *id) {
                return Some(self.answers.remove(place));
            }
            let line = self.line(deadline)?;
            self.sort(&line);
        }
    }

    /// Asks for permission for a tool call that is announced first.
    pub(crate) fn permission(&mut self, call: &str) -> Value {
        self.update(&json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": format!("Tool {call}"), "status": "pending"}));
        self.ask("session/request_permission", &permission(call))
    }

    /// The next request or notification of the client's.
    pub(crate) fn request(&mut self, limit: Duration) -> Option<Value> {
        let deadline = Instant::now() + limit;
        loop {
            if !self.waiting.is_empty() {
                return Some(self.waiting.remove(0));
            }
            let line = self.line(deadline)?;
            self.sort(&line);
        }
    }

    /// The session's directory.
    pub(crate) fn cwd(&self) -> String {
        self.cwd.clone()
    }

    /// Whether the client has closed its end.
    pub(crate) fn closed(&self) -> bool {
        self.ended
    }

    /// Listens for a while; what comes is sorted for later.
    pub(crate) fn listen(&mut self, limit: Duration) {
        let deadline = Instant::now() + limit;
        while let Some(line) = self.line(deadline) {
            self.sort(&line);
        }
    }

    /// Makes the process end in order, although the client still waits.
    pub(crate) fn leave(&mut self) {
        self.ended = true;
    }

    /// Serves the client until it has gone.
    pub(crate) fn rest(&mut self) {
        while !self.ended {
            if let Some(request) = self.request(PATIENCE) {
                self.serve(&request);
            }
        }
    }

    /// Writes a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// Writes bytes as they are, and at once.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.record_sent(bytes);
        push(bytes);
    }

    /// Writes byte by byte, with a pause between.
    pub(crate) fn dribble(&mut self, bytes: &[u8], pause: Duration) {
        self.record_sent(bytes);
        for byte in bytes {
            push(&[*byte]);
            thread::sleep(pause);
        }
    }

    fn record_sent(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.record(Direction::ToClient, line);
        }
    }

    /// A remark in the recording.
    pub(crate) fn note(&mut self, note: &str) {
        self.write(&recording::note(self.since.elapsed(), note));
    }

    fn line(&mut self, deadline: Instant) -> Option<Vec<u8>> {
        match self.inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                self.record(Direction::ToAgent, &line);
                Some(line)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                if !self.ended {
                    self.note("client closed its end");
                }
                self.ended = true;
                None
            }
        }
    }

    fn sort(&mut self, line: &[u8]) {
        // What is no message is for the witness to judge.
        let Ok(message) = serde_json::from_slice::<Value>(line) else { return };
        if message["method"].is_string() {
            self.waiting.push(message);
        } else {
            self.answers.push(message);
        }
    }

    fn record(&mut self, direction: Direction, line: &[u8]) {
        let terminated = line.ends_with(b"\n");
        let mut frame = Frame::new(self.since.elapsed(), direction, line.strip_suffix(b"\n").unwrap_or(line));
        frame.terminated = terminated;
        self.write(&recording::line(&frame));
    }

    fn write(&mut self, line: &str) {
        // A recording that can't be written shows as one that says nothing.
        let _ = self.record.write_all(line.as_bytes());
    }
}

fn push(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    // A client that has gone is told by the end of its lines.
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

/// The params of a permission request with the four kinds of option.
pub(crate) fn permission(call: &str) -> Value {
    let option = |id: &str, kind: &str| json!({"optionId": id, "name": format!("Choose {id}"), "kind": kind});
    json!({
        "sessionId": SESSION,
        "toolCall": {"toolCallId": call, "title": format!("Tool {call}")},
        "options": [
            option("yes", "allow_once"), option("yes-always", "allow_always"),
            option("no", "reject_once"), option("never", "reject_always"),
        ],
    })
}
