//! What handles, calls and the driver share: the peer, behind one short lock.
//!
//! The same lock orders everything that is written, so the order of the calls is the order on the wire. Nothing is
//! awaited, and no code of the embedder but `Serialize` runs, while it is held.

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
    watchers: Watchers,
    wanted: Wanted,
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
            watchers: Watchers::default(),
            wanted: Wanted::default(),
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
            if self.want_room() {
                notified.await;
            }
        }
    }

    pub(crate) fn send_if_room<T>(&self, act: impl FnOnce(&mut State) -> T) -> Option<T> {
        self.send(|state| (!self.is_full(state)).then(|| act(state)))
    }

    /// Whether there is no room; then the next that is made is told.
    fn want_room(&self) -> bool {
        let mut state = self.lock();
        let full = self.is_full(&state);
        state.wanted.room |= full;
        full
    }

    fn is_full(&self, state: &State) -> bool {
        state.peer.output_len() >= self.high_water && state.end.is_none() && !state.closing
    }

    pub(crate) fn notify_now(&self, method: &str, params: &impl Serialize) -> Result<(), CallError> {
        self.send(|state| state.peer.notify(method, params)).map_err(|error| self.unsent(error))
    }

    pub(crate) fn answer(&self, key: CallKey, outcome: Result<&impl Serialize, &rpc::Error>) {
        self.send(|state| {
            state.watchers.take(key);
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
                state.watchers.watch(key)
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
        let watcher = self.lock().watchers.take(key);
        if let Some(watcher) = watcher {
            watcher.notify_waiters();
        }
    }

    /// Resolves when all that was queued before is written, or the connection has ended.
    pub(crate) async fn flushed(&self) {
        loop {
            let notified = self.drained.notified();
            {
                let mut state = self.lock();
                if state.is_drained() {
                    return;
                }
                state.wanted.drain = true;
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

    /// Takes what is to be written; the driver has written all that it took before. `spare` must be empty.
    pub(crate) fn take_output(&self, spare: Vec<u8>) -> Vec<u8> {
        let mut state = self.lock();
        let output = state.peer.take_output(spare);
        state.writing = !output.is_empty();
        self.made_room(state);
        output
    }

    /// Nothing can be written any more.
    pub(crate) fn discard_output(&self) {
        let mut state = self.lock();
        drop(state.peer.take_output(Vec::new()));
        state.writing = false;
        self.made_room(state);
    }

    /// Tells who waits for room in the output, or for everything to be written.
    fn made_room(&self, mut state: MutexGuard<'_, State>) {
        let room = std::mem::take(&mut state.wanted.room);
        let drained = state.is_drained() && std::mem::take(&mut state.wanted.drain);
        drop(state);
        if room {
            self.room.notify_waiters();
        }
        if drained {
            self.drained.notify_waiters();
        }
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
        for (_, watcher) in watchers.0 {
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

    pub(crate) fn unsent(&self, error: SendError) -> CallError {
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

/// What somebody waits for.
#[derive(Debug, Default)]
struct Wanted {
    /// Room in the output.
    room: bool,
    /// That everything has been written.
    drain: bool,
}

/// Who is told when a call is cancelled. Few calls are watched at once, so they are looked for one by one.
#[derive(Debug, Default)]
struct Watchers(Vec<(CallKey, Arc<Notify>)>);

impl Watchers {
    fn watch(&mut self, key: CallKey) -> Arc<Notify> {
        if let Some((_, watcher)) = self.0.iter().find(|(watched, _)| *watched == key) {
            return Arc::clone(watcher);
        }
        let watcher = Arc::default();
        self.0.push((key, Arc::clone(&watcher)));
        watcher
    }

    fn take(&mut self, key: CallKey) -> Option<Arc<Notify>> {
        let place = self.0.iter().rposition(|(watched, _)| *watched == key)?;
        Some(self.0.swap_remove(place).1)
    }
}
