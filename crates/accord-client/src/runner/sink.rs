//! Where a runner's events go: a sink of the embedder's, or a stream.

use std::{
    error::Error,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::Stream;
use tokio::sync::mpsc;

use crate::events::Event;

/// How many events may wait in a stream. The rest waits on the wire, where it is counted in bytes.
const STREAM_EVENTS: usize = 4;

/// Why a sink could not take an event.
pub type SinkError = Box<dyn Error + Send + Sync>;

/// Where a runner's events go.
pub trait EventSink: Send + 'static {
    /// Takes an event. The next one comes when this is done; meanwhile nothing more is read from the agent than fits the
    /// session's lane.
    ///
    /// # Errors
    /// A sink that cannot take an event ends the runner as crashed.
    fn emit(&mut self, event: Event) -> impl Future<Output = Result<(), SinkError>> + Send;
}

/// A runner's events as a stream. It ends after `runner.closed`, which comes at the latest when the runner is dropped.
///
/// Dropping it discards the events; the runner goes on.
#[derive(Debug)]
pub struct Events(mpsc::Receiver<Event>);

/// The sink at the other end of [`Events`].
#[derive(Debug)]
pub(super) struct ToStream(mpsc::Sender<Event>);

pub(super) fn stream() -> (ToStream, Events) {
    let (sender, receiver) = mpsc::channel(STREAM_EVENTS);
    (ToStream(sender), Events(receiver))
}

impl Events {
    /// The next event, or nothing after the last one.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn next(&mut self) -> Option<Event> {
        self.0.recv().await
    }
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.0.poll_recv(cx)
    }
}

impl EventSink for ToStream {
    async fn emit(&mut self, event: Event) -> Result<(), SinkError> {
        // Nobody wants the events any more, which is no failure.
        let _ = self.0.send(event).await;
        Ok(())
    }
}
