//! The parts of a conversation: messages, tool calls, notices, compactions.

use accord_protocol::v1::{
    CompactionId, CompactionStatus, ContentBlock, MessageId, Notice, ToolCall, ToolCallId, ToolCallStatus,
    ToolCallUpdate,
};
use serde::Serialize;

use super::is_final;

/// A part of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Entry {
    /// Something was said.
    Message(Message),
    /// A tool was called.
    Call(Call),
    /// The agent wants something known.
    Notice(Notice),
    /// The history so far was replaced by a summary, or is being replaced.
    Compaction(Compaction),
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Speaker {
    /// The person, or whoever prompts.
    User,
    /// The agent.
    Agent,
    /// The agent, to itself.
    Thought,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Message {
    /// Who says it.
    pub speaker: Speaker,
    /// Which message it is, where the agent says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageId>,
    /// What is said; text that came in pieces is one block.
    pub blocks: Vec<ContentBlock>,
}

/// A tool call as it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Call {
    /// All that is known of it.
    pub call: ToolCall,
    /// How far it is.
    pub state: CallState,
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallState {
    /// It waits, or runs.
    Open,
    /// It ended well.
    Completed,
    /// It ended with an error.
    Failed,
    /// Its turn ended without it.
    GivenUp,
}

/// A summary that replaces the history.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Compaction {
    /// Which compaction it is.
    pub id: CompactionId,
    /// How far it is.
    pub status: CompactionStatus,
    /// The summary so far.
    pub summary: Vec<ContentBlock>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Message {
    pub(super) fn new(speaker: Speaker, id: Option<MessageId>, blocks: Vec<ContentBlock>) -> Self {
        Self { speaker, id, blocks }
    }

    /// Its text, without what is no text.
    #[must_use]
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(ContentBlock::as_text).collect()
    }
}

impl Call {
    pub(super) fn new(call: ToolCall) -> Self {
        let mut new = Self { call, state: CallState::Open };
        new.note_status();
        new
    }

    /// Its id.
    pub fn id(&self) -> &ToolCallId {
        &self.call.tool_call_id
    }

    /// Takes in what a repeated announcement says. What it leaves out, or leaves empty, stays.
    pub(super) fn announce(&mut self, again: &ToolCall) {
        self.update(&ToolCallUpdate::from(again.clone()));
    }

    /// Takes in what an update says: absent and null leave things as they are, lists replace.
    pub(super) fn update(&mut self, update: &ToolCallUpdate) {
        let call = &mut self.call;
        if let Some(title) = update.title.get().filter(|title| !title.is_empty()) {
            call.title.clone_from(title);
        }
        if let Some(name) = update.name.get() {
            call.name = name.clone().into();
        }
        if let Some(kind) = update.kind.get() {
            call.kind = Some(kind.clone());
        }
        if let Some(content) = update.content.get() {
            call.content = Some(content.clone());
        }
        if let Some(locations) = update.locations.get() {
            call.locations = Some(locations.clone());
        }
        if let Some(input) = update.raw_input.get().filter(|input| !input.is_null()) {
            call.raw_input = input.clone().into();
        }
        if let Some(output) = update.raw_output.get().filter(|output| !output.is_null()) {
            call.raw_output = output.clone().into();
        }
        if let Some(meta) = update.meta.get() {
            call.meta = meta.clone().into();
        }
        if let Some(status) = update.status.get() {
            let goes_back = call.status.as_ref().is_some_and(is_final) && !is_final(status);
            // Some agents announce a call anew when it is over.
            if !goes_back {
                call.status = Some(status.clone());
                self.note_status();
            }
        }
    }

    /// Its turn is over. True if it was open.
    pub(super) fn give_up(&mut self) -> bool {
        let was_open = self.state == CallState::Open;
        if was_open {
            self.state = CallState::GivenUp;
        }
        was_open
    }

    fn note_status(&mut self) {
        self.state = match &self.call.status {
            Some(ToolCallStatus::Completed) => CallState::Completed,
            Some(ToolCallStatus::Failed) => CallState::Failed,
            _ => CallState::Open,
        };
    }
}

impl Compaction {
    pub(super) fn new(id: CompactionId) -> Self {
        Self { id, status: CompactionStatus::InProgress, summary: Vec::new(), error: None }
    }
}

/// Text goes on with the text before it, unless one of the two says more about itself.
pub(super) fn append(blocks: &mut Vec<ContentBlock>, block: &ContentBlock) {
    if let (Some(ContentBlock::Text(last)), ContentBlock::Text(next)) = (blocks.last_mut(), block)
        && last.annotations == next.annotations
    {
        last.text.push_str(&next.text);
    } else {
        blocks.push(block.clone());
    }
}
