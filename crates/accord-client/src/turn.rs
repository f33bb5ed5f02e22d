//! A turn: the agent's updates in order, then why it stopped.

mod begin;

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use accord_protocol::v1::{PromptResponse, SessionUpdate, StopReason};
use accord_transport::{CallError, LaneReceiver, lane};
use futures_core::{FusedStream, Stream};

use crate::{
    Client, Error, Prompt, Session, TurnError,
    router::LANE_LIMIT,
    session::{Item, Live, TurnKey},
};

pub(crate) use begin::{Begun, begin};

/// A turn: the agent's updates in order, then why it stopped.
///
/// Take the updates with [`next`](Turn::next) until there are none, then [`finish`](Turn::finish). Dropping a turn
/// cancels it: the agent is told, and what it still sends is discarded.
pub struct Turn {
    session: Session,
    begun: Begun,
    lane: LaneReceiver<Item>,
    outcome: Option<Result<PromptResponse, TurnError>>,
}

/// Cancels one turn, and no other, from elsewhere.
#[derive(Clone)]
pub struct Canceller {
    client: Client,
    live: Arc<Live>,
    key: TurnKey,
}

impl Turn {
    pub(crate) async fn start(session: Session, prompt: Prompt) -> Result<Self, Error> {
        let (sender, lane) = lane(&session.client.shared.gate, LANE_LIMIT);
        let mut begun = begin(&session, &prompt, sender).await?;
        begun.send(&session, prompt).await?;
        Ok(Self { session, begun, lane, outcome: None })
    }

    /// The session it belongs to.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The next update, or nothing once the turn is over; then [`finish`](Turn::finish) says how it ended.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn next(&mut self) -> Option<SessionUpdate> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next update, as [`Turn::next`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<SessionUpdate>> {
        while self.outcome.is_none() {
            let outcome = match ready!(self.lane.poll_next(cx)) {
                Some(Item::Update(received)) => return Poll::Ready(Some(received.update)),
                Some(Item::Ended { outcome, cancelled, .. }) => outcome_of(outcome, cancelled),
                Some(Item::Overdue(_)) => {
                    Err(TurnError::CancelIgnored { grace: self.session.client.shared.limits.cancel_grace })
                }
                Some(Item::Expired(_, limit)) => Err(TurnError::Deadline { limit }),
                Some(Item::Closed) | None => Err(TurnError::SessionClosed),
                // The others are told only to whoever takes everything in one lane.
                Some(_) => continue,
            };
            self.outcome = Some(outcome);
        }
        Poll::Ready(None)
    }

    /// Passes over what updates are left, and says why the agent stopped.
    ///
    /// A turn that was cancelled here and that the agent then failed counts as cancelled.
    ///
    /// # Errors
    /// [`TurnError`] says whose fault it was that there is no stop reason.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the turn, as dropping the turn does.
    pub async fn finish(self) -> Result<StopReason, TurnError> {
        Ok(self.finish_with_response().await?.stop_reason)
    }

    /// As [`finish`](Turn::finish), with all that the agent's answer holds.
    ///
    /// # Errors
    /// As [`Turn::finish`].
    ///
    /// # Cancel safety
    /// As [`Turn::finish`].
    pub async fn finish_with_response(mut self) -> Result<PromptResponse, TurnError> {
        while self.next().await.is_some() {}
        // In its place stays an outcome that says that the turn is over, since there is nothing left to cancel.
        self.outcome.replace(Err(TurnError::SessionClosed)).unwrap_or(Err(TurnError::SessionClosed))
    }

    /// Cancels the turn: the agent is told once, and its open questions are answered `cancelled`.
    ///
    /// Its last updates still come, then its answer, or the end of the grace. A turn that is over stays as it is.
    pub fn cancel(&self) {
        self.canceller().cancel();
    }

    /// Cancels the turn by its request's id (`$/cancel_request`), as some programs do; many agents ignore that.
    pub fn cancel_request(&self) {
        if let Some(request) = &self.begun.request {
            request.cancel();
        }
    }

    /// Cancels this turn, and no other, from elsewhere.
    pub fn canceller(&self) -> Canceller {
        Canceller {
            client: self.session.client.clone(),
            live: Arc::clone(&self.session.live),
            key: self.begun.key,
        }
    }
}

/// The updates, as [`Turn::next`] gives them.
impl Stream for Turn {
    type Item = SessionUpdate;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<SessionUpdate>> {
        Self::poll_next(self.get_mut(), cx)
    }
}

impl FusedStream for Turn {
    fn is_terminated(&self) -> bool {
        self.outcome.is_some()
    }
}

impl Canceller {
    /// Cancels the turn, if it is not over.
    pub fn cancel(&self) {
        self.client.shared.cancel_turn(&self.live, Some(self.key));
    }
}

/// After a cancel of ours, whatever error the agent makes of it is the cancel's doing.
pub(crate) fn outcome_of(
    outcome: Result<PromptResponse, CallError>,
    cancelled: bool,
) -> Result<PromptResponse, TurnError> {
    match outcome {
        Ok(response) => Ok(response),
        Err(CallError::Refused(_)) if cancelled => Ok(PromptResponse::new(StopReason::Cancelled)),
        Err(CallError::Refused(error)) => Err(TurnError::Refused(error)),
        Err(CallError::Lost(lost)) => Err(TurnError::Lost(lost)),
        Err(CallError::Undecodable { misfit, .. }) => Err(TurnError::Undecodable(misfit)),
        Err(CallError::Malformed(fault)) => Err(TurnError::Malformed(fault)),
        Err(_) => Err(TurnError::SessionClosed),
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.outcome.is_none() {
            self.cancel();
        }
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Turn").field("session", self.session.id()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Canceller").field("session", &self.live.id).finish_non_exhaustive()
    }
}
