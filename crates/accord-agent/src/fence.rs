//! A gate that closes behind the last one who is through: nothing that started before an end happens after it.

use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

/// Counts who is inside; [`close`](Self::close) lets nobody in any more and waits for those inside.
#[derive(Debug, Default)]
pub(crate) struct Fence {
    state: Mutex<State>,
    left: Notify,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    inside: usize,
}

/// Somebody inside; leaves when dropped.
#[derive(Debug)]
pub(crate) struct Pass<'a>(&'a Fence);

impl Fence {
    /// `None` once the fence is closed.
    pub(crate) fn enter(&self) -> Option<Pass<'_>> {
        let mut state = self.state();
        if state.closed {
            return None;
        }
        state.inside += 1;
        Some(Pass(self))
    }

    /// Returns when everybody has left. May be called again.
    pub(crate) async fn close(&self) {
        self.shut();
        loop {
            let left = self.left.notified();
            if self.state().inside == 0 {
                return;
            }
            left.await;
        }
    }

    /// Lets nobody in any more.
    pub(crate) fn shut(&self) {
        self.state().closed = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.inside -= 1;
        if state.closed && state.inside == 0 {
            self.0.left.notify_waiters();
        }
    }
}
