//! What one check saw of a client: what crossed, what it printed, how it ended.

use std::process::ExitStatus;
use std::time::Duration;

use serde_json::Value;

use super::frame::{Direction, Frame};
use super::recording::Recording;
use super::scripts::MARKER;
use super::verdict::{Judged, ensure, fail, inconclusive};

/// What the client does of itself in an ordinary session.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one session, each seen or not")]
pub(crate) struct Plain {
    /// The params of its initialize.
    pub(crate) hello: Value,
    /// It prompted.
    pub(crate) prompts: bool,
    /// It prompted, and ended when the turn was over.
    pub(crate) ends: bool,
    /// Its exit status was a success.
    pub(crate) succeeds: bool,
    /// What the agent says shows up on its stdout or stderr.
    pub(crate) shows: bool,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Plain {
    /// A capability by its path below `clientCapabilities`, such as `fs/readTextFile`.
    pub(crate) fn offers(&self, path: &str) -> bool {
        let capability = self.hello["clientCapabilities"].pointer(&format!("/{path}"));
        !matches!(capability, None | Some(Value::Null | Value::Bool(false)))
    }

    /// How the client names itself, with its version.
    pub(crate) fn name(&self) -> Option<String> {
        let info = &self.hello["clientInfo"];
        let name = info["title"].as_str().or(info["name"].as_str())?;
        Some(format!("{name} {}", info["version"].as_str().unwrap_or_default()).trim().to_owned())
    }
}

/// One run of a client with a script in its agent's place.
#[derive(Debug)]
pub(crate) struct Seen<'p> {
    pub(crate) plain: &'p Plain,
    pub(crate) recording: Recording,
    /// None if it had to be killed.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) took: Duration,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// What still ran when the client had gone.
    pub(crate) left: Vec<String>,
}

impl<'p> Seen<'p> {
    /// A visit that has not taken place.
    pub(crate) fn nothing(plain: &'p Plain) -> Self {
        let recording = Recording::default();
        let (stdout, stderr, left) = (String::new(), String::new(), Vec::new());
        Self { plain, recording, status: None, took: Duration::ZERO, stdout, stderr, left }
    }

    /// Whether the script remarked this.
    pub(crate) fn noted(&self, note: &str) -> bool {
        self.recording.notes.iter().any(|(_, other)| other == note)
    }

    /// The messages that one side wrote, with their place.
    pub(crate) fn messages(&self, direction: Direction) -> impl Iterator<Item = (usize, Value)> + '_ {
        let frames = self.recording.frames.iter().enumerate();
        frames.filter(move |(_, frame)| frame.direction == direction).filter_map(parsed)
    }

    /// The client's requests and notifications of one method.
    pub(crate) fn sent(&self, method: &str) -> Vec<Value> {
        let all = self.messages(Direction::ToAgent).map(|(_, message)| message);
        all.filter(|message| message["method"] == method).collect()
    }

    /// The client's answers to the agent's request with this id.
    pub(crate) fn answers(&self, id: &Value) -> Vec<Value> {
        let all = self.messages(Direction::ToAgent).map(|(_, message)| message);
        all.filter(|message| message.get("method").is_none() && message.get("id") == Some(id)).collect()
    }

    /// The one answer to the agent's request with this id.
    pub(crate) fn answer(&self, id: &Value) -> Judged<Value> {
        match self.answers(id).as_slice() {
            [answer] => Ok(answer.clone()),
            [] => fail(format!("the request {id} was not answered")),
            several => fail(format!("the request {id} was answered {} times", several.len())),
        }
    }

    /// The one answer, which is a result.
    pub(crate) fn result(&self, id: &Value) -> Judged<Value> {
        let answer = self.answer(id)?;
        ensure(answer.get("error").is_none(), || {
            format!("the request {id} was refused: {}", answer["error"])
        })?;
        Ok(answer["result"].clone())
    }

    /// The ids of the agent's requests of one method, in order.
    pub(crate) fn asked(&self, method: &str) -> Vec<Value> {
        let all = self.messages(Direction::ToClient).map(|(_, message)| message);
        all.filter(|message| message["method"] == method)
            .filter_map(|message| message.get("id").cloned())
            .collect()
    }

    /// The answers of the client whose id is null: complaints about lines.
    pub(crate) fn complaints(&self) -> Vec<Value> {
        self.answers(&Value::Null)
    }

    /// Whether a text was printed anywhere.
    pub(crate) fn shows(&self, text: &str) -> bool {
        self.stdout.contains(text) || self.stderr.contains(text)
    }

    /// The client prompted, so the script had something to play; one that does so in an ordinary session has to.
    pub(crate) fn prompted(&self) -> Judged {
        match self.sent("session/prompt").as_slice() {
            [] if self.plain.prompts => {
                fail("the client does not come to its prompt, as it does in an ordinary session")
            }
            [] => inconclusive("the client sends no prompt"),
            _ => Ok(()),
        }
    }

    /// The script came to its end, and the client ended as it does after an ordinary session.
    pub(crate) fn survived(&self) -> Judged {
        self.prompted()?;
        ensure(self.noted("done"), || "the script could not be played to its end".into())?;
        if self.plain.ends {
            let Some(status) = self.status else {
                return fail("the client did not end, as it does after an ordinary turn");
            };
            ensure(status.success() == self.plain.succeeds, || format!("the client ended with {status}"))?;
        }
        if self.plain.shows {
            ensure(self.shows(MARKER), || "the text behind it is not shown".into())?;
        }
        Ok(())
    }

    /// The client told of a failure, and did not hang.
    pub(crate) fn told_failure(&self) -> Judged {
        match self.status {
            None if self.plain.ends => fail("the client hangs"),
            None => inconclusive("the client stays, as it does after an ordinary session"),
            Some(status) if status.success() && self.plain.succeeds => {
                fail("the client ends as if all had gone well")
            }
            Some(_) => Ok(()),
        }
    }
}

fn parsed((place, frame): (usize, &Frame)) -> Option<(usize, Value)> {
    Some((place, frame.json().ok()?))
}
