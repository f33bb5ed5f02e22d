//! What a turn is started with: content, and the limits of this one turn.

use std::time::Duration;

use accord_protocol::{
    open::{Maybe, Meta},
    v1::ContentBlock,
};

/// What a turn is started with.
///
/// Made from a string, a content block, or several: `session.prompt("explain this")`.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Prompt {
    /// The content, in order.
    pub blocks: Vec<ContentBlock>,
    /// Data outside the protocol, sent along.
    pub meta: Maybe<Meta>,
    /// How long the whole turn may take; the client's own setting if absent.
    pub deadline: Option<Duration>,
    /// How long the agent may say nothing while none of its questions is open; the client's own setting if absent.
    pub silence: Option<Duration>,
}

impl Prompt {
    /// A prompt of one text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { blocks: vec![ContentBlock::text(text)], ..Self::default() }
    }

    /// Adds a content block.
    #[must_use]
    pub fn block(mut self, block: impl Into<ContentBlock>) -> Self {
        self.blocks.push(block.into());
        self
    }

    /// Sends data outside the protocol along.
    #[must_use]
    pub fn meta(mut self, meta: Meta) -> Self {
        self.meta = Maybe::Value(meta);
        self
    }

    /// Cuts the turn off when the whole of it takes longer.
    #[must_use]
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// Cuts the turn off when the agent says nothing for this long while none of its questions is open.
    #[must_use]
    pub fn silence(mut self, limit: Duration) -> Self {
        self.silence = Some(limit);
        self
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<ContentBlock> for Prompt {
    fn from(block: ContentBlock) -> Self {
        Self { blocks: vec![block], ..Self::default() }
    }
}

impl From<Vec<ContentBlock>> for Prompt {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self { blocks, ..Self::default() }
    }
}
