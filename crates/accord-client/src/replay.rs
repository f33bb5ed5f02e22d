//! Loading a session: its history as it comes, then the session.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use accord_protocol::v1::{LoadSessionRequest, SessionUpdate};
use accord_transport::{LaneReceiver, lane};
use futures_core::Stream;

use crate::{Client, Error, Session, router::LANE_LIMIT, session::Item};

type Loading = Pin<Box<dyn Future<Output = Result<Session, Error>> + Send>>;

/// A session being loaded: its history with [`next`](Replay::next), then the session itself with
/// [`finish`](Replay::finish).
pub struct Replay {
    loading: Loading,
    loaded: Option<Result<Session, Error>>,
    lane: LaneReceiver<Item>,
}

impl Replay {
    pub(crate) fn start(client: Client, request: LoadSessionRequest) -> Self {
        let (sender, receiver) = lane(&client.shared.gate, LANE_LIMIT);
        let loading = Box::pin(async move { client.open_loaded(&request, sender).await });
        Self { loading, loaded: None, lane: receiver }
    }

    /// The next piece of history, or nothing after the last one.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn next(&mut self) -> Option<SessionUpdate> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next piece of history, as [`Replay::next`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<SessionUpdate>> {
        // The request is driven from here, and ends the lane by dropping its other end.
        if self.loaded.is_none()
            && let Poll::Ready(loaded) = self.loading.as_mut().poll(cx)
        {
            self.loaded = Some(loaded);
        }
        loop {
            match self.lane.poll_next(cx) {
                Poll::Ready(Some(Item::Update(received))) => return Poll::Ready(Some(received.update)),
                Poll::Ready(Some(_)) => {}
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending if self.loaded.is_some() => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Passes over what history is left, and gives the session.
    ///
    /// # Errors
    /// As [`Client::load_session`]. The agent's own error comes as it is, and no other session is opened instead.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more.
    pub async fn finish(mut self) -> Result<Session, Error> {
        while self.next().await.is_some() {}
        match self.loaded.take() {
            Some(loaded) => loaded,
            None => self.loading.await,
        }
    }
}

/// The history, as [`Replay::next`] gives it.
impl Stream for Replay {
    type Item = SessionUpdate;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<SessionUpdate>> {
        Self::poll_next(self.get_mut(), cx)
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").field("loaded", &self.loaded.is_some()).finish_non_exhaustive()
    }
}
