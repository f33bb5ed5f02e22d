//! The kit's own side of a connection to an agent: requests, answers, updates, and a desk that answers the agent's questions.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::desk::Desk;
use super::frame::Frame;
use super::process::{Event, Launch, Process};
use super::verdict::{Judged, Stop, ensure, fail};

/// An agent, seen through its pipes.
#[derive(Debug)]
pub(crate) struct Client {
    /// The process, for checks that write bytes of their own.
    pub(crate) process: Process,
    /// How the agent's own requests are answered.
    pub(crate) desk: Desk,
    /// What the agent sent besides answers, in order.
    pub(crate) heard: Vec<Heard>,
    answers: BTreeMap<String, Vec<Answer>>,
    next: i64,
    patience: Duration,
    ended: bool,
}

/// A request or notification of the agent's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Heard {
    /// Its place in the recording.
    pub(crate) place: usize,
    /// Set for a request.
    pub(crate) id: Option<Value>,
    /// The method.
    pub(crate) method: String,
    /// The params, null if absent.
    pub(crate) params: Value,
}

impl Heard {
    /// The kind of a `session/update`, else an empty string.
    pub(crate) fn kind(&self) -> &str {
        self.params["update"]["sessionUpdate"].as_str().unwrap_or_default()
    }

    /// Whether it is an update of `session`.
    pub(crate) fn updates(&self, session: &str) -> bool {
        self.method == "session/update" && self.params["sessionId"] == session
    }
}

/// An answer to a request of the kit's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    /// Its place in the recording.
    pub(crate) place: usize,
    /// The method it answers.
    pub(crate) method: String,
    /// The result, or the error object.
    pub(crate) outcome: Result<Value, Value>,
}

/// A request that was sent; ask `Client::answer` what came of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sent {
    /// The id it went out with.
    pub(crate) id: Value,
    /// Its method.
    pub(crate) method: String,
}

impl Answer {
    /// The result; an error fails the check.
    pub(crate) fn result(self) -> Judged<Value> {
        let method = self.method;
        self.outcome.or_else(|error| fail(format!("{method} is answered with the error {error}")))
    }

    /// The error; a result fails the check.
    pub(crate) fn error(self) -> Judged<Value> {
        match self.outcome {
            Err(error) => Ok(error),
            Ok(_) => fail(format!("{} succeeds where an error is due", self.method)),
        }
    }

    /// What it is, as part of a sentence.
    pub(crate) fn told(&self) -> String {
        match &self.outcome {
            Ok(result) => format!("the result {result}"),
            Err(error) => format!("the error {error}"),
        }
    }

    /// The code of the error, if it is one.
    pub(crate) fn code(&self) -> Option<i64> {
        self.outcome.as_ref().err().and_then(|error| error["code"].as_i64())
    }
}

/// A code, or that there is none, as part of a sentence.
pub(crate) fn told(code: Option<i64>) -> String {
    code.map_or_else(|| "no error".into(), |code| format!("the error {code}"))
}

impl Client {
    /// Starts the agent; nothing is sent yet.
    pub(crate) fn start(launch: &Launch, mark: &str, patience: Duration, desk: Desk) -> Judged<Self> {
        let process = Process::start(launch, mark)
            .or_else(|error| fail(format!("{} can't be started: {error}", launch.command.join(" "))))?;
        Ok(Self {
            process,
            desk,
            heard: Vec::new(),
            answers: BTreeMap::new(),
            next: 0,
            patience,
            ended: false,
        })
    }

    /// Sends a request under the next id.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> Sent {
        let id = json!(self.next);
        self.next += 1;
        self.send_as(id, method, params)
    }

    /// Sends a request under an id of the caller's.
    pub(crate) fn send_as(&mut self, id: Value, method: &str, params: &Value) -> Sent {
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let method = method.to_owned();
        Sent { id, method }
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Writes one line.
    pub(crate) fn say(&mut self, message: &Value) {
        self.process.write(format!("{message}\n"));
    }

    /// Waits for the answer to `sent`, serving the agent's own requests meanwhile.
    pub(crate) fn answer(&mut self, sent: &Sent) -> Judged<Answer> {
        self.answer_within(sent, self.patience)
    }

    /// `answer`, with a limit of its own.
    pub(crate) fn answer_within(&mut self, sent: &Sent, limit: Duration) -> Judged<Answer> {
        self.answer_since(sent, Instant::now(), limit)
    }

    /// `answer`, within a limit that began earlier.
    pub(crate) fn answer_since(&mut self, sent: &Sent, began: Instant, limit: Duration) -> Judged<Answer> {
        let key = sent.id.to_string();
        let deadline = began + limit;
        loop {
            let waiting = self.answers.get_mut(&key);
            if let Some(mut answer) = waiting.and_then(|all| (!all.is_empty()).then(|| all.remove(0))) {
                answer.method.clone_from(&sent.method);
                return Ok(answer);
            }
            if self.ended {
                return fail(format!("the agent ended without an answer to {}{}", sent.method, self.exit()));
            }
            if !self.pump(deadline) {
                return fail(format!("no answer to {} within {} s", sent.method, limit.as_secs_f32()));
            }
        }
    }

    /// A request and its answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Judged<Answer> {
        let sent = self.send(method, params);
        self.answer(&sent)
    }

    /// A request that has to succeed.
    pub(crate) fn call(&mut self, method: &str, params: &Value) -> Judged<Value> {
        self.ask(method, params)?.result()
    }

    /// Whether an answer to `sent` has come in already.
    pub(crate) fn has_answer(&self, sent: &Sent) -> bool {
        self.answers.get(&sent.id.to_string()).is_some_and(|all| !all.is_empty())
    }

    /// Listens for a while, whatever comes.
    pub(crate) fn listen(&mut self, quiet: Duration) {
        let deadline = Instant::now() + quiet;
        while !self.ended && self.pump(deadline) {}
    }

    /// Listens until `wanted` holds; false if the time ran out or the process ended.
    pub(crate) fn listen_until(&mut self, limit: Duration, mut wanted: impl FnMut(&Self) -> bool) -> bool {
        let deadline = Instant::now() + limit;
        while !wanted(self) {
            if self.ended || !self.pump(deadline) {
                return wanted(self);
            }
        }
        true
    }

    /// A round trip that has to work: the connection lives, and what was sent before has been read.
    pub(crate) fn alive(&mut self) -> Judged {
        // Every agent has to answer a request under `_`, and none does anything for it.
        let sent = self.send("_accord/alive", &json!({}));
        self.answer(&sent).map(drop).map_err(|stop| match stop {
            Stop::Failed(why) => Stop::Failed(format!("the connection no longer serves requests: {why}")),
            other => other,
        })
    }

    /// All answers that no caller has taken, with the JSON of their ids.
    pub(crate) fn unclaimed(&self) -> impl Iterator<Item = (&String, &Answer)> {
        let all = self.answers.iter();
        all.flat_map(|(id, answers)| answers.iter().map(move |answer| (id, answer)))
    }

    /// Closes stdin and waits for the process to end.
    pub(crate) fn finish(&mut self, limit: Duration) -> Judged {
        self.process.close_stdin();
        let gone = self.process.wait(limit).is_some();
        ensure(gone, || format!("still running {} s after its stdin was closed", limit.as_secs_f32()))
    }

    /// The longest time a plain answer may take.
    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// Takes one line; false if none came before the deadline.
    fn pump(&mut self, deadline: Instant) -> bool {
        match self.process.next(deadline) {
            None => return false,
            Some(Event::End) => self.ended = true,
            Some(Event::Line(place, frame)) => self.take(place, &frame),
        }
        true
    }

    fn take(&mut self, place: usize, frame: &Frame) {
        // What is no message is for the witness to judge.
        let Ok(line) = frame.json() else { return };
        if !line.is_object() {
            return;
        }
        let id = line.get("id").cloned();
        let Some(method) = line["method"].as_str().map(str::to_owned) else {
            let outcome = match line.get("error") {
                Some(error) => Err(error.clone()),
                None => Ok(line["result"].clone()),
            };
            let key = id.unwrap_or_default().to_string();
            let answer = Answer { place, method: String::new(), outcome };
            self.answers.entry(key).or_default().push(answer);
            return;
        };
        let params = line["params"].clone();
        if let Some(id) = &id
            && let Some(reply) = self.desk.reply(id, &method, &params)
        {
            self.say(&reply);
        }
        self.heard.push(Heard { place, id, method, params });
    }

    fn exit(&mut self) -> String {
        let status = self.process.wait(Duration::from_millis(500));
        status.map(|status| format!(" ({status})")).unwrap_or_default()
    }
}
