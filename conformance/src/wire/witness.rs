//! Judges a whole exchange, line by line, by the requirements that can be seen on the wire alone.
//!
//! The witness knows nothing of the program on either end and of our own crates: it has the official schema, and the rules of order
//! between messages. It answers two questions about each of its requirements: was there an occasion to see it, and was it kept.

mod content;
mod gates;
mod message;
mod meta;
mod notices;
mod rules;
mod session;
mod terminals;
mod tools;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use self::message::{Message, Rule, classify};
use self::notices::Compaction;
pub(crate) use self::rules::shown_in;
pub use self::rules::{AGENT_RULES, CLIENT_RULES};
use self::session::Sessions;
use self::terminals::Terminal;
use super::frame::{Direction, Frame};
use super::schema::{self, Part};

/// A requirement that a line breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The requirement's id.
    pub id: &'static str,
    /// Who wrote the line.
    pub direction: Direction,
    /// The line's place in the recording, from 0.
    pub frame: usize,
    /// What is wrong with it.
    pub text: String,
}

/// What the witness has to say about a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Testimony {
    /// What was broken, in the order of the lines.
    pub findings: Vec<Finding>,
    /// The requirements that there was an occasion to judge, with the side that was judged (as the writer of the lines).
    pub seen: BTreeSet<(Direction, &'static str)>,
}

/// Judges a recording of one connection, from its first line.
pub fn judge(frames: &[Frame]) -> Testimony {
    let mut witness = Witness::default();
    for frame in frames {
        witness.see(frame);
    }
    witness.testimony
}

/// A request that has not been answered yet.
#[derive(Debug, Clone)]
struct Asked {
    method: String,
    params: Value,
}

/// What one side has sent.
#[derive(Debug, Default)]
struct Sent {
    /// Requests that wait for their answer, by the JSON of their id; more than one only if an id was used twice.
    pending: BTreeMap<String, Vec<Asked>>,
    /// Ids of requests that were answered.
    answered: BTreeSet<String>,
    /// Lines to which an answer with the id null is legitimate.
    unanswerable: usize,
    /// Lines that this judge can't parse (too deep, a lone surrogate), and the other side perhaps can.
    unread: usize,
    lines: usize,
}

/// The judge's notes so far.
#[derive(Debug, Default)]
struct Witness {
    testimony: Testimony,
    frame: usize,
    client: Sent,
    agent: Sent,
    /// `params` of initialize, then its result.
    offered: Option<Value>,
    answered: Option<Value>,
    /// The agent chose another version than 1, whose messages have other forms.
    foreign: bool,
    sessions: Sessions,
    terminals: BTreeMap<String, Terminal>,
    compactions: BTreeMap<String, Compaction>,
    /// Ids of URL elicitations that are open.
    elicitations: BTreeSet<String>,
}

impl Witness {
    fn see(&mut self, frame: &Frame) {
        let direction = frame.direction;
        self.sent(direction).lines += 1;
        let text = std::str::from_utf8(&frame.bytes);
        self.rule(direction, ("ACP-TRANSPORT-002", "ACPX-TR-001"), text.is_ok(), || {
            "the line is not UTF-8".into()
        });
        if direction == Direction::ToAgent {
            self.client_rule("ACPX-TR-003", frame.terminated, || "the last line has no newline".into());
        }
        match frame.json() {
            Ok(line) => self.line(direction, &line),
            Err(error) => {
                let sent = self.sent(direction);
                sent.unanswerable += 1;
                sent.unread += 1;
                self.rule(direction, ("ACP-TRANSPORT-001", "ACPX-TR-002"), false, || {
                    format!("the line is not JSON: {} ({error})", frame.excerpt(80))
                });
            }
        }
        self.frame += 1;
    }

    fn line(&mut self, direction: Direction, line: &Value) {
        match classify(line) {
            Ok(message) => {
                for rule in [Rule::NotAMessage, Rule::Batch, Rule::Version] {
                    self.rule(direction, ids(rule), true, String::new);
                }
                self.message(direction, message);
            }
            Err(misshapen) => {
                let sent = self.sent(direction);
                sent.unanswerable += 1;
                if let Some(id) = line.get("id") {
                    // Whoever can read the id of a broken request may answer it.
                    let nameless = Asked { method: String::new(), params: Value::Null };
                    sent.pending.entry(id.to_string()).or_default().push(nameless);
                }
                self.rule(direction, ids(misshapen.rule), false, || misshapen.text);
            }
        }
    }

    fn message(&mut self, direction: Direction, message: Message<'_>) {
        self.trace_context(direction, message.body());
        match message {
            Message::Request { id, method, params } => {
                self.request(direction, id, method, params);
            }
            Message::Notification { method, params } => {
                self.before_initialize(direction, method);
                self.defined(direction, Part::Notification, method, params);
                self.gate(direction, method, params);
                self.notified(direction, method, params);
            }
            Message::Response { id, outcome } => {
                self.rule(direction, ids(Rule::Outcome), true, String::new);
                self.response(direction, id, outcome);
            }
        }
    }

    fn request(&mut self, direction: Direction, id: &Value, method: &str, params: &Value) {
        let sound = id.is_string() || id.is_i64();
        self.rule(direction, ("ACPX-RPC-006", "ACPX-RPC-006"), sound, || {
            format!("the request id {id} is neither a string nor an int64")
        });
        self.before_initialize(direction, method);
        self.defined(direction, Part::Request, method, params);
        self.gate(direction, method, params);
        let asked = Asked { method: method.to_owned(), params: params.clone() };
        let sent = self.sent(direction);
        if !sound || !(params.is_null() || params.is_object() || params.is_array()) {
            sent.unanswerable += 1;
        }
        sent.answered.remove(&id.to_string());
        let same = sent.pending.entry(id.to_string()).or_default();
        same.push(asked);
        let taken = same.len() > 1;
        self.rule(direction, ("ACPX-RPC-009", "ACPX-RPC-009"), !taken, || {
            format!("id {id} is already in use by a request that was not answered yet")
        });
        if method == "initialize" && direction == Direction::ToAgent {
            self.offered = Some(params.clone());
        }
        self.asked(direction, id, method, params);
    }

    fn response(&mut self, direction: Direction, id: &Value, outcome: Result<&Value, &Value>) {
        let key = id.to_string();
        let other = self.sent(direction.reverse());
        let waiting = other.pending.get_mut(&key);
        let asked = waiting.and_then(|same| (!same.is_empty()).then(|| same.remove(0)));
        let repeated = other.answered.contains(&key);
        let excused = (id.is_null() && other.unanswerable > 0) || (other.unread > 0 && !repeated);
        if asked.is_some() {
            other.answered.insert(key);
        }
        let known = asked.is_some() || excused;
        self.rule(direction, ("ACPX-RPC-005", "ACPX-RPC-003"), known, || {
            if repeated {
                format!("request {id} is answered a second time")
            } else {
                format!("an answer to {id}, which was never asked")
            }
        });
        if let Err(error) = outcome {
            let faults = schema::stable().faults("Error", error);
            self.rule(direction, ids(Rule::Outcome), faults.is_empty(), || {
                format!("the error object does not fit: {}", faults.join("; "))
            });
            self.error_message(direction, error);
        }
        let Some(request) = asked else { return };
        if let Ok(result) = outcome {
            let introduction = request.method == "initialize" && direction == Direction::ToClient;
            if introduction && result["protocolVersion"].as_u64().is_some_and(|version| version != 1) {
                self.foreign = true;
                self.answered = Some(Value::Null);
            }
            self.result_fits(direction, &request.method, result);
            if introduction && !self.foreign {
                self.answered = Some(result.clone());
                self.introduced(result);
            }
        }
        self.replied(direction, id, &request, outcome);
    }

    /// Nothing but initialize goes out before its answer is in.
    fn before_initialize(&mut self, direction: Direction, method: &str) {
        if direction == Direction::ToAgent {
            let fine = self.answered.is_some() || (method == "initialize" && self.offered.is_none());
            self.client_rule("ACPX-INIT-001", fine, || {
                format!("{method} is sent before initialize was answered")
            });
        }
    }

    fn defined(&mut self, direction: Direction, part: Part, method: &str, params: &Value) {
        let fits = ("ACP-SCHEMA-001", "ACPX-TR-002");
        let Some(definition) = schema::stable().definition(part, method, direction) else {
            let custom = method.starts_with('_') || method.starts_with("$/");
            let known = schema::stable().knows(method);
            self.rule(direction, fits, !known, || {
                format!("{method} is not sent in this form by the {}", direction.writer())
            });
            let fine = custom || known || schema::drafts().knows(method);
            if custom && !method.starts_with("$/") {
                // The other side is this kit, or a client that was asked for no extension.
                self.rule(direction, ("ACPX-EXT-006", "ACPX-EXT-006"), self.extends(direction), || {
                    format!("{method} is used, and the other side advertises no extension")
                });
            }
            self.rule(direction, ("ACPX-EXT-002", "ACPX-EXT-002"), fine, || {
                format!("{method} is not in the specification and does not start with `_`")
            });
            return;
        };
        self.rule(direction, ("ACPX-EXT-002", "ACPX-EXT-002"), true, String::new);
        self.fits(direction, definition, params);
    }

    fn result_fits(&mut self, direction: Direction, method: &str, result: &Value) {
        if let Some(definition) = schema::stable().definition(Part::Result, method, direction.reverse()) {
            self.fits(direction, definition, result);
        }
    }

    fn fits(&mut self, direction: Direction, definition: &str, value: &Value) {
        if self.foreign {
            return;
        }
        // Absent params are an empty object where nothing is required.
        let empty = Value::Object(serde_json::Map::default());
        let value = if value.is_null() { &empty } else { value };
        let mut faults = schema::stable().faults(definition, value);
        if !faults.is_empty() && schema::drafts().faults(definition, value).is_empty() {
            // A draft of v1, which both ends may have agreed on: told, not condemned.
            let text = faults.join("; ");
            self.rule(direction, ("ACP-SCHEMA-002", "ACPX-EXT-009"), false, || {
                format!("only the draft schema allows {text}")
            });
            faults.clear();
        }
        let fits = ("ACP-SCHEMA-001", "ACPX-TR-002");
        self.rule(direction, fits, faults.is_empty(), || format!("{definition}: {}", faults.join("; ")));
        self.members(direction, definition, value);
    }

    fn members(&mut self, direction: Direction, definition: &str, value: &Value) {
        let unknown = schema::stable().unknown_members(definition, value);
        let new = schema::drafts().unknown_members(definition, value);
        for path in &unknown {
            let draft = !new.contains(path);
            let capability = path.to_lowercase().contains("capabilities/");
            let rule = match (draft, capability) {
                (_, true) => ("ACPX-EXT-009", "ACPX-EXT-009"),
                (true, false) => ("ACP-SCHEMA-002", "ACPX-EXT-009"),
                (false, false) => ("ACPX-EXT-001", "ACPX-EXT-001"),
            };
            self.rule(direction, rule, false, || format!("{definition} has no member {path}"));
        }
        self.rule(direction, ("ACPX-EXT-001", "ACPX-EXT-001"), true, String::new);
        for rule in ["ACP-SCHEMA-002", "ACPX-EXT-009"] {
            self.rule(direction, (rule, "ACPX-EXT-009"), true, String::new);
        }
    }

    fn sent(&mut self, direction: Direction) -> &mut Sent {
        match direction {
            Direction::ToAgent => &mut self.client,
            Direction::ToClient => &mut self.agent,
        }
    }

    fn agent_rule(&mut self, id: &'static str, kept: bool, text: impl FnOnce() -> String) {
        self.rule(Direction::ToClient, (id, id), kept, text);
    }

    fn client_rule(&mut self, id: &'static str, kept: bool, text: impl FnOnce() -> String) {
        self.rule(Direction::ToAgent, (id, id), kept, text);
    }

    /// Notes that a requirement could be judged here, and how it fared. `ids` is the agent's requirement, then the client's.
    fn rule(
        &mut self,
        direction: Direction,
        ids: (&'static str, &'static str),
        kept: bool,
        text: impl FnOnce() -> String,
    ) {
        let id = match direction {
            Direction::ToClient => ids.0,
            Direction::ToAgent => ids.1,
        };
        self.testimony.seen.insert((direction, id));
        if !kept {
            self.testimony.findings.push(Finding { id, direction, frame: self.frame, text: text() });
        }
    }
}

fn ids(rule: Rule) -> (&'static str, &'static str) {
    match rule {
        Rule::NotAMessage => ("ACP-TRANSPORT-001", "ACPX-TR-002"),
        Rule::Batch => ("ACPX-TR-004", "ACPX-TR-004"),
        Rule::Version => ("ACPX-RPC-001", "ACPX-RPC-001"),
        Rule::Outcome => ("ACP-JSONRPC-002", "ACPX-RPC-003"),
        Rule::Id => ("ACP-JSONRPC-001", "ACPX-RPC-002"),
    }
}
