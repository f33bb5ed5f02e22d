//! How ends are kept apart from what came before them: a gate that closes behind the last one who is through, and a
//! latch that says that something is over.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

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

    /// Whether nobody is let in any more.
    pub(crate) fn is_shut(&self) -> bool {
        self.state.load(Ordering::Acquire) & CLOSED != 0
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

/// Something that happens once and can be waited for.
#[derive(Debug, Default)]
pub(crate) struct Latch {
    set: AtomicBool,
    news: Notify,
}

impl Latch {
    pub(crate) fn set(&self) {
        self.set.store(true, Ordering::Release);
        self.news.notify_waiters();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Returns once it is set.
    pub(crate) async fn wait(&self) {
        // Made before the look, so that news between the two is not missed.
        let news = self.news.notified();
        if !self.is_set() {
            news.await;
        }
    }

    /// What a future gives, unless this is set before it is ready. Set already, the future is not polled at all.
    pub(crate) async fn or<T>(&self, future: impl Future<Output = T> + Unpin) -> Option<T> {
        if self.is_set() {
            return None;
        }
        tokio::select! {
            biased;
            output = future => Some(output),
            () = self.wait() => None,
        }
    }
}
