//! What of a session reaches the wire. The same function decides live and in a replay, so the two cannot differ.

use accord_protocol::{
    open::Maybe,
    v1::{SessionUpdate, ToolCall, ToolCallContent, ToolCallUpdate},
};

/// How much of a session its client gets to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Projection {
    /// For automation: only what is stored, once it is. Whole messages, reasoning, tool calls with the tool's name as
    /// title, measured usage, config options, notices; never pieces, diffs, locations, terminals, plans or titles.
    #[default]
    Committed,
    /// For editors: also pieces of messages as they come, and rich content.
    Live,
}

impl Projection {
    /// Whether pieces of a message go out before it is whole.
    pub(super) fn shows_pieces(self) -> bool {
        self == Self::Live
    }

    /// Whether lists show titles.
    pub(super) fn shows_titles(self) -> bool {
        self == Self::Live
    }

    /// What goes out for an update, if anything.
    pub(super) fn project(self, update: SessionUpdate) -> Option<SessionUpdate> {
        if self == Self::Live {
            return Some(update);
        }
        match update {
            SessionUpdate::ToolCall(call) => Some(plain_call(call).into()),
            SessionUpdate::ToolCallUpdate(call) => Some(plain_update(call).into()),
            SessionUpdate::UserMessageChunk(_)
            | SessionUpdate::AgentMessageChunk(_)
            | SessionUpdate::AgentThoughtChunk(_)
            | SessionUpdate::UsageUpdate(_)
            | SessionUpdate::Notice(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::CurrentModeUpdate(_) => Some(update),
            _ => None,
        }
    }
}

fn plain_call(mut call: ToolCall) -> ToolCall {
    if let Some(name) = call.name.get() {
        call.title.clone_from(name);
    }
    call.content = call.content.map(plain_content).filter(|content| !content.is_empty());
    call.locations = None;
    call
}

fn plain_update(mut call: ToolCallUpdate) -> ToolCallUpdate {
    call.title = call.name.clone();
    call.content = match call.content {
        Maybe::Value(content) => Some(plain_content(content)).filter(|content| !content.is_empty()).into(),
        other => other,
    };
    call.locations = Maybe::Absent;
    call
}

fn plain_content(content: Vec<ToolCallContent>) -> Vec<ToolCallContent> {
    content.into_iter().filter(|content| matches!(content, ToolCallContent::Content(_))).collect()
}
