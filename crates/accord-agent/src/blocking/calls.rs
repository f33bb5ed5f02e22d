//! The tool calls of a turn that are open, found by the tool's name alone, first come first served.

use std::time::Instant;

use accord_protocol::v1::ToolCallId;
use serde_json::Value;

use super::tools::Drawing;

/// Open calls in the order in which they began.
///
/// A blocking agent reports by name: which of two `read_file` calls has ended is told by order only. So each name has a
/// queue: an end belongs to its oldest open call.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<OpenCall>,
}

/// A call that has been announced and has not ended.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) id: ToolCallId,
    pub(super) name: String,
    pub(super) drawing: Drawing,
    /// Whether the tool has begun; a call may be announced by its request for approval, before it begins.
    pub(super) begun: bool,
    /// Whether the client counts it as pending still.
    pub(super) pending: bool,
    /// Whether an approval has been asked for it.
    pub(super) asked: bool,
    /// What it has said while running, the latest of it.
    pub(super) said: String,
    pub(super) shown_at: Option<Instant>,
}

impl Calls {
    /// Opens a call, under an id of its own.
    pub(super) fn open(&mut self, name: &str, drawing: Drawing, pending: bool) -> &mut OpenCall {
        let index = self.open.len();
        self.open.push(OpenCall {
            id: mint(),
            name: name.to_owned(),
            drawing,
            begun: true,
            pending,
            asked: false,
            said: String::new(),
            shown_at: None,
        });
        &mut self.open[index]
    }

    /// The call that was announced for these arguments, by its request for approval, and has not begun.
    pub(super) fn announced(&mut self, name: &str, arguments: &Value) -> Option<&mut OpenCall> {
        self.open
            .iter_mut()
            .find(|call| call.name == name && !call.begun && call.drawing.arguments() == arguments)
    }

    /// The call that an approval is asked for: the one with the same arguments, else the oldest that has not asked.
    pub(super) fn asking(&mut self, name: &str, arguments: &Value) -> Option<&mut OpenCall> {
        let candidate = |call: &OpenCall| call.name == name && call.begun && !call.asked;
        let same = self.open.iter().position(|call| candidate(call) && call.drawing.arguments() == arguments);
        let index = same.or_else(|| self.open.iter().position(candidate))?;
        Some(&mut self.open[index])
    }

    /// The oldest open call of a name.
    pub(super) fn oldest(&mut self, name: &str) -> Option<&mut OpenCall> {
        self.position(name).map(|index| &mut self.open[index])
    }

    /// Takes the oldest open call of a name: it has ended.
    pub(super) fn close(&mut self, name: &str) -> Option<OpenCall> {
        self.position(name).map(|index| self.open.remove(index))
    }

    pub(super) fn by_id(&mut self, id: &ToolCallId) -> Option<&mut OpenCall> {
        self.open.iter_mut().find(|call| call.id == *id)
    }

    /// Takes all that is open, oldest first.
    pub(super) fn close_all(&mut self) -> Vec<OpenCall> {
        std::mem::take(&mut self.open)
    }

    /// One that has begun goes before one that is only announced.
    fn position(&self, name: &str) -> Option<usize> {
        let named = |call: &OpenCall| call.name == name;
        self.open
            .iter()
            .position(|call| named(call) && call.begun)
            .or_else(|| self.open.iter().position(named))
    }
}

/// An id that no other call of the session has, in this process or another.
pub(super) fn mint() -> ToolCallId {
    ToolCallId::from(uuid::Uuid::now_v7().to_string())
}
