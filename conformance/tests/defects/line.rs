//! One line on its way through the spoiler, and what a defect may do to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The variable with the file that tells a client's wrapper how to end.
pub(crate) const END: &str = "ACCORD_SPOILED_END";

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Writer {
    Agent,
    Client,
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Request,
    Notification,
    Answer,
    /// No message, or one that belongs to nothing.
    Noise,
}

/// What happens in a line's place.
#[derive(Debug)]
pub(crate) enum Move {
    /// These bytes go to whoever reads what this writer writes.
    Send(Writer, Vec<u8>),
    /// What is sent to that reader from here on waits this long first.
    Wait(Writer, u64),
    /// The spoiler ends, and the agent with it.
    Exit,
}

/// What a defect remembers between lines.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Unanswered requests by writer and id: method and params.
    pub(crate) pending: Vec<(Writer, Value, String, Value)>,
    /// Ids of requests that a defect made up; their answers are nobody's business.
    pub(crate) made_up: Vec<(Writer, Value)>,
    /// How many spoilers were started on this store before.
    pub(crate) generation: usize,
    /// What the client's initialize offered.
    pub(crate) offer: Value,
    /// What the agent's answer to it advertised.
    pub(crate) advertised: Value,
    /// A folder that outlives the process.
    pub(crate) shelf: PathBuf,
    pub(crate) notes: BTreeMap<&'static str, Value>,
    pub(crate) counts: BTreeMap<&'static str, usize>,
    pub(crate) held: Vec<(Writer, Vec<u8>)>,
}

/// A line, and what becomes of it.
pub(crate) struct Line<'m> {
    pub(crate) writer: Writer,
    pub(crate) part: Part,
    /// Its method, or that of the request it answers.
    pub(crate) method: String,
    /// The params of the request that it answers.
    pub(crate) asked: Value,
    pub(crate) json: Value,
    pub(crate) raw: Vec<u8>,
    pub(crate) memory: &'m mut Memory,
    pub(crate) before: Vec<Move>,
    pub(crate) after: Vec<Move>,
    pub(crate) dropped: bool,
    pub(crate) changed: bool,
}

impl Line<'_> {
    /// A member by its JSON pointer, null if it is not there.
    pub(crate) fn at(&self, pointer: &str) -> Value {
        self.json.pointer(pointer).cloned().unwrap_or_default()
    }

    /// Sets a member; its parent has to be there.
    pub(crate) fn set(&mut self, pointer: &str, value: impl Into<Value>) {
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer starts with a slash");
        match self.json.pointer_mut(parent) {
            Some(Value::Object(members)) => drop(members.insert(name.to_owned(), value.into())),
            Some(Value::Array(items)) => {
                if let Some(item) = name.parse().ok().and_then(|place: usize| items.get_mut(place)) {
                    *item = value.into();
                }
            }
            _ => return,
        }
        self.changed = true;
    }

    /// Removes a member.
    pub(crate) fn remove(&mut self, pointer: &str) {
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer starts with a slash");
        match self.json.pointer_mut(parent) {
            Some(Value::Object(members)) => drop(members.remove(name)),
            Some(Value::Array(items)) => {
                if let Some(place) = name.parse().ok().filter(|place| *place < items.len()) {
                    drop(items.remove(place));
                }
            }
            _ => return,
        }
        self.changed = true;
    }

    /// Adds an item to a list.
    pub(crate) fn push(&mut self, pointer: &str, value: Value) {
        if let Some(Value::Array(items)) = self.json.pointer_mut(pointer) {
            items.push(value);
            self.changed = true;
        }
    }

    /// Replaces text wherever it stands in the line.
    pub(crate) fn replace(&mut self, from: &str, to: &str) {
        let text = String::from_utf8_lossy(&self.raw).replace(from, to);
        if let Ok(json) = serde_json::from_str(&text) {
            self.json = json;
            self.changed = true;
        }
    }

    /// Whether a text stands anywhere in the line.
    pub(crate) fn says(&self, text: &str) -> bool {
        self.raw.windows(text.len().max(1)).any(|part| part == text.as_bytes())
    }

    /// Whether the line is an answer with an error.
    pub(crate) fn is_error(&self) -> bool {
        self.json.get("error").is_some()
    }

    /// Makes an answer a result.
    pub(crate) fn result(&mut self, result: &Value) {
        self.json = json!({"jsonrpc": "2.0", "id": self.at("/id"), "result": result});
        self.changed = true;
    }

    /// Makes an answer an error.
    pub(crate) fn fail(&mut self, code: i64) {
        let error = json!({"code": code, "message": "spoiled"});
        self.json = json!({"jsonrpc": "2.0", "id": self.at("/id"), "error": error});
        self.changed = true;
    }

    /// The line is lost.
    pub(crate) fn lose(&mut self) {
        self.dropped = true;
    }

    /// The line goes out twice.
    pub(crate) fn twice(&mut self) {
        let again = self.json.clone();
        self.after(&again);
    }

    /// A message of the same writer's goes out first.
    pub(crate) fn before(&mut self, message: &Value) {
        self.before.push(Move::Send(self.writer, line(message)));
    }

    /// A message of the same writer's follows.
    pub(crate) fn after(&mut self, message: &Value) {
        self.after.push(Move::Send(self.writer, line(message)));
    }

    /// Bytes of the same writer's follow.
    pub(crate) fn after_raw(&mut self, bytes: &[u8]) {
        self.after.push(Move::Send(self.writer, bytes.to_vec()));
    }

    /// A message goes back to the writer, as if the other side had sent it.
    pub(crate) fn back(&mut self, message: &Value) {
        self.after.push(Move::Send(other(self.writer), line(message)));
    }

    /// A request is answered here, and never arrives.
    pub(crate) fn answer(&mut self, result: &Value) {
        let id = self.turned_away();
        self.back(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// A request is refused here, and never arrives.
    pub(crate) fn refuse(&mut self, code: i64) {
        let error = json!({"code": code, "message": "spoiled"});
        let id = self.turned_away();
        self.back(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    fn turned_away(&mut self) -> Value {
        self.lose();
        let (writer, id) = (self.writer, self.at("/id"));
        self.memory.pending.retain(|(by, other, _, _)| *by != writer || *other != id);
        id
    }

    /// A request that this writer never made follows; nobody hears of its answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) {
        let id = json!(format!("spoiler-{}", self.memory.made_up.len()));
        self.ask_as(&id, method, params);
    }

    /// `ask`, under an id of the defect's choice.
    pub(crate) fn ask_as(&mut self, id: &Value, method: &str, params: &Value) {
        self.memory.made_up.push((self.writer, id.clone()));
        self.after(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// A request that the other side never made goes back to the writer; nobody hears of its answer.
    pub(crate) fn ask_back(&mut self, method: &str, params: &Value) {
        let id = json!(format!("spoiler-{}", self.memory.made_up.len()));
        self.memory.made_up.push((other(self.writer), id.clone()));
        self.back(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    /// A notification follows.
    pub(crate) fn tell(&mut self, method: &str, params: &Value) {
        self.after(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// An update of this line's session follows.
    pub(crate) fn update(&mut self, update: &Value) {
        let message = self.update_message(update);
        self.after(&message);
    }

    /// An update of this line's session goes first.
    pub(crate) fn update_first(&mut self, update: &Value) {
        let message = self.update_message(update);
        self.before(&message);
    }

    fn update_message(&self, update: &Value) -> Value {
        json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": self.session(), "update": update}})
    }

    /// The session that the line is about.
    pub(crate) fn session(&self) -> Value {
        let places =
            [self.at("/params/sessionId"), self.asked["sessionId"].clone(), self.at("/result/sessionId")];
        places.into_iter().find(Value::is_string).unwrap_or_default()
    }

    /// The spoiler and its agent end here.
    pub(crate) fn exit(&mut self) {
        self.lose();
        self.after.push(Move::Exit);
    }

    /// The line, and what follows it, is late.
    pub(crate) fn late(&mut self, milliseconds: u64) {
        self.before.push(Move::Wait(self.writer, milliseconds));
    }

    /// The line waits for `release`.
    pub(crate) fn hold(&mut self) {
        self.lose();
        let held = (self.writer, self.raw_line());
        self.memory.held.push(held);
    }

    /// What was held follows this line.
    pub(crate) fn release(&mut self) {
        for (writer, bytes) in std::mem::take(&mut self.memory.held) {
            self.after.push(Move::Send(writer, bytes));
        }
    }

    fn raw_line(&self) -> Vec<u8> {
        [&self.raw[..], b"\n"].concat()
    }

    /// Counts one more of a kind.
    pub(crate) fn count(&mut self, kind: &'static str) -> usize {
        let count = self.memory.counts.entry(kind).or_default();
        *count += 1;
        *count
    }

    /// Remembers a value, or forgets it with null.
    pub(crate) fn note(&mut self, name: &'static str, value: impl Into<Value>) {
        self.memory.notes.insert(name, value.into());
    }

    /// What was remembered.
    pub(crate) fn noted(&self, name: &'static str) -> Value {
        self.memory.notes.get(name).cloned().unwrap_or_default()
    }

    /// Whether it was remembered at all.
    pub(crate) fn has(&self, name: &'static str) -> bool {
        !self.noted(name).is_null()
    }

    /// Whether a request of this method waits for its answer.
    pub(crate) fn waits(&self, method: &str) -> bool {
        self.memory.pending.iter().any(|(_, _, pending, _)| pending == method)
    }

    /// Whether the agent advertised all there is.
    pub(crate) fn is_welcome_to_all(&self) -> bool {
        self.memory.advertised["sessionCapabilities"]["additionalDirectories"].is_object()
    }

    /// Whether an earlier process had this store.
    pub(crate) fn is_later(&self) -> bool {
        self.memory.generation > 0
    }

    /// The text of a prompt's first block, or of a message chunk.
    pub(crate) fn text(&self) -> String {
        let places = ["/params/prompt/0/text", "/params/update/content/text"];
        let found = places.iter().find_map(|place| self.json.pointer(place)?.as_str());
        found.or(self.asked["prompt"][0]["text"].as_str()).unwrap_or_default().to_owned()
    }

    /// Writes the file that a prompt of the form `write PATH TEXT` names.
    pub(crate) fn write_file(&self) {
        if let Some(path) = self.text().split(' ').nth(1) {
            let path =
                self.memory.notes.get("cwd").and_then(Value::as_str).unwrap_or("/").to_owned() + "/" + path;
            // An absolute path in the prompt is one behind the directory, too: it has a slash of its own.
            let path = path.rsplit_once("//").map_or(path.clone(), |(_, path)| format!("/{path}"));
            fs::write(path, "spoiled").expect("the check made the folder");
        }
    }

    /// Removes a file that the agent has written in the noted directory.
    pub(crate) fn remove_file(&self, name: &str) {
        let cwd = self.memory.notes.get("cwd").and_then(Value::as_str).unwrap_or_default();
        // Other turns wrote none.
        let _ = fs::remove_file(Path::new(cwd).join(name));
    }
}

/// The client will end with this status, or by a signal with none, however it does of itself.
pub(crate) fn spoil_end(status: Option<u8>) {
    if let Some(path) = std::env::var_os(END) {
        let text = status.map(|status| status.to_string()).unwrap_or_default();
        fs::write(path, text).expect("the wrapper made the folder");
    }
}

/// A child that outlives everything; `name` is how it is called.
#[expect(clippy::zombie_processes, reason = "to be left behind is what it is for; the kit ends it")]
pub(crate) fn leave_child(name: &str) {
    use std::os::unix::process::CommandExt as _;
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "exec 0<&- 1>&- 2>&-; sleep 60; :", name]).process_group(0);
    command.spawn().expect("there is a shell");
}

pub(crate) fn other(writer: Writer) -> Writer {
    match writer {
        Writer::Agent => Writer::Client,
        Writer::Client => Writer::Agent,
    }
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}
