//! Waiting for a future on a thread that may block.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use tokio::runtime::Handle;

/// Runs `future` to its end on this thread, with the timers of `runtime`.
///
/// Unlike `Handle::block_on` it does not mind when the thread drives a runtime of its own, as that of a blocking agent
/// may well do.
pub(super) fn block_on<T>(runtime: &Handle, future: impl Future<Output = T>) -> T {
    let _timers = runtime.enter();
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        thread::park();
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    // H2
    #[tokio::test]
    async fn a_thread_with_a_runtime_of_its_own_may_wait_for_another() {
        let outer = Handle::current();
        let waited = tokio::task::spawn_blocking(move || {
            let inner = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            inner.block_on(async {
                block_on(&outer, async {
                    tokio::time::timeout(Duration::from_millis(1), std::future::pending::<()>()).await
                })
            })
        });
        assert!(waited.await.expect("no panic").is_err(), "the timer ran out");
    }
}
