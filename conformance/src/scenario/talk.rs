//! Turns as the scenario watches them: what was said, which tools ran, how it ended.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use accord_client::protocol::v1::ToolCallStatus;
use accord_client::{Error, Misuse, Session, SessionUpdate, StopReason, Turn};

use super::stage::Set;
use crate::wire::verdict::{Judged, Stop, ensure, fail};

/// How long a turn is given to show its first update before it is cancelled: a silent one can be cancelled as well, and there are agents
/// that show nothing before a turn's end.
const FIRST_UPDATE: Duration = Duration::from_secs(2);

/// What a turn showed.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// All the agent's message text.
    pub(super) said: String,
    /// Tool calls in the order of their announcement, with their last status.
    pub(super) tools: Vec<(String, Option<ToolCallStatus>)>,
    /// Everything, for what has no field of its own.
    pub(super) updates: Vec<SessionUpdate>,
}

/// Our own errors become failures of the step.
pub(super) fn failed(error: impl Display) -> Stop {
    Stop::Failed(error.to_string())
}

/// As `failed`, but what the agent does not offer is skipped.
pub(super) fn refused(error: Error) -> Stop {
    match error {
        Error::Misuse(Misuse::Unsupported { capability, .. }) => {
            Stop::Skipped(format!("{capability} is not advertised"))
        }
        other => failed(other),
    }
}

/// One whole turn that has to end with `end_turn`.
pub(super) async fn turn(session: &Session, words: &str) -> Judged<Heard> {
    let (heard, reason) = any_turn(session, words).await?;
    ensure(reason == StopReason::EndTurn, || format!("the turn ends with {reason:?}"))?;
    Ok(heard)
}

/// One whole turn, however it stops.
pub(super) async fn any_turn(session: &Session, words: &str) -> Judged<(Heard, StopReason)> {
    let mut turn = session.prompt(words).await.map_err(failed)?;
    let mut heard = Heard::default();
    while let Some(update) = turn.next().await {
        heard.take(update);
    }
    let reason = turn.finish().await.map_err(failed)?;
    Ok((heard, reason))
}

/// A turn that has begun to stream, or is silent for so long that it hardly will.
pub(super) async fn streaming(set: &Set, session: &Session, words: &str) -> Judged<Turn> {
    let subject = &set.play.subject;
    let mut turn = session.prompt(words).await.map_err(failed)?;
    let limit = subject.patience.min(subject.within(FIRST_UPDATE));
    set.play.waiting.on("the first update of the turn that is to be cancelled", limit);
    let first = tokio::time::timeout(limit, turn.next()).await;
    set.play.waiting.on("the end of the turn that was cancelled", subject.patience * 3);
    match first {
        Ok(None) => Err(Stop::Inconclusive("the slow turn ended before it could be cancelled".into())),
        // A turn that is silent can be cancelled, too.
        Ok(Some(_)) | Err(_) => Ok(turn),
    }
}

impl Heard {
    fn take(&mut self, update: SessionUpdate) {
        match &update {
            SessionUpdate::AgentMessageChunk(chunk) => {
                self.said.push_str(chunk.content.as_text().unwrap_or_default());
            }
            SessionUpdate::ToolCall(call) => {
                self.tools.push((call.tool_call_id.to_string(), call.status.clone()));
            }
            SessionUpdate::ToolCallUpdate(update) => {
                let id = update.tool_call_id.to_string();
                if let Some(status) = update.status.get()
                    && let Some((_, last)) = self.tools.iter_mut().find(|(other, _)| *other == id)
                {
                    *last = Some(status.clone());
                }
            }
            _ => {}
        }
        self.updates.push(update);
    }

    /// The last tool completed, and all of them ended.
    pub(super) fn tool_completed(&self) -> Judged {
        let Some((id, status)) = self.tools.last() else {
            return Err(Stop::Inconclusive("no tool was called".into()));
        };
        match status {
            Some(ToolCallStatus::Completed) => Ok(()),
            other => fail(format!("tool call {id} ends as {other:?}")),
        }
    }

    /// Whether a text stands anywhere in what came.
    pub(super) fn mentions(&self, text: &str) -> bool {
        self.said.contains(text) || self.updates.iter().any(|update| format!("{update:?}").contains(text))
    }
}

/// The file's text, or why it is not there.
pub(super) fn text_of(path: &Path) -> Judged<String> {
    std::fs::read_to_string(path).map_err(|error| Stop::Failed(format!("{}: {error}", path.display())))
}
