//! The spoiler: starts the conforming agent, passes the wire on, and makes one defect on the way.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;

use crate::line::{Line, Memory, Move, Part, Writer, other};
use crate::table::{Act, Defect};

/// What goes to one of the two readers.
enum Outgoing {
    Bytes(Vec<u8>),
    Wait(u64),
    Exit,
}

/// Both directions, and the defect between them.
struct Wire {
    defect: &'static Defect,
    memory: Memory,
    to_agent: Option<Sender<Outgoing>>,
    to_client: Option<Sender<Outgoing>>,
}

/// Serves `spoil agent|client ID COMMAND…`.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let [side, id, command @ ..] = args else { return ExitCode::from(2) };
    let table = if side == "agent" { crate::agent::all() } else { crate::client::all() };
    let defect =
        table.into_iter().find(|defect| defect.id == id).expect("the test starts it with an id it has");
    let state =
        command.iter().position(|word| word == "--state-dir").and_then(|place| command.get(place + 1));
    let memory = generation(state.map(Path::new), defect.act);
    let mut start = Command::new(&command[0]);
    start.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
    if defect.act == Act::Deaf {
        start.stderr(Stdio::piped());
    }
    let mut child = start.spawn().expect("the subject is built");
    let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let child = Arc::new(Mutex::new(child));
    let (to_client, client_writer) = writer(io::stdout(), Arc::clone(&child));
    let (to_agent, _) = writer(stdin, Arc::clone(&child));
    let wire =
        Arc::new(Mutex::new(Wire { defect, memory, to_agent: Some(to_agent), to_client: Some(to_client) }));
    let from_client = Arc::clone(&wire);
    thread::spawn(move || {
        each_line(io::stdin(), |raw| lock(&from_client).pass(Writer::Client, raw));
        if lock(&from_client).defect.act == Act::Stay {
            return;
        }
        let mut wire = lock(&from_client);
        if wire.defect.act == Act::Unfinished {
            wire.make(Move::Send(Writer::Client, br#"{"jsonrpc":"2.0","method":"$/last"}"#.to_vec()));
        }
        wire.to_agent = None;
    });
    each_line(stdout, |raw| lock(&wire).pass(Writer::Agent, raw));
    lock(&wire).to_client = None;
    let status = loop {
        // The other thread ends the agent when a defect says so.
        if let Ok(Some(status)) = lock(&child).try_wait() {
            break status.code();
        }
        thread::sleep(Duration::from_millis(2));
    };
    // Whatever was written last is on its way still.
    let _ = client_writer.join();
    match defect.act {
        Act::Status(status) => ExitCode::from(status),
        _ => ExitCode::from(status.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
    }
}

/// Counts the processes on one store.
fn generation(state: Option<&Path>, act: Act) -> Memory {
    let Some(state) = state else { return Memory::default() };
    let shelf: PathBuf = state.parent().expect("the store is in the check's folder").to_owned();
    let count = shelf.join("spoilers");
    let earlier = std::fs::read_to_string(&count).unwrap_or_default();
    std::fs::write(&count, format!("{earlier}x")).expect("the check's folder takes files");
    if act == Act::Forget && !earlier.is_empty() {
        std::fs::remove_dir_all(state).expect("the store is ours");
    }
    Memory { generation: earlier.len(), shelf, ..Memory::default() }
}

/// A thread of its own for each reader, so that a slow one holds up nobody else.
fn writer(
    mut pipe: impl Write + Send + 'static,
    child: Arc<Mutex<Child>>,
) -> (Sender<Outgoing>, JoinHandle<()>) {
    let (sender, outgoing) = mpsc::channel();
    let done = thread::spawn(move || {
        for each in outgoing {
            match each {
                Outgoing::Bytes(bytes) => {
                    if pipe.write_all(&bytes).and_then(|()| pipe.flush()).is_err() {
                        return;
                    }
                }
                Outgoing::Wait(milliseconds) => thread::sleep(Duration::from_millis(milliseconds)),
                Outgoing::Exit => {
                    // Either way it is gone, and so is the spoiler behind it.
                    let _ = lock(&child).kill();
                    return;
                }
            }
        }
    });
    (sender, done)
}

fn each_line(from: impl Read, mut take: impl FnMut(Vec<u8>)) {
    let mut from = BufReader::with_capacity(64 * 1024, from);
    let mut line = Vec::new();
    while let Ok(1..) = from.read_until(b'\n', &mut line) {
        take(std::mem::take(&mut line));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire {
    fn pass(&mut self, writer: Writer, raw: Vec<u8>) {
        let terminated = raw.ends_with(b"\n");
        let body = raw.strip_suffix(b"\n").unwrap_or(&raw).to_vec();
        let json: Value = serde_json::from_slice(&body).unwrap_or_default();
        let id = json.get("id").cloned();
        let own = json["method"].as_str().map(str::to_owned);
        let (part, method, asked) = match (own, id.clone()) {
            (Some(method), Some(_)) => (Part::Request, method, Value::Null),
            (Some(method), None) => (Part::Notification, method, Value::Null),
            (None, Some(id)) => match self.take_pending(other(writer), &id) {
                Some((method, params)) => (Part::Answer, method, params),
                None => (Part::Noise, String::new(), Value::Null),
            },
            (None, None) => (Part::Noise, String::new(), Value::Null),
        };
        if part == Part::Noise && self.is_made_up(other(writer), id.as_ref()) {
            return;
        }
        if part == Part::Answer && method == "initialize" {
            self.memory.advertised = json["result"]["agentCapabilities"].clone();
        }
        if part == Part::Request {
            let params = json["params"].clone();
            if method == "initialize" {
                self.memory.offer = params["clientCapabilities"].clone();
            }
            self.memory.pending.push((writer, id.unwrap_or_default(), method.clone(), params));
        }
        let mut line = Line {
            writer,
            part,
            method,
            asked,
            json,
            raw: body,
            memory: &mut self.memory,
            before: Vec::new(),
            after: Vec::new(),
            dropped: false,
            changed: false,
        };
        self.defect.spoil(&mut line);
        let Line { before, after, dropped, changed, json, .. } = line;
        let bytes = match (changed, terminated) {
            (true, _) => format!("{json}\n").into_bytes(),
            (false, _) => raw,
        };
        let own = (!dropped).then_some(Move::Send(writer, bytes));
        for each in before.into_iter().chain(own).chain(after) {
            self.make(each);
        }
    }

    fn take_pending(&mut self, writer: Writer, id: &Value) -> Option<(String, Value)> {
        let place = self.memory.pending.iter().position(|(by, other, _, _)| *by == writer && other == id)?;
        let (_, _, method, params) = self.memory.pending.remove(place);
        Some((method, params))
    }

    fn is_made_up(&self, writer: Writer, id: Option<&Value>) -> bool {
        id.is_some_and(|id| self.memory.made_up.iter().any(|(by, other)| *by == writer && other == id))
    }

    fn make(&mut self, what: Move) {
        let (reader, outgoing) = match what {
            Move::Send(writer, bytes) => (other(writer), Outgoing::Bytes(bytes)),
            Move::Wait(writer, milliseconds) => (other(writer), Outgoing::Wait(milliseconds)),
            Move::Exit => (Writer::Client, Outgoing::Exit),
        };
        // A reader that has gone needs nothing more.
        let sender = if reader == Writer::Agent { &self.to_agent } else { &self.to_client };
        let _ = sender.as_ref().map(|sender| sender.send(outgoing));
    }
}
