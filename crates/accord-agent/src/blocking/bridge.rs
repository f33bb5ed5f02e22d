//! What a blocking agent's callbacks mean on the wire: a pure step from each callback to the updates it brings.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use accord_protocol::v1::{
    ContentBlock, ContentChunk, SessionUpdate, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate,
    UsageUpdate,
};
use serde_json::Value;

use super::{
    agent::{Step, Usage},
    approval::ApprovalRequest,
    calls::{self, Calls, OpenCall},
    plan,
    tools::{Drawing, Look, Renderer, ToolResult},
};

/// How often a running tool's progress is shown at most.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// One turn's state between callbacks and updates.
///
/// It has one owner at a time (the callbacks lock it), so the order of the callbacks is the order of the updates.
#[derive(Debug)]
pub(super) struct Bridge {
    renderer: Renderer,
    calls: Calls,
    streamed: bool,
    usage_told: bool,
    reasoning: Reasoning,
    /// How many calls of a tool have ended since the last step, by their own callback.
    ended_in_step: HashMap<String, usize>,
    ended: bool,
}

/// What of a step's reasoning is on the wire, so that it gets there once whichever callback brings it.
#[derive(Debug, Default)]
struct Reasoning {
    streamed: String,
    told: String,
}

/// An approval that is to be asked of the client.
#[derive(Debug)]
pub(super) struct Question {
    /// What goes out before it.
    pub(super) before: Option<SessionUpdate>,
    /// The call it is about, as the client is shown it.
    pub(super) call: ToolCallUpdate,
}

impl Bridge {
    pub(super) fn new(renderer: Renderer) -> Self {
        Self {
            renderer,
            calls: Calls::default(),
            streamed: false,
            usage_told: false,
            reasoning: Reasoning::default(),
            ended_in_step: HashMap::new(),
            ended: false,
        }
    }

    /// Whether the turn is over: what comes now changes nothing.
    pub(super) fn is_over(&self) -> bool {
        self.ended
    }

    pub(super) fn text(&mut self, delta: &str) -> Option<SessionUpdate> {
        if delta.is_empty() {
            return None;
        }
        self.streamed = true;
        self.reasoning.told.clear();
        Some(SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::text(delta))))
    }

    pub(super) fn thinking(&mut self, delta: &str) -> Option<SessionUpdate> {
        if delta.is_empty() || self.reasoning.told == delta {
            self.reasoning.told.clear();
            return None;
        }
        self.reasoning.told.clear();
        self.reasoning.streamed.push_str(delta);
        Some(thought(delta))
    }

    pub(super) fn tool_started(&mut self, name: &str, arguments: &Value) -> SessionUpdate {
        self.reasoning.told.clear();
        let drawing = self.renderer.draw(name, arguments);
        if let Some(call) = self.calls.announced(name, drawing.arguments()) {
            call.begun = true;
            call.pending = false;
            let update = ToolCallUpdate::new(call.id.clone()).status(ToolCallStatus::InProgress);
            return SessionUpdate::ToolCallUpdate(update);
        }
        let pending = drawing.look().may_ask();
        SessionUpdate::ToolCall(self.open(name, drawing, pending).1)
    }

    pub(super) fn tool_progress(&mut self, name: &str, said: &str) -> Option<SessionUpdate> {
        let most = self.renderer.limits.progress;
        let call = self.calls.oldest(name)?;
        call.said.push_str(said);
        if call.said.len() > most * 2 {
            call.said = super::cut::tail(&call.said, most).to_owned();
        }
        let now = Instant::now();
        if call.shown_at.is_some_and(|at| now.duration_since(at) < PROGRESS_EVERY) && !call.pending {
            return None;
        }
        call.shown_at = Some(now);
        call.pending = false;
        let update = ToolCallUpdate::new(call.id.clone())
            .status(ToolCallStatus::InProgress)
            .content(call.drawing.progress(&call.said));
        Some(SessionUpdate::ToolCallUpdate(update))
    }

    pub(super) fn tool_finished(&mut self, name: &str, result: &ToolResult) -> Vec<SessionUpdate> {
        *self.ended_in_step.entry(name.to_owned()).or_default() += 1;
        self.finished(name, &Value::Null, result)
    }

    /// Closes what the last step's tools left open and brings its reasoning, each only where no callback of its own has.
    pub(super) fn step(&mut self, step: &Step) -> Vec<SessionUpdate> {
        let mut updates = Vec::new();
        let news = self.reasoning.news(step.reasoning.as_deref().unwrap_or_default());
        if !news.is_empty() {
            updates.push(thought(&news));
        }
        for tool in &step.tools {
            match self.ended_in_step.get_mut(&tool.name) {
                Some(left) if *left > 0 => *left -= 1,
                _ => updates.extend(self.finished(&tool.name, &tool.arguments, &tool.result)),
            }
        }
        self.ended_in_step.clear();
        updates
    }

    pub(super) fn usage(&mut self, usage: Usage) -> SessionUpdate {
        self.usage_told = true;
        SessionUpdate::UsageUpdate(UsageUpdate::new(usage.used, usage.size))
    }

    /// What the agent knows of its context at the end, unless it has told meanwhile.
    pub(super) fn last_usage(&mut self, usage: Usage) -> Option<SessionUpdate> {
        if self.usage_told { None } else { Some(self.usage(usage)) }
    }

    /// The call an approval is about: announced if it was not, and pending until there is an answer.
    pub(super) fn ask(&mut self, request: &ApprovalRequest) -> Question {
        self.reasoning.told.clear();
        let drawing = self.renderer.draw(&request.tool, &request.arguments);
        let shown = |drawing: &Drawing, id: &ToolCallId| {
            ToolCallUpdate::from(drawing.announce(id.clone(), ToolCallStatus::Pending))
        };
        let Some(call) = self.calls.asking(&request.tool, drawing.arguments()) else {
            let (id, announced) = self.open(&request.tool, drawing, true);
            let call = self.calls.by_id(&id).expect("it was opened just now");
            call.begun = false;
            call.asked = true;
            return Question {
                before: Some(SessionUpdate::ToolCall(announced.clone())),
                call: with_reason(announced.into(), request),
            };
        };
        call.asked = true;
        let back = !std::mem::replace(&mut call.pending, true);
        let pending = ToolCallUpdate::new(call.id.clone()).status(ToolCallStatus::Pending);
        Question {
            before: back.then_some(SessionUpdate::ToolCallUpdate(pending)),
            call: with_reason(shown(&drawing, &call.id), request),
        }
    }

    /// The answer to an approval: a call that may go on is no longer pending.
    pub(super) fn answered(&mut self, id: &ToolCallId, granted: bool) -> Option<SessionUpdate> {
        let call = self.calls.by_id(id)?;
        if !granted || !call.begun {
            return None;
        }
        call.pending = false;
        let update = ToolCallUpdate::new(id.clone()).status(ToolCallStatus::InProgress);
        Some(SessionUpdate::ToolCallUpdate(update))
    }

    /// An approval that needed no question.
    pub(super) fn remembered(&mut self, request: &ApprovalRequest) -> Option<SessionUpdate> {
        let drawing = self.renderer.draw(&request.tool, &request.arguments);
        let call = self.calls.asking(&request.tool, drawing.arguments())?;
        call.asked = true;
        let id = call.id.clone();
        if call.pending { self.answered(&id, true) } else { None }
    }

    /// The turn is over: the final text where nothing was streamed, and an end for whatever is open.
    pub(super) fn end(&mut self, text: Option<&str>, why: &str) -> Vec<SessionUpdate> {
        if self.ended {
            return Vec::new();
        }
        let mut updates: Vec<SessionUpdate> = self
            .calls
            .close_all()
            .into_iter()
            .map(|call| SessionUpdate::ToolCallUpdate(call.drawing.finish(call.id, &ToolResult::failed(why))))
            .collect();
        if !self.streamed {
            updates.extend(text.and_then(|text| self.text(text)));
        }
        self.ended = true;
        updates
    }

    fn open(
        &mut self,
        name: &str,
        drawing: Drawing,
        pending: bool,
    ) -> (ToolCallId, accord_protocol::v1::ToolCall) {
        let status = if pending { ToolCallStatus::Pending } else { ToolCallStatus::InProgress };
        let call = self.calls.open(name, drawing, pending);
        (call.id.clone(), call.drawing.announce(call.id.clone(), status))
    }

    fn finished(&mut self, name: &str, arguments: &Value, result: &ToolResult) -> Vec<SessionUpdate> {
        self.reasoning.told.clear();
        let mut updates = Vec::new();
        let (id, drawing) = if let Some(OpenCall { id, drawing, .. }) = self.calls.close(name) {
            (id, drawing)
        } else {
            // Nobody announced it; it happened all the same.
            let drawing = self.renderer.draw(name, arguments);
            let id = calls::mint();
            updates.push(SessionUpdate::ToolCall(drawing.announce(id.clone(), ToolCallStatus::InProgress)));
            (id, drawing)
        };
        updates.push(SessionUpdate::ToolCallUpdate(drawing.finish(id, result)));
        if drawing.look() == Look::Todo && !result.is_failed() {
            updates.extend(plan::of(drawing.arguments(), &result.output).map(SessionUpdate::Plan));
        }
        updates
    }
}

fn thought(text: &str) -> SessionUpdate {
    SessionUpdate::AgentThoughtChunk(ContentChunk::new(ContentBlock::text(text)))
}

impl Reasoning {
    /// What of a step's whole reasoning has not been streamed.
    fn news(&mut self, whole: &str) -> String {
        let streamed = std::mem::take(&mut self.streamed);
        // What was streamed in other words than the whole tells is the same reasoning still.
        let news = if streamed.is_empty() {
            whole
        } else {
            whole.strip_prefix(streamed.as_str()).unwrap_or_default()
        };
        news.clone_into(&mut self.told);
        news.to_owned()
    }
}

fn with_reason(mut call: ToolCallUpdate, request: &ApprovalRequest) -> ToolCallUpdate {
    if !request.reason.is_empty() {
        let mut content: Vec<ToolCallContent> = vec![ContentBlock::text(request.reason.as_str()).into()];
        content.extend(call.content.into_option().unwrap_or_default());
        call.content = content.into();
    }
    call
}

#[cfg(test)]
mod tests;
