//! Requests of ours on their way: who waits for the outcome, and what happens when nobody does any more.

use std::fmt;
use std::sync::Arc;

use accord_peer::RequestKey;
use accord_protocol::rpc::Answer;
use tokio::sync::oneshot;

use crate::shared::Shared;
use crate::{CallError, End, Lost};

/// The outcome of a request.
pub(crate) type Outcome = Result<Answer, CallError>;

/// Who gets the outcome of a request.
pub(crate) struct Waiter {
    pub(crate) kind: Kind,
    /// Whether reading goes on for this answer although a lane is full.
    pub(crate) pressing: bool,
}

pub(crate) enum Kind {
    /// A task that awaits it.
    Task(oneshot::Sender<Outcome>),
    /// A function that runs on the driver, in wire order.
    Deliver(Box<dyn FnOnce(Outcome) + Send>),
}

impl Waiter {
    pub(crate) fn settle(self, outcome: Outcome) {
        match self.kind {
            // The task may have gone away in this moment; then nobody wants the outcome.
            Kind::Task(sender) => drop(sender.send(outcome)),
            Kind::Deliver(deliver) => deliver(outcome),
        }
    }

    pub(crate) fn lost(self, end: &End) {
        self.settle(Err(CallError::Lost(Lost(end.clone()))));
    }
}

impl fmt::Debug for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("pressing", &self.pressing).finish_non_exhaustive()
    }
}

/// A request that was sent and whose outcome goes to its `deliver` function.
///
/// Dropping this changes nothing: the outcome is delivered all the same.
#[derive(Clone, Debug)]
pub struct Started {
    pub(crate) shared: Arc<Shared>,
    pub(crate) key: RequestKey,
}

impl Started {
    /// Asks the peer, at most once, to cancel this request. Its answer is still delivered.
    pub fn cancel(&self) {
        self.shared.cancel(self.key);
    }
}

/// Gives a request up when the future that waits for it is dropped.
pub(crate) struct Abandon<'a> {
    pub(crate) shared: &'a Shared,
    pub(crate) key: RequestKey,
}

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.shared.abandon(self.key);
    }
}
