//! What a side does with what the wire brought.

use std::task::{Context, Poll};

use accord_protocol::rpc;
use accord_protocol::v1::SessionNotification;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{Call, End};

/// What a side does with what the wire brought.
///
/// Every method is called on the driver's task, in wire order. None may block, wait, or run the embedder's code: hand
/// things over, and let other tasks work.
pub trait Service: Send + 'static {
    /// A session update.
    fn update(&mut self, update: Update);

    /// Any other notification.
    fn notification(&mut self, notification: Notification);

    /// A request of the peer. A call that is dropped without an answer answers `-32603`.
    fn call(&mut self, call: Call);

    /// Called once after each read: hand over what gathered.
    fn flush(&mut self) {}

    /// Whether there is room for more. While this is pending nothing more is read, unless an answer is awaited
    /// that does not wait for a consumer.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        Poll::Ready(())
    }

    /// The connection has ended. Nothing else is called afterwards.
    fn closed(&mut self, end: &End) {
        let _ = end;
    }
}

/// A notification that is no session update.
#[derive(Debug)]
#[non_exhaustive]
pub struct Notification {
    /// The name of the method.
    pub method: Box<str>,
    /// The parameters as they came.
    pub raw_params: Option<Box<RawValue>>,
    /// How long the line was.
    pub bytes: usize,
}

impl Notification {
    /// The typed parameters.
    ///
    /// # Errors
    /// The place of the first misfit, as the error of a refused request would say it.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T, rpc::Error> {
        rpc::params(self.raw_params.as_deref())
    }
}

/// A session update in its typed form.
#[derive(Debug)]
#[non_exhaustive]
pub struct Update {
    /// What has happened, and in which session.
    pub notification: SessionNotification,
    /// How long the line was: what lanes are measured by.
    pub bytes: usize,
    /// The line itself, if [`Options::keep_raw`](crate::Options::keep_raw) asks for it.
    pub raw: Option<Box<RawValue>>,
}
