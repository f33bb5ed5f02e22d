//! The message that is being written: pieces become one message, with one id, live and in a replay.

use std::{iter, mem};

use accord_protocol::v1::{ContentBlock, ContentChunk, MessageId, SessionUpdate};

use crate::text::beginning;

/// A longer message is stored in several parts of the same id, so that memory stays bounded.
const LONGEST: usize = 256 << 10;

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Thought,
}

/// What has been written of the current message and is not stored yet.
#[derive(Debug, Default)]
pub(super) struct Pen {
    open: Option<(Kind, MessageId)>,
    text: String,
}

impl Pen {
    /// Adds a piece; `id` names its message if the backend names messages. Returns what is whole now, and the piece as it
    /// is sent to those who see pieces.
    pub(super) fn write(
        &mut self,
        kind: Kind,
        text: &str,
        id: Option<&MessageId>,
    ) -> (Option<SessionUpdate>, SessionUpdate) {
        let continues =
            self.open.as_ref().is_some_and(|(open, known)| *open == kind && id.is_none_or(|id| id == known));
        let mut whole = if continues { None } else { self.lift() };
        if continues && self.text.len() + text.len() > LONGEST {
            whole = self.rest();
        }
        let (_, current) = self.open.get_or_insert_with(|| {
            (kind, id.cloned().unwrap_or_else(|| MessageId::from(uuid::Uuid::now_v7().to_string())))
        });
        let piece = chunk(kind, text.to_owned(), current.clone());
        self.text.push_str(text);
        (whole, piece)
    }

    /// How many bytes are not stored yet.
    pub(super) fn waiting(&self) -> usize {
        self.text.len()
    }

    /// Ends the message and returns what was not stored of it.
    pub(super) fn lift(&mut self) -> Option<SessionUpdate> {
        let whole = self.rest();
        self.open = None;
        whole
    }

    fn rest(&mut self) -> Option<SessionUpdate> {
        let (kind, id) = self.open.as_ref()?;
        (!self.text.is_empty()).then(|| chunk(*kind, mem::take(&mut self.text), id.clone()))
    }
}

/// A text in parts that fit into a line, whatever becomes of them in JSON. An empty text is one part.
pub(super) fn parts(mut text: &str) -> impl Iterator<Item = &str> {
    let mut first = true;
    iter::from_fn(move || {
        if text.is_empty() && !mem::take(&mut first) {
            return None;
        }
        first = false;
        let (part, rest) = text.split_at(beginning(text, LONGEST).len());
        text = rest;
        Some(part)
    })
}

fn chunk(kind: Kind, text: String, id: MessageId) -> SessionUpdate {
    let chunk = ContentChunk::new(ContentBlock::text(text)).message_id(id);
    match kind {
        Kind::Message => SessionUpdate::AgentMessageChunk(chunk),
        Kind::Thought => SessionUpdate::AgentThoughtChunk(chunk),
    }
}
