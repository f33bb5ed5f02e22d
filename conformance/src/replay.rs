//! A recorded session as a scripted peer: one side's lines are played, the other side is whoever is there.
//!
//! The lines go out in the recorded order, each once the other side has come as far as it had then. What the two sides agree on anew
//! (ids of requests, session ids, the working directory) is put in the recorded one's place.

mod names;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::names::Names;
use crate::wire::frame::{Direction, Frame};

/// How to play.
#[derive(Debug, Clone)]
pub(crate) struct Manner {
    /// The direction of the lines that are played.
    pub(crate) ours: Direction,
    /// How long the other side may take for what it did in the recording.
    pub(crate) patience: Duration,
    /// Keep the recorded pauses.
    pub(crate) paced: bool,
    /// The directory that stands for the recorded one, where we are the client.
    pub(crate) cwd: String,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Played {
    /// How many lines of the recording were gone through.
    pub(crate) lines: usize,
    /// Why it stopped there, if it was not the end.
    pub(crate) stopped: Option<String>,
    /// Whether the other side left, in order.
    pub(crate) left: bool,
    /// What was otherwise than recorded.
    pub(crate) differences: Vec<String>,
}

/// The player and the connection it plays on.
struct Stage<'r, W> {
    manner: &'r Manner,
    rest: &'r [Frame],
    input: Receiver<Value>,
    output: W,
    names: Names,
    /// The ids of the other side's requests, as recorded and as they are now.
    theirs: BTreeMap<String, Value>,
    /// Methods of our own requests that were not answered yet, by their ids.
    asked: BTreeMap<String, String>,
    /// Messages that came before their time.
    early: Vec<Value>,
    played: Played,
    gone: bool,
}

/// Why the other side's part did not come.
enum Absent {
    /// It will not come any more, and the play goes on.
    Passed,
    /// It did not come in time.
    Late,
    /// The other side has left.
    Gone,
}

/// Plays the recording on a connection.
pub(crate) fn play(
    frames: &[Frame],
    manner: &Manner,
    input: impl Read + Send + 'static,
    output: impl Write,
) -> Played {
    let mut stage = Stage {
        manner,
        rest: frames,
        input: messages(input),
        output,
        names: Names::default(),
        theirs: BTreeMap::new(),
        asked: BTreeMap::new(),
        early: Vec::new(),
        played: Played::default(),
        gone: false,
    };
    let mut clock = frames.first().map(|frame| frame.at).unwrap_or_default();
    for (place, frame) in frames.iter().enumerate() {
        stage.rest = &frames[place..];
        if frame.direction == manner.ours {
            if manner.paced {
                thread::sleep(frame.at.saturating_sub(clock));
            }
            stage.send(frame);
        } else if let Err(absent) = stage.await_theirs(frame) {
            let what = names::title(frame);
            match absent {
                Absent::Passed => stage.played.differences.push(format!("{what} does not come")),
                Absent::Late => {
                    let limit = manner.patience.as_secs_f32();
                    stage.played.stopped = Some(format!("{what} does not come within {limit} s"));
                    return stage.played;
                }
                Absent::Gone => {
                    stage.played.left = true;
                    stage.played.stopped = Some(format!("the other side leaves before {what}"));
                    return stage.played;
                }
            }
        }
        clock = frame.at;
        stage.played.lines = place + 1;
    }
    stage.rest = &[];
    stage.see_off();
    stage.played
}

/// What the other side writes, message by message; what is no JSON was never part of a recording's order.
fn messages(input: impl Read + Send + 'static) -> Receiver<Value> {
    let (deliver, inbox) = mpsc::channel();
    thread::spawn(move || {
        let (mut input, mut line) = (BufReader::new(input), Vec::new());
        while let Ok(1..) = input.read_until(b'\n', &mut line) {
            if let Ok(message) = serde_json::from_slice(&line) {
                // The play may be over; then nobody cares.
                let _ = deliver.send(message);
            }
            line.clear();
        }
    });
    inbox
}

impl<W: Write> Stage<'_, W> {
    fn send(&mut self, frame: &Frame) {
        let Ok(recorded) = frame.json() else { return self.write(&frame.bytes, frame.terminated) };
        let mut message = recorded.clone();
        self.names.put(&mut message);
        match (recorded["method"].as_str(), recorded.get("id")) {
            (Some(method), Some(id)) => {
                if self.manner.ours == Direction::ToAgent && message["params"]["cwd"].is_string() {
                    self.names.learn(&recorded["params"]["cwd"], &json!(self.manner.cwd));
                    self.names.put(&mut message);
                }
                self.asked.insert(id.to_string(), method.to_owned());
            }
            (None, Some(id)) => match self.theirs.remove(&id.to_string()) {
                Some(now) => message["id"] = now,
                // A question that did not come needs no answer; one to the id null stands for itself.
                None if !id.is_null() => return,
                None => {}
            },
            _ => {}
        }
        // Byte for byte as recorded, unless something has another name now.
        if message == recorded {
            self.write(&frame.bytes, frame.terminated);
        } else {
            self.write(message.to_string().as_bytes(), frame.terminated);
        }
    }

    fn write(&mut self, bytes: &[u8], terminated: bool) {
        let end: &[u8] = if terminated { b"\n" } else { b"" };
        let line = [bytes, end].concat();
        // One that has gone is told by the end of its lines.
        let _ = self.output.write_all(&line).and_then(|()| self.output.flush());
    }

    /// Waits until the other side has done what it did in the recording.
    fn await_theirs(&mut self, frame: &Frame) -> Result<(), Absent> {
        let Ok(recorded) = frame.json() else { return Ok(()) };
        match (recorded["method"].as_str(), recorded.get("id")) {
            (Some(method), Some(id)) => {
                let now = self.wait(true, |message| is_request(message) && message["method"] == method)?;
                self.names.learn(&recorded["params"]["cwd"], &now["params"]["cwd"]);
                self.theirs.insert(id.to_string(), now["id"].clone());
                self.compare(&recorded, &now);
            }
            (None, Some(id)) if self.asked.contains_key(&id.to_string()) => {
                let now = self.wait(false, |message| is_answer(message) && message.get("id") == Some(id))?;
                let method = self.asked.remove(&id.to_string()).unwrap_or_default();
                self.names.learn(&recorded["result"]["sessionId"], &now["result"]["sessionId"]);
                if recorded.get("error").is_some() != now.get("error").is_some() {
                    let text = if now.get("error").is_some() { "refused" } else { "granted" };
                    self.played.differences.push(format!("{method} is {text}, other than recorded"));
                }
            }
            (Some("session/cancel"), None) => {
                self.wait(false, |message| message["method"] == "session/cancel")?;
            }
            // Updates are the other side's own affair.
            _ => {}
        }
        Ok(())
    }

    /// Tells of a prompt that asks for something else: the recorded answer does not fit it.
    fn compare(&mut self, recorded: &Value, now: &Value) {
        let mut wanted = recorded["params"]["prompt"].clone();
        self.names.put(&mut wanted);
        let given = &now["params"]["prompt"];
        if recorded["method"] == "session/prompt" && wanted != *given {
            let (given, wanted) = (names::words(given), names::words(&wanted));
            self.played.differences.push(format!("the prompt is {given}, and the recorded one is {wanted}"));
        }
    }

    /// Waits for a message; a question that `may_pass` is given up once an answer shows that the agent went another way.
    fn wait(&mut self, may_pass: bool, wanted: impl Fn(&Value) -> bool) -> Result<Value, Absent> {
        let deadline = Instant::now() + self.manner.patience;
        loop {
            if let Some(place) = self.early.iter().position(&wanted) {
                return Ok(self.early.remove(place));
            }
            if self.gone {
                return Err(Absent::Gone);
            }
            let before = self.early.len();
            match self.input.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(message) => self.sort(message),
                Err(RecvTimeoutError::Timeout) => return Err(Absent::Late),
                Err(RecvTimeoutError::Disconnected) => self.gone = true,
            }
            let turned = may_pass && self.early.get(before).is_some_and(is_answer);
            if turned && self.manner.ours == Direction::ToAgent {
                return Err(Absent::Passed);
            }
        }
    }

    /// Keeps what has a place later in the recording, refuses other requests, and passes over the rest.
    fn sort(&mut self, message: Value) {
        let awaited = if is_request(&message) || message["method"] == "session/cancel" {
            // One that has its answer's place in the recording, from where the play is now.
            let rest = self.rest.iter().filter(|frame| frame.direction != self.manner.ours);
            let same = |other: &Value| other["method"] == message["method"];
            let places = rest.filter_map(|frame| frame.json().ok()).filter(same).count();
            places > self.early.iter().filter(|other| same(other)).count()
        } else {
            is_answer(&message)
                && message.get("id").is_some_and(|id| self.asked.contains_key(&id.to_string()))
        };
        if awaited {
            self.early.push(message);
        } else if is_request(&message) {
            let method = message["method"].as_str().unwrap_or_default();
            self.played.differences.push(format!("{method} is not in the recording"));
            let error = json!({"code": -32601, "message": "not in the recording"});
            let refusal = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
            self.write(refusal.to_string().as_bytes(), true);
        }
    }

    /// Waits for the other side to leave, where it is a client.
    fn see_off(&mut self) {
        while self.manner.ours == Direction::ToClient && !self.gone {
            match self.input.recv() {
                Ok(message) => self.sort(message),
                Err(_) => self.gone = true,
            }
        }
    }
}

fn is_request(message: &Value) -> bool {
    message["method"].is_string() && message.get("id").is_some()
}

fn is_answer(message: &Value) -> bool {
    message.get("method").is_none() && message.get("id").is_some()
}
