//! What a runner tells: events with stable names, and the pure mapping from updates to them.

mod mapping;

use std::sync::Arc;

use accord_protocol::{
    open::Json,
    v1::{
        AvailableCommand, CompactionId, CompactionStatus, Cost, MessageId, NoticeSeverity, PlanEntry,
        SessionConfigOption, SessionId, SessionModeId, StopReason, ToolCallId, ToolKind,
    },
};
use serde::Serialize;

use crate::{elicitation::Input, permission::Approval};

pub use mapping::events_of;

/// Something that happened in a runner's session, in order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Event {
    /// Counts a runner's events from 1, without gaps.
    pub seq: u64,
    /// The session, once there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The turn it belongs to, counted from 1; absent between turns. A cancelled turn's late updates keep its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<u64>,
    /// Whether it repeats history while a session is loaded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub replay: bool,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
    /// The message it came from, as it came; absent where the runner itself is the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Arc<Json>>,
}

/// What happened. On the wire the name stands in `type`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum EventKind {
    /// The prompt is about to be sent.
    #[serde(rename = "run.started")]
    RunStarted,
    /// A piece of the agent's text.
    #[serde(rename = "message.delta")]
    MessageDelta {
        /// Whether it is the answer or the reasoning behind it.
        role: Role,
        /// The piece.
        text: String,
        /// The message it belongs to, where the agent says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
    },
    /// A whole message of the agent, at the end of its turn.
    #[serde(rename = "message.completed")]
    MessageCompleted {
        /// The text.
        text: String,
        /// Which message it is, where the agent says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<MessageId>,
    },
    /// The agent announced a tool call.
    #[serde(rename = "tool.started")]
    ToolStarted {
        /// Which call it is.
        tool_call_id: ToolCallId,
        /// The tool: its name, else the call's title.
        name: String,
        /// The call's title, for people.
        title: String,
        /// What sort of tool it is.
        kind: ToolKind,
        /// What the tool was given, as far as the agent says.
        input: Option<Json>,
    },
    /// A tool call ended.
    #[serde(rename = "tool.completed")]
    ToolCompleted {
        /// Which call it is.
        tool_call_id: ToolCallId,
        /// How it ended.
        status: ToolEnd,
        /// The raw output, else the content, else what the update itself says.
        output: Json,
    },
    /// A tool call changed a file.
    #[serde(rename = "diff.updated")]
    DiffUpdated {
        /// The call that did.
        tool_call_id: ToolCallId,
        /// The file.
        path: String,
        /// The change as a unified diff.
        unified_diff: String,
    },
    /// The plan was replaced.
    #[serde(rename = "plan.updated")]
    PlanUpdated {
        /// All of it.
        entries: Vec<PlanEntry>,
    },
    /// How full the context is.
    #[serde(rename = "usage.updated")]
    UsageUpdated {
        /// Tokens in the context.
        used: u64,
        /// Tokens that fit in.
        size: u64,
        /// What the session has cost so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        cost: Option<Cost>,
    },
    /// The slash commands were replaced.
    #[serde(rename = "commands.updated")]
    CommandsUpdated {
        /// All of them.
        commands: Vec<AvailableCommand>,
    },
    /// The session's mode changed.
    #[serde(rename = "mode.updated")]
    ModeUpdated {
        /// The mode now.
        mode: SessionModeId,
    },
    /// The session's configuration changed.
    #[serde(rename = "config.updated")]
    ConfigUpdated {
        /// All options with their values.
        options: Vec<SessionConfigOption>,
    },
    /// The session's title or time changed. An absent member is unchanged, null is cleared.
    #[serde(rename = "session.updated")]
    SessionUpdated {
        /// The title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<Option<String>>,
        /// When the session last changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        updated_at: Option<Option<String>>,
    },
    /// Something the person should know now.
    #[serde(rename = "notice")]
    Notice {
        /// How serious it is.
        severity: NoticeSeverity,
        /// In a few words.
        title: String,
        /// In more words.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
    /// The agent is replacing its history with a summary.
    #[serde(rename = "compaction.updated")]
    CompactionUpdated {
        /// Which compaction it is.
        compaction_id: CompactionId,
        /// How far it is; absent when only its summary grew.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<CompactionStatus>,
        /// The summary's text: all of it with a status, the next piece without.
        #[serde(skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
        /// What went wrong.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The agent waits for a permission.
    #[serde(rename = "approval.requested")]
    ApprovalRequested(Approval),
    /// A permission question has its answer.
    #[serde(rename = "approval.settled")]
    ApprovalSettled {
        /// Which question it is.
        approval_id: String,
        /// The option that was chosen; absent if nobody chose.
        #[serde(skip_serializing_if = "Option::is_none")]
        option_id: Option<String>,
        /// Who ended it.
        by: SettledBy,
    },
    /// The agent waits for a form or a visit to a page.
    #[serde(rename = "input.requested")]
    InputRequested(Input),
    /// A form or a visit has its answer.
    #[serde(rename = "input.settled")]
    InputSettled {
        /// Which input it is.
        input_id: String,
        /// What was answered, or that the agent reported the visit done.
        action: InputAction,
        /// Who ended it.
        by: SettledBy,
    },
    /// The turn ended.
    #[serde(rename = "run.completed")]
    RunCompleted {
        /// How.
        status: RunStatus,
        /// The agent's reason, if it gave one.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_reason: Option<StopReason>,
        /// What went wrong, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The runner is closed: this is the last event.
    #[serde(rename = "runner.closed")]
    RunnerClosed {
        /// Why.
        reason: CloseReason,
        /// How the agent ended, for people.
        message: String,
        /// The program's exit code, where there is a program and it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The signal that ended the program.
        #[serde(skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
    },
}

/// Whose words a message delta carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Role {
    /// The answer.
    Assistant,
    /// The reasoning behind it.
    Reasoning,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolEnd {
    /// Well.
    Completed,
    /// With an error.
    Failed,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunStatus {
    /// The agent finished what it wanted to do.
    Completed,
    /// The agent stopped at a limit of tokens or requests.
    Limited,
    /// The agent refused to go on; the prompt is not part of its history.
    Refused,
    /// It was cancelled.
    Cancelled,
    /// It failed; the message says how.
    Failed,
}

/// Who ended a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SettledBy {
    /// Somebody answered it.
    Answer,
    /// The turn was interrupted, the session closed, or the connection ended.
    Cancel,
    /// The agent took it back.
    Agent,
}

/// What an input was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputAction {
    /// The form was filled in, or the visit agreed to.
    Accept,
    /// It was declined.
    Decline,
    /// Nobody decided.
    Cancel,
    /// What the page was visited for is done.
    Complete,
}

/// Why a runner is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CloseReason {
    /// The agent ended by itself, with success.
    Completed,
    /// The agent, the connection or the event sink failed.
    Crashed,
    /// The runner was disposed of, or the agent was ended by a signal.
    Killed,
}

impl EventKind {
    /// The event's name, for instance `message.delta`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::RunStarted => "run.started",
            Self::MessageDelta { .. } => "message.delta",
            Self::MessageCompleted { .. } => "message.completed",
            Self::ToolStarted { .. } => "tool.started",
            Self::ToolCompleted { .. } => "tool.completed",
            Self::DiffUpdated { .. } => "diff.updated",
            Self::PlanUpdated { .. } => "plan.updated",
            Self::UsageUpdated { .. } => "usage.updated",
            Self::CommandsUpdated { .. } => "commands.updated",
            Self::ModeUpdated { .. } => "mode.updated",
            Self::ConfigUpdated { .. } => "config.updated",
            Self::SessionUpdated { .. } => "session.updated",
            Self::Notice { .. } => "notice",
            Self::CompactionUpdated { .. } => "compaction.updated",
            Self::ApprovalRequested(_) => "approval.requested",
            Self::ApprovalSettled { .. } => "approval.settled",
            Self::InputRequested(_) => "input.requested",
            Self::InputSettled { .. } => "input.settled",
            Self::RunCompleted { .. } => "run.completed",
            Self::RunnerClosed { .. } => "runner.closed",
        }
    }
}

impl RunStatus {
    /// What a stop reason means for the turn. An unknown one is a normal end.
    #[must_use]
    pub fn of(reason: &StopReason) -> Self {
        match reason {
            StopReason::MaxTokens | StopReason::MaxTurnRequests => Self::Limited,
            StopReason::Refusal => Self::Refused,
            StopReason::Cancelled => Self::Cancelled,
            _ => Self::Completed,
        }
    }
}
