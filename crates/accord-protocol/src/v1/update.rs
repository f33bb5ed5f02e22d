//! What the agent tells while it works: `session/update`.

use super::{
    AvailableCommandsUpdate, CompactionSummaryChunk, CompactionUpdate, ConfigOptionUpdate, ContentBlock,
    CurrentModeUpdate, Notice, Plan, PlanRemoved, PlanUpdate, SessionId, SessionInfoUpdate, SessionMessage,
    SessionMessageChunk, SubagentUpdate, ToolCall, ToolCallUpdate, UsageUpdate,
};
use crate::open::{Maybe, from, id, record, tagged};

id! {
    /// Names a message within its session: chunks with the same id make one message.
    pub struct MessageId;
}

record! {
    /// Something has happened in a session (`session/update`).
    ///
    /// Sent by the agent.
    ///
    /// See [Agent reports output](https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output).
    pub struct SessionNotification {
        required {
            /// The session.
            strict session_id: SessionId,
            /// What has happened.
            strict update: SessionUpdate,
        }
    }
}

tagged! {
    /// What has happened in a session.
    ///
    /// See [Agent reports output](https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output).
    pub enum SessionUpdate by "sessionUpdate" {
        /// A piece of what the person said, as a load replays it.
        "user_message_chunk" => UserMessageChunk(ContentChunk),
        /// A piece of the agent's answer.
        "agent_message_chunk" => AgentMessageChunk(ContentChunk),
        /// A piece of the agent's reasoning.
        "agent_thought_chunk" => AgentThoughtChunk(ContentChunk),
        /// A tool call begins.
        "tool_call" => ToolCall(ToolCall),
        /// A tool call goes on or ends.
        "tool_call_update" => ToolCallUpdate(ToolCallUpdate),
        /// The plan, complete.
        "plan" => Plan(Plan),
        /// One of several plans, complete. Needs the client capability `plan`.
        "plan_update" => PlanUpdate(PlanUpdate),
        /// One of several plans is gone. Needs the client capability `plan`.
        "plan_removed" => PlanRemoved(PlanRemoved),
        /// The slash commands, complete.
        "available_commands_update" => AvailableCommandsUpdate(AvailableCommandsUpdate),
        /// The session is in another mode.
        "current_mode_update" => CurrentModeUpdate(CurrentModeUpdate),
        /// The configuration options, complete.
        "config_option_update" => ConfigOptionUpdate(ConfigOptionUpdate),
        /// The session's title or the like has changed.
        "session_info_update" => SessionInfoUpdate(SessionInfoUpdate),
        /// How full the context window is, and the cost.
        "usage_update" => UsageUpdate(UsageUpdate),
        /// Something the person should know now. Needs the client capability `session.notices`.
        "notice" => Notice(Notice),
        /// The history is being replaced by a summary. Needs the client capability `session.compaction`.
        "compaction_update" => CompactionUpdate(CompactionUpdate),
        /// A piece of such a summary. Needs the client capability `session.compaction`.
        "compaction_summary_chunk" => CompactionSummaryChunk(CompactionSummaryChunk),
        /// A child session begins, or something about it changes. Needs the client capability `subagents`.
        "subagent_update" => SubagentUpdate(SubagentUpdate),
        /// A message between sessions. Needs the client capability `subagents`.
        "session_message" => SessionMessage(SessionMessage),
        /// A piece of a message between sessions. Needs the client capability `subagents`.
        "session_message_chunk" => SessionMessageChunk(SessionMessageChunk),
    }
}

from!(SessionUpdate {
    ToolCall(ToolCall),
    ToolCallUpdate(ToolCallUpdate),
    Plan(Plan),
    PlanUpdate(PlanUpdate),
    PlanRemoved(PlanRemoved),
    AvailableCommandsUpdate(AvailableCommandsUpdate),
    CurrentModeUpdate(CurrentModeUpdate),
    ConfigOptionUpdate(ConfigOptionUpdate),
    SessionInfoUpdate(SessionInfoUpdate),
    UsageUpdate(UsageUpdate),
    Notice(Notice),
    CompactionUpdate(CompactionUpdate),
    CompactionSummaryChunk(CompactionSummaryChunk),
    SubagentUpdate(SubagentUpdate),
    SessionMessage(SessionMessage),
    SessionMessageChunk(SessionMessageChunk),
});

impl SessionUpdate {
    /// A piece of the agent's answer.
    #[must_use]
    pub fn agent_message(content: impl Into<ContentBlock>) -> Self {
        Self::AgentMessageChunk(ContentChunk::new(content))
    }

    /// A piece of the agent's reasoning.
    #[must_use]
    pub fn agent_thought(content: impl Into<ContentBlock>) -> Self {
        Self::AgentThoughtChunk(ContentChunk::new(content))
    }

    /// A piece of what the person said.
    #[must_use]
    pub fn user_message(content: impl Into<ContentBlock>) -> Self {
        Self::UserMessageChunk(ContentChunk::new(content))
    }
}

record! {
    /// A piece of a message.
    ///
    /// See [Agent reports output](https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output).
    pub struct ContentChunk {
        required {
            /// The piece.
            strict content: ContentBlock,
        }
        optional {
            /// The message it belongs to; another id begins another message.
            lenient message_id: Maybe<MessageId>,
        }
    }
}
