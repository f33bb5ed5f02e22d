//! The life of a tool call: announced, running, ended; and nothing announced is left without an end.

use std::{collections::HashMap, future::Future, sync::Arc};

use accord_protocol::v1::{
    ContentBlock, SessionUpdate, ToolCall, ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate,
};

use crate::{
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
///
/// Made by [`Turn::tool`], or by the [runtime's](crate::runtime::Turn::tool), whose errors differ.
#[derive(Clone, Debug)]
pub struct Tool<T = Turn> {
    turn: T,
    /// What a person who is asked has to see of it.
    call: Arc<ToolCallUpdate>,
}

/// A turn that tells of tool calls.
#[expect(unnameable_types, reason = "there are two kinds of turns, and nobody else makes one")]
pub trait Tells {
    /// Why it could not.
    type Error;

    /// Tells of a call.
    fn tell(&self, news: ToolCallUpdate) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Asks about a call.
    fn decide(&self, question: Question) -> impl Future<Output = Result<Decision, Self::Error>> + Send;
}

/// What a question about the call says of it. The content was shown when the call was announced, and may be large.
pub(crate) fn asked(call: &ToolCall) -> ToolCallUpdate {
    let mut asked = ToolCallUpdate::new(call.tool_call_id.clone()).title(call.title.clone());
    asked.name = call.name.clone();
    asked.kind = call.kind.clone().into();
    asked.locations = call.locations.clone().into();
    asked.raw_input = call.raw_input.clone();
    asked
}

impl<T: Tells> Tool<T> {
    pub(crate) fn new(turn: T, call: ToolCallUpdate) -> Self {
        Self { turn, call: Arc::new(call) }
    }

    /// The call's id.
    pub fn id(&self) -> &ToolCallId {
        &self.call.tool_call_id
    }

    /// Asks whether the tool may run. The call stays pending meanwhile. The client gets the call's title, kind, name, places
    /// and input with the question.
    ///
    /// # Errors
    /// As the turn's `ask`. A refusal is not an error, nor is a cancel.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn ask(&self, question: Question) -> Result<Decision, T::Error> {
        self.turn.decide(question.about((*self.call).clone())).await
    }

    /// The tool runs now.
    ///
    /// # Errors
    /// As the turn's `update`.
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn start(&self) -> Result<(), T::Error> {
        self.update(|call| call.status(ToolCallStatus::InProgress)).await
    }

    /// The tool has done its work.
    ///
    /// # Errors
    /// As the turn's `update`.
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn complete(&self, content: impl Into<Vec<ToolCallContent>> + Send) -> Result<(), T::Error> {
        let content = content.into();
        self.update(|call| call.status(ToolCallStatus::Completed).content(content)).await
    }

    /// The tool failed, or was not allowed to run; this is not a failure of the turn.
    ///
    /// # Errors
    /// As the turn's `update`.
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn fail(&self, why: impl Into<String> + Send) -> Result<(), T::Error> {
        let content: Vec<ToolCallContent> = vec![ContentBlock::text(why).into()];
        self.update(|call| call.status(ToolCallStatus::Failed).content(content)).await
    }

    /// Any other news about the call.
    ///
    /// # Errors
    /// As the turn's `update`.
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn update(
        &self,
        change: impl FnOnce(ToolCallUpdate) -> ToolCallUpdate + Send,
    ) -> Result<(), T::Error> {
        self.turn.tell(change(ToolCallUpdate::new(self.id().clone()))).await
    }
}
