//! The life of a tool call: announced, running, ended; and nothing announced is left without an end.

use std::collections::HashMap;

use accord_protocol::v1::{SessionUpdate, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate};

use crate::{
    client::ClientError,
    permission::{Decision, Question},
    turn::Turn,
};

/// The calls of one turn, in the order of their announcement.
#[derive(Debug, Default)]
pub(crate) struct ToolCalls {
    known: Vec<(ToolCallId, bool)>,
    /// Where each of them is: a turn may make very many.
    places: HashMap<ToolCallId, usize>,
}

/// What was seen of a call.
#[derive(Debug)]
pub(crate) struct Sight {
    id: ToolCallId,
    /// Unless nothing was said about it.
    ended: Option<bool>,
    announced: bool,
}

impl ToolCalls {
    /// What an update says about the life of a call.
    pub(crate) fn sight(update: &SessionUpdate) -> Option<Sight> {
        let (id, status, announced) = match update {
            SessionUpdate::ToolCall(call) => (&call.tool_call_id, call.status.as_ref(), true),
            SessionUpdate::ToolCallUpdate(call) => (&call.tool_call_id, call.status.get(), false),
            _ => return None,
        };
        let ended = status.map(|status| matches!(status, ToolCallStatus::Completed | ToolCallStatus::Failed));
        Some(Sight { id: id.clone(), ended, announced })
    }

    pub(crate) fn observe(&mut self, Sight { id, ended, announced }: Sight) {
        match self.places.get(&id) {
            Some(place) => {
                let known = &mut self.known[*place].1;
                *known = ended.unwrap_or(*known);
            }
            // An update about a call of an earlier turn is that turn's business.
            None if announced => {
                self.places.insert(id.clone(), self.known.len());
                self.known.push((id, ended.unwrap_or(false)));
            }
            None => {}
        }
    }

    pub(crate) fn knows(&self, id: &ToolCallId) -> bool {
        self.places.contains_key(id)
    }

    /// The calls without an end; they count as ended from here on.
    pub(crate) fn take_open(&mut self) -> Vec<ToolCallId> {
        let open = self.known.iter_mut().filter(|(_, ended)| !ended);
        open.map(|(id, ended)| {
            *ended = true;
            id.clone()
        })
        .collect()
    }
}

/// A tool call that has been announced. Dropped without an end it is reported as failed when the turn ends.
#[derive(Clone, Debug)]
pub struct Tool {
    turn: Turn,
    id: ToolCallId,
}

impl Tool {
    pub(crate) fn new(turn: Turn, id: ToolCallId) -> Self {
        Self { turn, id }
    }

    /// The call's id.
    pub fn id(&self) -> &ToolCallId {
        &self.id
    }

    /// Asks whether the tool may run. The call stays pending meanwhile.
    ///
    /// # Errors
    /// As [`Turn::ask`].
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn ask(&self, question: Question) -> Result<Decision, ClientError> {
        self.turn.ask(question.about(ToolCallUpdate::new(self.id.clone()))).await
    }

    /// The tool runs now.
    ///
    /// # Errors
    /// As [`Turn::update`].
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn start(&self) -> Result<(), ClientError> {
        self.update(|call| call.status(ToolCallStatus::InProgress)).await
    }

    /// The tool has done its work.
    ///
    /// # Errors
    /// As [`Turn::update`].
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn complete(&self, content: impl Into<Vec<ToolCallContent>> + Send) -> Result<(), ClientError> {
        let content = content.into();
        self.update(|call| call.status(ToolCallStatus::Completed).content(content)).await
    }

    /// The tool failed, or was not allowed to run; this is not a failure of the turn.
    ///
    /// # Errors
    /// As [`Turn::update`].
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn fail(&self, why: impl Into<String> + Send) -> Result<(), ClientError> {
        let content: Vec<ToolCallContent> = vec![accord_protocol::v1::ContentBlock::text(why).into()];
        self.update(|call| call.status(ToolCallStatus::Failed).content(content)).await
    }

    /// Any other news about the call.
    ///
    /// # Errors
    /// As [`Turn::update`].
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn update(
        &self,
        change: impl FnOnce(ToolCallUpdate) -> ToolCallUpdate + Send,
    ) -> Result<(), ClientError> {
        self.turn.update(change(ToolCallUpdate::new(self.id.clone()))).await
    }
}
