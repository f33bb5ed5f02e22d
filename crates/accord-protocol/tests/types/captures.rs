//! Recorded traffic of published agents: every frame reads and is written back, and what is lost is listed.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use accord_protocol::{
    rpc::{self, Message},
    v1::{AgentNotification, AgentRequest, ClientNotification, ClientRequest},
};
use serde_json::{Value, value::RawValue};

use crate::{compare::differences, registry::again};

/// What does not fit its type, and of whose: requests that are invalid on purpose, and one agent's `{}` for a list.
const INVALID: &str = "\
ListSessionsResponse: missing field `sessions` at line 1 column 2 (deepagents)
initialize protocolVersion: an integer from 0 to 65535 (auggie, claude, codex, copilot, gemini, opencode, qwen, zed)
session/new mcpServers: a value (auggie, claude, codex, copilot, gemini, hermes, opencode, qwen, zed)
session/prompt prompt: a value (auggie, claude, codex, copilot, gemini, opencode, qwen, zed)
";

/// What the types do not keep, and of whose: members of the draft protocol or of nobody's, and a `null` that is invalid on
/// purpose.
const LOST: &str = "\
InitializeResponse -.agentCapabilities.mcpCapabilities.acp (codex)
InitializeResponse -.agentCapabilities.providers (claude, codex)
InitializeResponse -.agentCapabilities.sessionCapabilities.subagents (codex)
InitializeResponse -.agentCapabilities.sessionCapabilities.title (codex)
LoadSessionResponse -.sessionId (claude)
ResumeSessionResponse -.sessionId (claude, zed)
initialize -.clientCapabilities (auggie, claude, codex, copilot, gemini, opencode, qwen, zed)
session/update -.update.timestamp (qwen)
";

/// All the recordings below a folder.
fn recordings(folder: PathBuf) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// What became of the frames.
#[derive(Default)]
struct Findings {
    frames: usize,
    typed: usize,
    invalid: BTreeMap<String, BTreeSet<String>>,
    lost: BTreeMap<String, BTreeSet<String>>,
}

/// A finding a line, with those whose it is.
fn told(findings: &BTreeMap<String, BTreeSet<String>>) -> String {
    findings.iter().fold(String::new(), |mut told, (what, agents)| {
        let agents: Vec<&str> = agents.iter().map(|agent| &**agent).collect();
        writeln!(told, "{what} ({})", agents.join(", ")).expect("a String takes it");
        told
    })
}

fn note(findings: &mut BTreeMap<String, BTreeSet<String>>, file: &str, what: String) {
    let agent = file.split('-').next().unwrap_or(file);
    findings.entry(what).or_default().insert(agent.to_owned());
}

impl Findings {
    /// Reads one side's traffic; `calls` are the methods under the ids that the other side sent.
    fn frame(
        &mut self,
        file: &str,
        from_client: bool,
        frame: &str,
        calls: &mut HashMap<(bool, String), String>,
    ) {
        self.frames += 1;
        let Ok(message) = rpc::decode(frame.as_bytes()) else {
            note(&mut self.invalid, file, "a malformed line".to_owned());
            return;
        };
        match message {
            Message::Request { id, method, params } => {
                calls.insert((from_client, id.to_string()), method.to_string());
                let params = params.raw();
                let read = if from_client {
                    ClientRequest::decode(&method, params).map(|request| serde_json::to_string(&request))
                } else {
                    AgentRequest::decode(&method, params).map(|request| serde_json::to_string(&request))
                };
                self.params(file, &method, params, read);
            }
            Message::Notification { method, params } => {
                let params = params.as_deref();
                let read = if from_client {
                    ClientNotification::decode(&method, params).map(|note| serde_json::to_string(&note))
                } else {
                    AgentNotification::decode(&method, params).map(|note| serde_json::to_string(&note))
                };
                self.params(file, &method, params, read);
            }
            Message::Update(update) => {
                let sent: Value = serde_json::from_str(frame).expect("it is JSON");
                self.written(file, "session/update", &sent["params"], &serde_json::to_string(&update));
            }
            Message::Response { id, outcome: Ok(result) } => {
                let Some(method) = calls.get(&(!from_client, id.to_string())) else { return };
                let methods = [ClientRequest::METHODS, AgentRequest::METHODS].concat();
                let Some((_, _, answer)) = methods.iter().find(|(name, ..)| name == method) else { return };
                let sent: Value = serde_json::from_str(result.text()).expect("it is JSON");
                let sent = if sent.is_null() { serde_json::json!({}) } else { sent };
                match again(answer, &sent) {
                    Ok(written) => self.compared(file, answer, &sent, &written),
                    Err(error) => note(&mut self.invalid, file, format!("{answer}: {error}")),
                }
            }
            _ => {}
        }
    }

    fn params(
        &mut self,
        file: &str,
        method: &str,
        params: Option<&RawValue>,
        read: Result<serde_json::Result<String>, rpc::Error>,
    ) {
        let sent: Value =
            params.map_or(Value::Null, |raw| serde_json::from_str(raw.get()).expect("it is JSON"));
        match read {
            Ok(written) => self.written(file, method, &sent, &written),
            Err(error) => {
                let data: Value =
                    serde_json::from_str(error.data.expect("there is data").get()).expect("JSON");
                let text = |key: &str| data[key].as_str().expect("text").to_owned();
                note(&mut self.invalid, file, format!("{method} {}: {}", text("path"), text("expected")));
            }
        }
    }

    fn written(&mut self, file: &str, method: &str, sent: &Value, written: &serde_json::Result<String>) {
        let written = written.as_ref().expect("it is written");
        self.compared(file, method, sent, &serde_json::from_str(written).expect("it is JSON"));
    }

    fn compared(&mut self, file: &str, what: &str, sent: &Value, written: &Value) {
        self.typed += 1;
        for difference in differences(sent, written) {
            note(&mut self.lost, file, format!("{what} {difference}"));
        }
    }
}

fn read(files: &[PathBuf]) -> Findings {
    let mut findings = Findings::default();
    for path in files {
        let file = path.file_stem().and_then(|name| name.to_str()).expect("a name");
        let mut calls = HashMap::new();
        for line in fs::read_to_string(path).expect("it reads").lines() {
            let record: HashMap<String, Box<RawValue>> = serde_json::from_str(line).expect("it is JSON");
            if let Some(frame) = record.get("frame") {
                findings.frame(file, record["dir"].get() == "\">\"", frame.get(), &mut calls);
            }
        }
    }
    println!("{} frames, {} of them typed", findings.frames, findings.typed);
    findings
}

#[test]
fn recorded_frames_read_and_are_written_back() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    let files = recordings(std::env::var_os("ACCORD_CAPTURES").map_or(beside, PathBuf::from));
    if files.is_empty() {
        println!("skipped: there are no recordings here; ACCORD_CAPTURES names their folder");
        return;
    }
    let findings = read(&files);
    assert_eq!(told(&findings.lost), LOST);
    assert_eq!(told(&findings.invalid), INVALID);
}

#[test]
fn a_sample_of_every_sort_of_frame_reads_and_is_written_back() {
    let findings = read(&recordings(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")));
    assert!(findings.frames > 100, "{}", findings.frames);
    for (found, known) in [(&findings.lost, LOST), (&findings.invalid, INVALID)] {
        for what in found.keys() {
            assert!(known.contains(&**what), "{what}");
        }
    }
}
