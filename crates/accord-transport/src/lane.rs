//! Ordered queues bounded in bytes, and the gate that stops the reading while one of them is full.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Stops the reading while any lane of a connection is full.
///
/// A [`Service`](crate::Service) has one, makes its lanes with it, returns [`Gate::poll_ready`] from its own
/// `poll_ready`, and calls [`Gate::flush`] from its own `flush`.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Mutex<GateState>>);

#[derive(Debug, Default)]
struct GateState {
    full: usize,
    driver: Option<Waker>,
    /// Consumers with something to take, told once a read.
    consumers: Vec<Waker>,
}

impl Gate {
    /// A gate without lanes, which is open.
    pub fn new() -> Self {
        Self::default()
    }

    /// Ready while no lane is full.
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.0);
        if state.full == 0 {
            return Poll::Ready(());
        }
        match &mut state.driver {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Wakes the consumers of what was pushed with [`LaneSender::push_batched`].
    pub fn flush(&self) {
        let consumers = std::mem::take(&mut lock(&self.0).consumers);
        for consumer in consumers {
            consumer.wake();
        }
    }

    fn filled(&self) {
        lock(&self.0).full += 1;
    }

    fn emptied(&self) {
        let mut state = lock(&self.0);
        state.full -= 1;
        let driver = if state.full == 0 { state.driver.take() } else { None };
        drop(state);
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

/// An ordered queue that is full at `limit_bytes`.
///
/// Pushing never waits and never fails: the bound holds because the gate stops the reading.
pub fn lane<T>(gate: &Gate, limit_bytes: usize) -> (LaneSender<T>, LaneReceiver<T>) {
    let lane = Arc::new(Lane { gate: gate.clone(), limit: limit_bytes, state: Mutex::default() });
    (LaneSender(Arc::new(Producer(Arc::clone(&lane)))), LaneReceiver { lane, taken: VecDeque::new() })
}

#[derive(Debug)]
struct Lane<T> {
    gate: Gate,
    limit: usize,
    state: Mutex<LaneState<T>>,
}

#[derive(Debug)]
struct LaneState<T> {
    queue: VecDeque<T>,
    /// Bytes in the queue.
    queued: usize,
    /// Bytes of the batch that the consumer is working through.
    lent: usize,
    full: bool,
    consumer: Option<Waker>,
    /// No producer is left.
    closed: bool,
    /// The consumer is gone.
    discarded: bool,
}

impl<T> Default for LaneState<T> {
    fn default() -> Self {
        Self {
            queue: VecDeque::new(),
            queued: 0,
            lent: 0,
            full: false,
            consumer: None,
            closed: false,
            discarded: false,
        }
    }
}

impl<T> Lane<T> {
    /// Notes whether the lane is full, and tells the gate if that is news.
    fn weigh(&self, state: &mut LaneState<T>) {
        let full = !state.discarded && state.queued + state.lent >= self.limit;
        if full != std::mem::replace(&mut state.full, full) {
            if full { self.gate.filled() } else { self.gate.emptied() }
        }
    }

    fn push(&self, item: T, bytes: usize) -> Option<Waker> {
        let mut state = lock(&self.state);
        if state.discarded {
            return None;
        }
        state.queue.push_back(item);
        state.queued += bytes + size_of::<T>();
        self.weigh(&mut state);
        state.consumer.take()
    }
}

/// The end of a lane that a [`Service`](crate::Service) keeps. The lane ends when the last clone is dropped.
#[derive(Debug)]
pub struct LaneSender<T>(Arc<Producer<T>>);

impl<T> Clone for LaneSender<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> LaneSender<T> {
    /// Appends an item of `bytes` bytes and wakes the consumer. Discards it if the consumer is gone.
    pub fn push(&self, item: T, bytes: usize) {
        if let Some(consumer) = self.0.0.push(item, bytes) {
            consumer.wake();
        }
    }

    /// Appends an item of `bytes` bytes; the consumer is woken by [`Gate::flush`], once for all that gathered.
    pub fn push_batched(&self, item: T, bytes: usize) {
        if let Some(consumer) = self.0.0.push(item, bytes) {
            lock(&self.0.0.gate.0).consumers.push(consumer);
        }
    }

    /// Whether the consumer is gone.
    pub fn is_discarded(&self) -> bool {
        lock(&self.0.0.state).discarded
    }
}

#[derive(Debug)]
struct Producer<T>(Arc<Lane<T>>);

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.closed = true;
        let consumer = state.consumer.take();
        drop(state);
        if let Some(consumer) = consumer {
            consumer.wake();
        }
    }
}

/// The end of a lane that a consumer takes from. Dropping it discards what is queued and what is still to come.
#[derive(Debug)]
pub struct LaneReceiver<T> {
    lane: Arc<Lane<T>>,
    taken: VecDeque<T>,
}

impl<T> LaneReceiver<T> {
    /// The next item, or nothing once the lane has ended.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn next(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next item, as [`LaneReceiver::next`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if let Some(item) = self.take() {
            return Poll::Ready(Some(item));
        }
        let mut state = lock(&self.lane.state);
        std::mem::swap(&mut state.queue, &mut self.taken);
        state.lent = std::mem::take(&mut state.queued);
        self.lane.weigh(&mut state);
        if self.taken.is_empty() && !state.closed {
            state.consumer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(state);
        Poll::Ready(self.take())
    }

    /// An item of the last batch. With the last of them the batch is used up: a consumer that then waits for
    /// something else must not hold up the reading.
    fn take(&mut self) -> Option<T> {
        let item = self.taken.pop_front()?;
        if self.taken.is_empty() {
            self.used_up();
        }
        Some(item)
    }

    fn used_up(&self) {
        let mut state = lock(&self.lane.state);
        state.lent = 0;
        self.lane.weigh(&mut state);
    }

    /// Everything that is there, at least one item, or nothing once the lane has ended.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn next_batch(&mut self) -> Option<VecDeque<T>> {
        let first = self.next().await?;
        self.taken.push_front(first);
        self.used_up();
        Some(std::mem::take(&mut self.taken))
    }

    /// An item that is there already.
    pub fn try_next(&mut self) -> Option<T> {
        match self.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(item) => item,
            Poll::Pending => None,
        }
    }
}

impl<T> Drop for LaneReceiver<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.lane.state);
        state.discarded = true;
        let queue = std::mem::take(&mut state.queue);
        self.lane.weigh(&mut state);
        drop(state);
        drop(queue);
    }
}

/// Nothing panics while one of these locks is held, so a poisoned one is still good.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
