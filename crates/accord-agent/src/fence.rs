//! A gate that closes behind the last one who is through: nothing that started before an end happens after it.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Set once the fence is closed; the bits below it count who is inside.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// Counts who is inside; [`close`](Self::close) lets nobody in any more and waits for those inside.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    state: AtomicUsize,
    left: Notify,
}

/// Somebody inside; leaves when dropped.
#[derive(Debug)]
pub(crate) struct Pass<'a>(&'a Fence);

impl Fence {
    /// `None` once the fence is closed.
    pub(crate) fn enter(&self) -> Option<Pass<'_>> {
        let before = self.state.fetch_add(1, Ordering::AcqRel);
        // Who came too late was counted for a moment all the same, and has to leave properly.
        let pass = Pass(self);
        (before & CLOSED == 0).then_some(pass)
    }

    /// Returns when everybody has left. May be called again.
    pub(crate) async fn close(&self) {
        self.shut();
        loop {
            let left = self.left.notified();
            if self.state.load(Ordering::Acquire) == CLOSED {
                return;
            }
            left.await;
        }
    }

    /// Lets nobody in any more.
    pub(crate) fn shut(&self) {
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.0.state.fetch_sub(1, Ordering::AcqRel) == CLOSED | 1 {
            self.0.left.notify_waiters();
        }
    }
}
