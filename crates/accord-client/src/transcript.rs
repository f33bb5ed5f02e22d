//! What a session looks like now, folded from its updates: messages, tool calls, plan, and what is said of it as a whole.

mod entry;

use std::collections::HashMap;

use accord_protocol::v1::{
    CompactionId, ContentBlock, ContentChunk, MessageId, PlanEntry, SessionUpdate, ToolCall, ToolCallId,
    ToolCallStatus, ToolCallUpdate,
};
use serde::Serialize;

pub use entry::{Call, CallState, Compaction, Entry, Message, Speaker};

use crate::SessionState;

/// What a session looks like now.
///
/// Fed the same updates it comes to the same state, whatever the agent's habits: updates before their tool call, calls
/// announced twice, messages with ids, without, and interleaved.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transcript {
    entries: Vec<Entry>,
    calls: HashMap<ToolCallId, usize>,
    messages: HashMap<(Speaker, MessageId), usize>,
    compactions: HashMap<CompactionId, usize>,
    plan: Vec<PlanEntry>,
    state: SessionState,
    /// Entries before this one belong to turns that are over: nothing without an id is added to them.
    turn_start: usize,
}

/// What an update changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Change {
    /// There is a new entry, at this place.
    Added(usize),
    /// The entry at this place says more, or something else.
    Changed(usize),
    /// The plan was replaced.
    Plan,
    /// What is said of the session as a whole changed.
    State,
    /// Nothing that is shown.
    Nothing,
}

impl Transcript {
    /// A session of which nothing is known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The conversation, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// A tool call by its id.
    pub fn call(&self, id: &ToolCallId) -> Option<&Call> {
        match self.entries.get(*self.calls.get(id)?)? {
            Entry::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The plan as it stands.
    pub fn plan(&self) -> &[PlanEntry] {
        &self.plan
    }

    /// What is said of the session as a whole.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// Starts with what the session's opening said of it.
    #[must_use]
    pub fn with_state(mut self, state: SessionState) -> Self {
        self.state = state;
        self
    }

    /// Takes in what the user says. For agents that do not repeat it, which is nearly all of them during a turn.
    pub fn prompt(&mut self, blocks: &[ContentBlock]) -> Change {
        self.end_turn();
        self.entries.push(Entry::Message(Message::new(Speaker::User, None, blocks.to_vec())));
        Change::Added(self.entries.len() - 1)
    }

    /// Takes in an update.
    pub fn apply(&mut self, update: &SessionUpdate) -> Change {
        match update {
            SessionUpdate::UserMessageChunk(chunk) => self.chunk(Speaker::User, chunk),
            SessionUpdate::AgentMessageChunk(chunk) => self.chunk(Speaker::Agent, chunk),
            SessionUpdate::AgentThoughtChunk(chunk) => self.chunk(Speaker::Thought, chunk),
            SessionUpdate::ToolCall(call) => self.tool_call(call),
            SessionUpdate::ToolCallUpdate(update) => self.tool_call_update(update),
            SessionUpdate::Plan(plan) => {
                self.plan.clone_from(&plan.entries);
                Change::Plan
            }
            SessionUpdate::Notice(notice) => self.add(Entry::Notice(notice.clone())),
            SessionUpdate::CompactionUpdate(update) => self.compaction(&update.compaction_id, |compaction| {
                compaction.status = update.status.clone();
                if let Some(summary) = update.summary.get() {
                    compaction.summary.clone_from(summary);
                }
                if let Some(error) = update.error.get() {
                    compaction.error = Some(error.clone());
                }
            }),
            SessionUpdate::CompactionSummaryChunk(chunk) => {
                self.compaction(&chunk.compaction_id, |compaction| {
                    entry::append(&mut compaction.summary, &chunk.content);
                })
            }
            _ => {
                let before = self.state.clone();
                self.state.apply(update);
                if self.state == before { Change::Nothing } else { Change::State }
            }
        }
    }

    /// The turn is over: calls the agent left open are marked as given up, and what comes next begins anew.
    ///
    /// Gives the places of the calls that were open. Should one of them end later after all, it says so.
    pub fn end_turn(&mut self) -> Vec<usize> {
        let mut given_up = Vec::new();
        for (place, entry) in self.entries.iter_mut().enumerate() {
            if let Entry::Call(call) = entry
                && call.give_up()
            {
                given_up.push(place);
            }
        }
        self.turn_start = self.entries.len();
        given_up
    }

    fn chunk(&mut self, speaker: Speaker, chunk: &ContentChunk) -> Change {
        let id = chunk.message_id.get();
        let place = match id {
            Some(id) => self.messages.get(&(speaker, id.clone())).copied(),
            // Without an id a chunk goes on with what was said last, if that was this speaker's, and in this turn.
            None => self.entries.len().checked_sub(1).filter(|last| {
                *last >= self.turn_start
                    && matches!(&self.entries[*last], Entry::Message(m) if m.speaker == speaker && m.id.is_none())
            }),
        };
        if let Some(place) = place
            && let Some(Entry::Message(message)) = self.entries.get_mut(place)
        {
            entry::append(&mut message.blocks, &chunk.content);
            return Change::Changed(place);
        }
        // Some agents say nothing at great length.
        if chunk.content.as_text() == Some("") {
            return Change::Nothing;
        }
        if let Some(id) = id {
            self.messages.insert((speaker, id.clone()), self.entries.len());
        }
        self.add(Entry::Message(Message::new(speaker, id.cloned(), vec![chunk.content.clone()])))
    }

    /// A call that is announced again is an update of what is known.
    fn tool_call(&mut self, call: &ToolCall) -> Change {
        if let Some((place, known)) = self.known_call(&call.tool_call_id) {
            known.announce(call);
            return Change::Changed(place);
        }
        self.add_call(Call::new(call.clone()))
    }

    /// An update may come before its call is announced.
    fn tool_call_update(&mut self, update: &ToolCallUpdate) -> Change {
        if let Some((place, known)) = self.known_call(&update.tool_call_id) {
            known.update(update);
            return Change::Changed(place);
        }
        let mut call = Call::new(ToolCall::new(update.tool_call_id.clone(), ""));
        call.update(update);
        self.add_call(call)
    }

    fn known_call(&mut self, id: &ToolCallId) -> Option<(usize, &mut Call)> {
        let place = *self.calls.get(id)?;
        match self.entries.get_mut(place)? {
            Entry::Call(call) => Some((place, call)),
            _ => None,
        }
    }

    fn add_call(&mut self, call: Call) -> Change {
        self.calls.insert(call.id().clone(), self.entries.len());
        self.add(Entry::Call(call))
    }

    fn compaction(&mut self, id: &CompactionId, change: impl FnOnce(&mut Compaction)) -> Change {
        let known = self.compactions.get(id).copied();
        let place = known.unwrap_or(self.entries.len());
        if known.is_none() {
            self.compactions.insert(id.clone(), place);
            self.entries.push(Entry::Compaction(Compaction::new(id.clone())));
        }
        if let Some(Entry::Compaction(compaction)) = self.entries.get_mut(place) {
            change(compaction);
        }
        if known.is_some() { Change::Changed(place) } else { Change::Added(place) }
    }

    fn add(&mut self, entry: Entry) -> Change {
        self.entries.push(entry);
        Change::Added(self.entries.len() - 1)
    }
}

/// Whether a call with that status is over.
fn is_final(status: &ToolCallStatus) -> bool {
    matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed)
}
