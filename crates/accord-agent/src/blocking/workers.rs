//! The bounded set of threads that turns run on: a thread per running turn, a seat for each, first come first served.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// The stack of a turn's thread, in bytes: what a main thread has, which is what agents were written on.
const STACK: usize = 8 << 20;

/// How many turns run at once, over all sessions.
///
/// The waiting stand in a fair queue on the async side, where a cancel takes them out of it; no thread is blocked for
/// one that waits, and a thread waits for nothing that needs another seat, so the set can be full without a deadlock.
#[derive(Clone, Debug)]
pub(super) struct Workers {
    seats: Arc<Semaphore>,
}

/// The right to run on a thread. Worker and waiter both hold it; whoever gives it up first frees the seat.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    permit: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

/// What became of a job.
pub(super) type Outcome<T> = Result<T, JobLost>;

/// A job that gave no result: it panicked, or its thread could not be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum JobLost {
    #[error("the agent panicked")]
    Panicked,
    #[error("no thread could be started for the turn")]
    NoThread,
}

impl Workers {
    /// At most `threads` turns at once, at least one.
    pub(super) fn new(threads: usize) -> Self {
        Self { seats: Arc::new(Semaphore::new(threads.clamp(1, Semaphore::MAX_PERMITS))) }
    }

    /// Waits for a free seat, after those who asked before.
    pub(super) async fn seat(&self) -> Seat {
        let permit = self.seats.clone().acquire_owned().await.ok();
        Seat { permit: Arc::new(Mutex::new(permit)) }
    }

    /// How many turns could start now without waiting.
    pub(super) fn free(&self) -> usize {
        self.seats.available_permits()
    }
}

impl Seat {
    /// Runs `job` on a thread of its own; the seat is free when it has ended. A panic ends the job and nothing else.
    pub(super) fn run<T: Send + 'static>(
        self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<Outcome<T>> {
        let (tell, told) = oneshot::channel();
        let tell = Arc::new(Mutex::new(Some(tell)));
        let send = {
            let tell = tell.clone();
            move |outcome: Outcome<T>| {
                let sender = tell.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(sender) = sender {
                    // The waiter may have gone: then nobody needs the outcome.
                    let _ = sender.send(outcome);
                }
            }
        };
        let started = thread::Builder::new().name("accord-turn".into()).stack_size(STACK).spawn({
            let send = send.clone();
            move || {
                let outcome = catch_unwind(AssertUnwindSafe(job)).map_err(|_| JobLost::Panicked);
                self.free();
                send(outcome);
            }
        });
        if started.is_err() {
            send(Err(JobLost::NoThread));
        }
        told
    }

    /// Gives the seat to the next, though the thread may still run: a job that ignores its cancel must not starve others.
    pub(super) fn free(&self) {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // H2
    #[tokio::test]
    async fn a_panic_is_an_outcome_and_frees_the_seat() {
        let workers = Workers::new(1);
        let lost = workers.seat().await.run(|| panic!("on purpose")).await.expect("an outcome");
        assert_eq!(lost, Err::<(), _>(JobLost::Panicked));
        assert_eq!(workers.free(), 1);
        let done = workers.seat().await.run(|| 7).await.expect("an outcome");
        assert_eq!(done, Ok(7));
    }

    #[tokio::test]
    async fn an_abandoned_job_keeps_its_thread_and_gives_its_seat_away() {
        let workers = Workers::new(1);
        let (release, held) = std::sync::mpsc::channel::<()>();
        let seat = workers.seat().await;
        let stuck = seat.clone().run(move || held.recv());
        assert_eq!(workers.free(), 0);
        seat.free();
        let next = workers.seat().await.run(|| "ran").await.expect("an outcome");
        assert_eq!(next, Ok("ran"));
        drop(release);
        assert!(stuck.await.expect("an outcome").expect("no panic").is_err());
        assert_eq!(workers.free(), 1, "a seat is given back once");
    }

    #[tokio::test]
    async fn the_first_to_ask_is_the_first_to_run() {
        let workers = Workers::new(1);
        let first = workers.seat().await;
        let mut waiting = tokio::task::JoinSet::new();
        let (order, ran) = std::sync::mpsc::channel();
        for number in 0..32 {
            let (workers, order) = (workers.clone(), order.clone());
            waiting.spawn(async move {
                let seat = workers.seat().await;
                seat.run(move || order.send(number)).await
            });
            tokio::task::yield_now().await;
        }
        first.free();
        while waiting.join_next().await.is_some() {}
        drop(order);
        assert_eq!(ran.iter().collect::<Vec<i32>>(), (0..32).collect::<Vec<_>>());
    }
}
