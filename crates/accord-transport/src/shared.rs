//! What handles, calls and the driver share: the peer, behind one short lock.
//!
//! The same lock orders everything that is written, so the order of the calls is the order on the wire. Nothing is
//! awaited, and no code of the embedder but `Serialize` runs, while it is held.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use accord_peer::{CallKey, Peer, RequestKey, SendError};
use accord_protocol::rpc;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{Notify, watch};

use crate::pending::Waiter;
use crate::trace_context::Source;
use crate::{CallError, Cause, End, Lost, Options};

#[derive(Debug)]
pub(crate) struct Shared {
    state: Mutex<State>,
    high_water: usize,
    trace: Option<Source>,
    /// Told when the output was taken: senders that wait look again.
    room: Notify,
    /// Told when everything that was queued has been written.
    drained: Notify,
    end: watch::Sender<Option<End>>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) peer: Peer<Waiter>,
    /// The driver's, while it sleeps.
    waker: Option<Waker>,
    /// Whether bytes that were taken from the peer's output are not written yet.
    pub(crate) writing: bool,
    /// Whether this side wants the connection to end once everything is written.
    pub(crate) closing: bool,
    /// Requests whose answers are not to wait for a full lane.
    pub(crate) pressing: usize,
    /// How the connection ended, as far as it is known.
    pub(crate) end: Option<End>,
    /// Calls whose cancellation somebody waits for.
    watchers: BTreeMap<CallKey, Arc<Notify>>,
    pub(crate) pid: Option<u32>,
    /// News for the driver: the process at the other end is gone.
    pub(crate) exited: bool,
}

impl Shared {
    pub(crate) fn new(options: &Options) -> Self {
        let state = State {
            peer: Peer::new(options.peer()),
            waker: None,
            writing: false,
            closing: false,
            pressing: 0,
            end: None,
            watchers: BTreeMap::new(),
            pid: None,
            exited: false,
        };
        Self {
            state: Mutex::new(state),
            high_water: options.high_water,
            trace: options.trace.clone(),
            room: Notify::new(),
            drained: Notify::new(),
            end: watch::Sender::new(None),
        }
    }

    /// The params with a trace context in them, where one is asked for.
    pub(crate) fn stamp(&self, params: &impl Serialize) -> Option<Box<RawValue>> {
        self.trace.as_ref()?.stamp(params)
    }

    /// A panic in somebody's `Serialize` leaves the state whole, so a poisoned lock is still good.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that may leave output, and wakes the driver if it is the first since it took the last.
    fn send<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let before = state.peer.output_len();
        let result = act(&mut state);
        let waker = if before == 0 && state.peer.output_len() > 0 { state.waker.take() } else { None };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        result
    }

    /// Wakes the driver.
    pub(crate) fn wake(&self) {
        let waker = self.lock().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Waits until there is room in the output, or the connection has ended, and does `act` there.
    pub(crate) async fn send_with_room<T>(
        &self,
        mut act: impl FnMut(&mut State) -> Result<T, SendError>,
    ) -> Result<T, CallError> {
        loop {
            if let Some(done) = self.send_if_room(&mut act) {
                return done.map_err(|error| self.unsent(error));
            }
            let notified = self.room.notified();
            if self.is_full(&self.lock()) {
                notified.await;
            }
        }
    }

    fn send_if_room<T>(&self, act: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.send(|state| (!self.is_full(state)).then(|| act(state)))
    }

    fn is_full(&self, state: &State) -> bool {
        state.peer.output_len() >= self.high_water && state.end.is_none() && !state.closing
    }

    pub(crate) fn notify_now(&self, method: &str, params: &impl Serialize) -> Result<(), CallError> {
        self.send(|state| state.peer.notify(method, params)).map_err(|error| self.unsent(error))
    }

    pub(crate) fn answer(&self, key: CallKey, outcome: Result<&impl Serialize, &rpc::Error>) {
        self.send(|state| {
            state.watchers.remove(&key);
            state.peer.answer(key, outcome)
        });
    }

    pub(crate) fn cancel(&self, key: RequestKey) {
        self.send(|state| state.peer.cancel(key));
    }

    pub(crate) fn abandon(&self, key: RequestKey) {
        let waiter = self.send(|state| {
            let waiter = state.peer.abandon(key);
            if let Some(waiter) = &waiter {
                state.settled(waiter);
            }
            waiter
        });
        drop(waiter);
    }

    /// Resolves when the peer no longer wants the answer to this call, or is gone.
    pub(crate) async fn cancelled(&self, key: CallKey) {
        loop {
            let notify = {
                let mut state = self.lock();
                if state.peer.is_cancelled(key) {
                    return;
                }
                Arc::clone(state.watchers.entry(key).or_default())
            };
            let notified = notify.notified();
            if self.lock().peer.is_cancelled(key) {
                return;
            }
            notified.await;
        }
    }

    /// The peer no longer wants the answer to this call.
    pub(crate) fn tell_cancelled(&self, key: CallKey) {
        let watcher = self.lock().watchers.remove(&key);
        if let Some(watcher) = watcher {
            watcher.notify_waiters();
        }
    }

    /// Resolves when all that was queued before is written, or the connection has ended.
    pub(crate) async fn flushed(&self) {
        loop {
            let notified = self.drained.notified();
            if self.lock().is_drained() {
                return;
            }
            notified.await;
        }
    }

    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.wake();
        self.room.notify_waiters();
    }

    /// The process at the other end is gone.
    pub(crate) fn process_exited(&self) {
        self.lock().exited = true;
        self.wake();
    }

    /// Told by the driver: the output was taken.
    pub(crate) fn made_room(&self) {
        self.room.notify_waiters();
    }

    /// Told by the driver: everything was written.
    pub(crate) fn all_written(&self) {
        self.drained.notify_waiters();
    }

    /// The input has ended: what is pending fails, open calls are cancelled and can still be answered.
    pub(crate) fn deafen(&self, end: &End) {
        self.fail(end, |state| {
            state.end.get_or_insert_with(|| end.clone());
            state.peer.receive_eof().collect()
        });
    }

    /// What is pending fails, and nothing more is sent, although the process may still be there.
    pub(crate) fn lose(&self, end: &End) {
        self.fail(end, |state| {
            state.end.get_or_insert_with(|| end.clone());
            state.peer.end().collect()
        });
    }

    /// The end is known and final.
    pub(crate) fn finish(&self, end: &End) {
        self.lose(end);
        self.lock().end = Some(end.clone());
        self.end.send_if_modified(|known| {
            let first = known.is_none();
            known.get_or_insert_with(|| end.clone());
            first
        });
    }

    fn fail(&self, end: &End, act: impl FnOnce(&mut State) -> Vec<Waiter>) {
        let mut state = self.lock();
        let waiters = act(&mut state);
        state.pressing = 0;
        let watchers = std::mem::take(&mut state.watchers);
        drop(state);
        for waiter in waiters {
            waiter.lost(end);
        }
        for watcher in watchers.into_values() {
            watcher.notify_waiters();
        }
        self.room.notify_waiters();
        self.drained.notify_waiters();
    }

    pub(crate) fn is_over(&self) -> bool {
        let state = self.lock();
        state.end.is_some() || state.closing
    }

    pub(crate) async fn ended(&self) -> End {
        let mut end = self.end.subscribe();
        loop {
            if let Some(end) = end.borrow_and_update().clone() {
                return end;
            }
            // The sender lives in `self`, so a change is bound to come first.
            if end.changed().await.is_err() {
                return self.known_end();
            }
        }
    }

    /// How it ended, as far as it is known already.
    fn known_end(&self) -> End {
        self.lock().end.clone().unwrap_or_else(|| End::new(Cause::Closed, None))
    }

    fn unsent(&self, error: SendError) -> CallError {
        CallError::unsent(error, || self.known_end())
    }

    pub(crate) fn lost(&self) -> Lost {
        Lost(self.known_end())
    }
}

impl State {
    fn is_drained(&self) -> bool {
        self.end.is_some() || (self.peer.output_len() == 0 && !self.writing)
    }

    /// A request has its outcome, or nobody waits for it any more.
    pub(crate) fn settled(&mut self, waiter: &Waiter) {
        if waiter.pressing {
            self.pressing = self.pressing.saturating_sub(1);
        }
    }

    /// The driver goes to sleep.
    pub(crate) fn sleep(&mut self, waker: &Waker) {
        self.waker = Some(waker.clone());
    }
}
