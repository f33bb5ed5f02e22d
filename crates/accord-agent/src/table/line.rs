//! The line of one session: what is open under its id, whose turn runs, and who waits for what came before.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use accord_protocol::v1::SessionId;

use crate::{fence::Latch, session::Entry, turn::Running};

/// One session id: what is open under it, and who waits in line.
#[derive(Debug)]
pub(crate) struct Line {
    pub(super) id: SessionId,
    /// The open session; a closed one that is loaded again gets a new entry.
    pub(crate) open: Option<Arc<Entry>>,
    /// The one turn that may run. It is here from the moment its request was read until its answer is written.
    pub(crate) turn: Option<Arc<Running>>,
    /// The loads and resumes that were sent since the last close or delete, while there are any.
    pub(super) opening: Weak<Opening>,
    pub(super) queue: Queue,
}

impl Line {
    pub(super) fn new(id: SessionId) -> Self {
        Self { id, open: None, turn: None, opening: Weak::new(), queue: Queue::default() }
    }

    /// What a call that opens the session listens to.
    pub(crate) fn opening(&mut self) -> Arc<Opening> {
        self.opening.upgrade().unwrap_or_else(|| {
            let opening = Arc::default();
            self.opening = Arc::downgrade(&opening);
            opening
        })
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_none() && self.turn.is_none() && self.queue.calls.is_empty()
    }
}

/// Calls that open a session, and that what is sent behind them may make pointless.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    given_up: Latch,
    was_given_up: AtomicBool,
}

impl Opening {
    pub(super) fn give_up(&self) {
        self.given_up.set();
    }

    /// Returns when the calls are to be given up.
    pub(crate) async fn given_up(&self) {
        self.given_up.wait().await;
        self.was_given_up.store(true, Ordering::Relaxed);
    }

    /// Whether one of the calls was given up because it was to be.
    pub(crate) fn was_given_up(&self) -> bool {
        self.was_given_up.load(Ordering::Relaxed)
    }
}

/// The calls about a session that have not finished or given up, in the order in which they were read. The first of them is
/// the one that may run.
#[derive(Debug, Default)]
pub(super) struct Queue {
    calls: VecDeque<Waiting>,
    next: u64,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    waker: Option<Waker>,
}

impl Queue {
    /// The number of one more call.
    pub(super) fn join(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        self.calls.push_back(Waiting { number, waker: None });
        number
    }

    /// Ready once everything before this call has left.
    pub(super) fn poll_first(&mut self, number: u64, cx: &Context<'_>) -> Poll<()> {
        match self.find(number) {
            None | Some(0) => Poll::Ready(()),
            Some(at) => {
                self.calls[at].waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    /// Takes a call out, wherever it is, and gives whom to wake for that.
    pub(super) fn leave(&mut self, number: u64) -> Option<Waker> {
        let at = self.find(number)?;
        self.calls.remove(at);
        if at == 0 { self.calls.front_mut()?.waker.take() } else { None }
    }

    fn find(&self, number: u64) -> Option<usize> {
        self.calls.binary_search_by_key(&number, |call| call.number).ok()
    }
}
