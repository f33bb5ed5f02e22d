//! What the router and the handles share of one session: its turn, its lanes, what is known of it.
//!
//! One short lock, since the driver's task and the callers' tasks meet here. Nothing is awaited while it is held.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use accord_protocol::{
    open::Maybe,
    v1::{ElicitationId, PromptResponse, SessionConfigOption, SessionId, SessionModeState, SessionUpdate},
};
use accord_transport::{CallError, End, LaneSender};
use serde_json::value::RawValue;
use tokio::{sync::watch, time::Instant};

use super::turns::{Cancel, TurnKey, Turns};
use crate::{
    Error, Limit, SessionState, SessionStatus,
    router::{AskKey, Settlement},
};

/// One thing that a session's consumer learns, in the order of the wire.
#[derive(Debug)]
pub(crate) enum Item {
    /// The agent sent an update.
    Update(Received),
    /// The agent asks something.
    Asked(AskKey),
    /// What it asked has its answer.
    Settled(AskKey, Settlement),
    /// The agent says that what a page was visited for is done.
    Visited(ElicitationId),
    /// A turn is about to be sent.
    Started(TurnKey),
    /// The caller of a turn no longer waits for it.
    Interrupted(TurnKey),
    /// The turn was answered, or can no longer be.
    Ended {
        turn: TurnKey,
        outcome: Result<PromptResponse, CallError>,
        /// Whether it had been cancelled on this side.
        cancelled: bool,
    },
    /// The grace after a cancel is over.
    Overdue(TurnKey),
    /// A limit of the turn passed.
    Expired(TurnKey, Limit),
    /// A turn that was started was not sent.
    Unsent(TurnKey, Error),
    /// The session was closed.
    Closed,
    /// The connection is gone.
    Gone(Option<End>),
}

/// An update with what is known of its place.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) session: SessionId,
    pub(crate) update: SessionUpdate,
    pub(crate) turn: Option<TurnKey>,
    pub(crate) replay: bool,
    pub(crate) raw: Option<Box<RawValue>>,
}

/// What the router and the handles share of one session.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) id: SessionId,
    status: watch::Sender<SessionStatus>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    turns: Turns,
    state: SessionState,
    /// The session's folder and its additional ones: what the agent may be let into.
    roots: Vec<PathBuf>,
    /// Where updates go between turns.
    idle: LaneSender<Item>,
    turn: Option<LaneSender<Item>>,
    replay: Option<LaneSender<Item>>,
    last_heard: Instant,
    /// How many are opening it.
    openers: usize,
    /// The agent has opened it.
    is_open: bool,
}

impl Live {
    /// A session that somebody is opening.
    pub(crate) fn new(id: SessionId, roots: Vec<PathBuf>, idle: LaneSender<Item>) -> Self {
        let inner = Inner {
            turns: Turns::default(),
            state: SessionState::default(),
            roots,
            idle,
            turn: None,
            replay: None,
            last_heard: Instant::now(),
            openers: 1,
            is_open: false,
        };
        Self { id, status: watch::Sender::new(SessionStatus::Idle), inner: Mutex::new(inner) }
    }

    /// Takes an update to whoever consumes it now.
    pub(crate) fn receive(&self, update: SessionUpdate, raw: Option<Box<RawValue>>, bytes: usize) {
        let mut inner = self.lock();
        inner.state.apply(&update);
        inner.last_heard = Instant::now();
        let turn = inner.turns.key();
        let (lane, replay) = match (&inner.replay, &inner.turn) {
            (Some(replay), _) => (replay, true),
            (None, Some(turn)) => (turn, false),
            (None, None) => (&inner.idle, false),
        };
        lane.push_batched(
            Item::Update(Received { session: self.id.clone(), update, turn, replay, raw }),
            bytes,
        );
    }

    /// Opens a turn whose updates and end go to `lane`.
    pub(crate) fn begin_turn(&self, lane: LaneSender<Item>) -> Result<TurnKey, SessionStatus> {
        let mut inner = self.lock();
        let key = inner.turns.begin()?;
        inner.turn = Some(lane);
        inner.last_heard = Instant::now();
        self.tell_status(&inner);
        Ok(key)
    }

    /// The prompt was handed to the connection. True if a cancel came first and must be sent after it.
    pub(crate) fn turn_sent(&self, key: TurnKey) -> bool {
        self.lock().turns.sent(key)
    }

    /// The turn's answer is the last item of its lane, so it cannot overtake an update.
    pub(crate) fn end_turn(&self, key: TurnKey, outcome: Result<PromptResponse, CallError>) {
        let mut inner = self.lock();
        if let Some(cancelled) = inner.turns.end(key) {
            if let Some(lane) = inner.turn.take() {
                lane.push(Item::Ended { turn: key, outcome, cancelled }, 0);
            }
            self.tell_status(&inner);
        }
    }

    /// The turn's prompt was never sent, so nobody will answer it.
    pub(crate) fn drop_turn(&self, key: TurnKey) {
        let mut inner = self.lock();
        if inner.turns.end(key).is_some() {
            inner.turn = None;
            self.tell_status(&inner);
        }
    }

    /// Cancels the open turn, if there is one that was not cancelled yet; if `only` says which, no other.
    pub(crate) fn cancel_turn(&self, only: Option<TurnKey>) -> Cancel {
        let mut inner = self.lock();
        let cancel = inner.turns.cancel(only);
        self.tell_status(&inner);
        cancel
    }

    /// The grace after a cancel is over: whoever waits for the turn's end is told, if it has not come.
    pub(crate) fn overdue(&self, key: TurnKey) {
        let mut inner = self.lock();
        if inner.turns.overdue(key) {
            inner.current_lane().push(Item::Overdue(key), 0);
            self.tell_status(&inner);
        }
    }

    /// A limit of the turn passed: whoever waits for its end is told, if it has not come, and it is cancelled in the same
    /// step, so that nobody who was told finds it running.
    pub(crate) fn expire(&self, key: TurnKey, limit: Limit) -> Cancel {
        let mut inner = self.lock();
        if inner.turns.key() != Some(key) {
            return Cancel::Nothing;
        }
        inner.current_lane().push(Item::Expired(key, limit), 0);
        let cancel = inner.turns.cancel(Some(key));
        self.tell_status(&inner);
        cancel
    }

    /// From now on updates are history, and go to `lane`.
    pub(crate) fn begin_replay(&self, lane: LaneSender<Item>) {
        self.lock().replay = Some(lane);
    }

    /// What comes from now on is no history any more.
    pub(crate) fn end_replay(&self) {
        self.lock().replay = None;
    }

    /// One more opens it.
    pub(crate) fn begin_opening(&self) {
        self.lock().openers += 1;
    }

    /// One opening is over. True if nobody opens it any more and nobody has.
    pub(crate) fn end_opening(&self) -> bool {
        let mut inner = self.lock();
        inner.openers -= 1;
        inner.openers == 0 && !inner.is_open
    }

    /// The agent has opened it, and says so much of it.
    pub(crate) fn opened(&self, modes: Maybe<SessionModeState>, options: Maybe<Vec<SessionConfigOption>>) {
        let mut inner = self.lock();
        inner.is_open = true;
        if let Some(modes) = modes.into_option() {
            inner.state.modes = Some(modes);
        }
        if let Some(options) = options.into_option() {
            inner.state.config_options = options;
        }
    }

    pub(crate) fn begin_close(&self) -> bool {
        let mut inner = self.lock();
        let may = inner.turns.closing();
        self.tell_status(&inner);
        may
    }

    pub(crate) fn refuse_close(&self) {
        let mut inner = self.lock();
        inner.turns.close_refused();
        self.tell_status(&inner);
    }

    /// The session is closed, or the connection is gone.
    pub(crate) fn closed(&self) {
        let mut inner = self.lock();
        inner.turns.closed();
        for lane in [Some(&inner.idle), inner.turn.as_ref(), inner.replay.as_ref()].into_iter().flatten() {
            lane.push(Item::Closed, 0);
        }
        self.tell_status(&inner);
    }

    pub(crate) fn status(&self) -> SessionStatus {
        *self.status.borrow()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<SessionStatus> {
        self.status.subscribe()
    }

    pub(crate) fn is_cancelling(&self) -> bool {
        self.lock().turns.is_cancelling()
    }

    /// Whether the turn is open and was not cancelled.
    pub(crate) fn is_running(&self, key: TurnKey) -> bool {
        let inner = self.lock();
        inner.turns.key() == Some(key) && !inner.turns.is_cancelling()
    }

    /// Waits until the turn is cancelled or over.
    pub(crate) async fn until_cancelled(&self, key: TurnKey) {
        let mut status = self.watch();
        while self.is_running(key) {
            if status.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until the turn is over. The lock is never taken while the status is looked at, which would turn around the
    /// order in which [`Live::tell_status`] takes the two.
    pub(crate) async fn until_ended(&self, key: TurnKey) {
        let mut status = self.watch();
        while self.lock().turns.key() == Some(key) {
            if status.changed().await.is_err() {
                return;
            }
        }
    }

    pub(crate) fn last_heard(&self) -> Instant {
        self.lock().last_heard
    }

    pub(crate) fn heard(&self) {
        self.lock().last_heard = Instant::now();
    }

    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        self.lock().roots.clone()
    }

    pub(crate) fn set_roots(&self, roots: Vec<PathBuf>) {
        self.lock().roots = roots;
    }

    pub(crate) fn state(&self) -> SessionState {
        self.lock().state.clone()
    }

    pub(crate) fn with_state<T>(&self, use_it: impl FnOnce(&mut SessionState) -> T) -> T {
        use_it(&mut self.lock().state)
    }

    fn tell_status(&self, inner: &Inner) {
        let status = inner.turns.status();
        self.status.send_if_modified(|told| std::mem::replace(told, status) != status);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change under the lock is whole before anything in it could panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn current_lane(&self) -> &LaneSender<Item> {
        self.turn.as_ref().unwrap_or(&self.idle)
    }
}
