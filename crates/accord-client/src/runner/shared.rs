//! What a runner's handles share: its state, its one running prompt, its agent.

use std::{
    future::{Future, pending},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use accord_protocol::v1::StopReason;
use accord_transport::{Gate, LaneSender, Lost};
use tokio::{
    sync::{oneshot, watch},
    task::AbortHandle,
    time::{sleep, timeout},
};

use super::{AnswerError, Decision, RunError, RunnerState, builder::Plan, desk::Desk};
use crate::{
    Client, Error, Session, TurnError,
    elicitation::InputReply,
    events::CloseReason,
    router::Asks,
    session::{Item, TurnKey},
};

/// How long the last events are waited for.
const TELL_GRACE: Duration = Duration::from_secs(1);

/// What a runner's handles share.
pub(super) struct Shared {
    pub(super) plan: Arc<Plan>,
    pub(super) gate: Gate,
    pub(super) feed: LaneSender<Item>,
    pub(super) asks: Arc<Asks>,
    pub(super) desk: Mutex<Desk>,
    pub(super) state: watch::Sender<RunnerState>,
    /// Its other end is the teller's, and goes with it.
    telling: watch::Receiver<()>,
    /// How many prompts were let in; the last of them is the one that runs, if one does.
    entered: AtomicU64,
    inner: Mutex<Inner>,
}

#[derive(Default)]
pub(super) struct Inner {
    pub(super) client: Option<Client>,
    pub(super) session: Option<Session>,
    /// Told when the opening that is under way is over.
    pub(super) opening: Option<watch::Receiver<Option<Result<Session, RunError>>>>,
    pub(super) opening_task: Option<AbortHandle>,
    /// The agent could not be started, and is not tried again.
    pub(super) failed: Option<RunError>,
    /// Connections whose end is no end of the runner: a login is going to make another.
    pub(super) replaced: usize,
    run: Option<Run>,
}

/// Whoever waits for a prompt's outcome.
pub(super) type Caller = oneshot::Sender<Result<StopReason, RunError>>;

/// The prompt that is being run.
struct Run {
    number: u64,
    /// Its turn, once it was admitted.
    key: Option<TurnKey>,
    early: watch::Sender<bool>,
    outcome: Option<Caller>,
}

/// The right to run a prompt. Dropped before the outcome is there, it interrupts the turn.
pub(super) struct Running {
    shared: Arc<Shared>,
    number: u64,
    early: watch::Receiver<bool>,
    outcome: Option<oneshot::Receiver<Result<StopReason, RunError>>>,
}

impl Shared {
    pub(super) fn new(
        plan: Arc<Plan>,
        gate: Gate,
        feed: LaneSender<Item>,
        telling: watch::Receiver<()>,
    ) -> Self {
        let asks = Arc::new(Asks::new(Some(feed.clone())));
        let state = watch::Sender::new(RunnerState::Idle);
        Self {
            plan,
            gate,
            feed,
            asks,
            desk: Mutex::default(),
            state,
            telling,
            entered: AtomicU64::default(),
            inner: Mutex::default(),
        }
    }

    pub(super) fn feed(&self) -> LaneSender<Item> {
        self.feed.clone()
    }

    pub(super) fn watch(&self) -> watch::Receiver<RunnerState> {
        self.state.subscribe()
    }

    pub(super) fn client(&self) -> Option<Client> {
        self.lock().client.clone()
    }

    pub(super) fn open_session(&self) -> Option<Session> {
        self.lock().session.clone()
    }

    /// Takes the runner for one prompt.
    ///
    /// The prompt is there before anybody can see that one runs: whoever sees that may interrupt it at once.
    pub(super) fn enter(self: &Arc<Self>) -> Result<Running, RunError> {
        let (early_sender, early) = watch::channel(false);
        let (outcome_sender, outcome) = oneshot::channel();
        let mut inner = self.lock();
        if inner.run.is_some() {
            return Err(RunError::AlreadyRunning);
        }
        let number = self.entered.fetch_add(1, Ordering::SeqCst) + 1;
        inner.run = Some(Run { number, key: None, early: early_sender, outcome: Some(outcome_sender) });
        drop(inner);
        let entered = self.step(|state| match state {
            // The one before has left and has not said so yet.
            RunnerState::Idle | RunnerState::Running => Ok(RunnerState::Running),
            RunnerState::Closing => Err(RunError::Closing),
            RunnerState::Closed(reason) => Err(RunError::Closed(reason)),
        });
        if entered.is_err() {
            self.lock().run = None;
        }
        entered.map(|()| Running { shared: Arc::clone(self), number, early, outcome: Some(outcome) })
    }

    /// The turn was admitted: it is told as started, unless it was interrupted before. False if it was.
    pub(super) fn started(&self, key: TurnKey) -> bool {
        let mut inner = self.lock();
        match &mut inner.run {
            Some(run) if !*run.early.borrow() => {
                run.key = Some(key);
                self.feed.push(Item::Started(key), 0);
                true
            }
            _ => false,
        }
    }

    fn was_started(&self, number: u64) -> bool {
        self.lock().run.as_ref().is_some_and(|run| run.number == number && run.key.is_some())
    }

    /// A turn that was told as started could not be sent after all.
    pub(super) fn unsent(&self, key: TurnKey, error: Error) {
        self.feed.push(Item::Unsent(key, error), 0);
    }

    /// The turn is over. The runner is free before anybody is told of it, so that whoever is told may prompt anew at once.
    /// Gives whoever still waits for its outcome.
    pub(super) fn release(&self, key: TurnKey) -> Option<Caller> {
        self.free(|run| run.key == Some(key))?.outcome
    }

    /// Takes the prompt that is being run, if it is the one that is meant; the next may come.
    fn free(&self, is_meant: impl FnOnce(&Run) -> bool) -> Option<Run> {
        let run = self.lock().run.take_if(|run| is_meant(run))?;
        // Not under the lock: whoever is woken may come in at once. So somebody may have come in before this, too.
        let _: Result<(), ()> = self.step(|state| match state {
            RunnerState::Running if self.entered.load(Ordering::SeqCst) == run.number => {
                Ok(RunnerState::Idle)
            }
            _ => Err(()),
        });
        Some(run)
    }

    pub(super) fn interrupt(&self) {
        let (session, key) = {
            let inner = self.lock();
            let Some(run) = &inner.run else { return };
            if run.key.is_none() {
                run.early.send_replace(true);
            }
            (inner.session.clone(), run.key)
        };
        if let (Some(session), Some(key)) = (session, key) {
            // Before its caller learns of the end, who may prompt anew at once.
            session.cancel_turn(key);
        }
        // Also what belongs to no session, such as a form about the opening.
        self.asks.cancel_everything();
        let mut inner = self.lock();
        if let (Some(run), Some(key)) = (&mut inner.run, key)
            && run.key == Some(key)
            && run.finish(Ok(StopReason::Cancelled))
        {
            // Under the lock, so that no later turn is told as started before.
            self.feed.push(Item::Interrupted(key), 0);
        }
    }

    pub(super) fn answer_approval(&self, id: &str, decision: &Decision) -> Result<(), AnswerError> {
        let (key, reply) = self.desk().decide(id, decision)?;
        if self.asks.answer(key, reply) { Ok(()) } else { Err(AnswerError::NotOpen { id: id.to_owned() }) }
    }

    pub(super) fn answer_input(&self, id: &str, reply: InputReply) -> Result<(), AnswerError> {
        let (key, reply) = self.desk().fill(id, reply)?;
        if self.asks.answer(key, reply) { Ok(()) } else { Err(AnswerError::NotOpen { id: id.to_owned() }) }
    }

    pub(super) async fn dispose(self: &Arc<Self>) -> CloseReason {
        let first = self.step(|state| match state {
            RunnerState::Idle | RunnerState::Running => Ok(RunnerState::Closing),
            RunnerState::Closing | RunnerState::Closed(_) => Err(()),
        });
        if first.is_ok() {
            self.interrupt();
            self.asks.cancel_everything();
            let client = {
                let mut inner = self.lock();
                if let Some(task) = inner.opening_task.take() {
                    task.abort();
                }
                // Nobody is going to make another connection.
                inner.replaced = 0;
                inner.client.clone()
            };
            let shared = Arc::clone(self);
            // A task of its own, so that it goes on when nobody waits for it.
            tokio::spawn(async move {
                let end = match client {
                    Some(client) => Some(client.close().await),
                    None => None,
                };
                // A connection told its own end, unless there was none yet, or a login had ended it; told twice, it
                // counts once.
                shared.feed.push(Item::Gone(end), 0);
                shared.close(CloseReason::Killed);
            });
        }
        let reason = self.closed().await;
        // The last events are told before this returns, unless whoever takes them has stopped taking.
        let mut telling = self.telling.clone();
        let _ = timeout(TELL_GRACE, async { while telling.changed().await.is_ok() {} }).await;
        reason
    }

    /// The runner is closed. The first reason wins.
    pub(super) fn close(&self, reason: CloseReason) -> CloseReason {
        let mut first = reason;
        self.state.send_if_modified(|state| match state {
            RunnerState::Closed(known) => {
                first = *known;
                false
            }
            open => {
                *open = RunnerState::Closed(reason);
                true
            }
        });
        let mut inner = self.lock();
        if let Some(run) = &mut inner.run {
            run.finish(Err(RunError::Closed(first)));
        }
        first
    }

    pub(super) async fn closed(&self) -> CloseReason {
        let mut state = self.watch();
        loop {
            if let RunnerState::Closed(reason) = *state.borrow_and_update() {
                return reason;
            }
            // The sender lives in `self`, so there is a change to come.
            if state.changed().await.is_err() {
                return CloseReason::Killed;
            }
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        // Every change under the lock is whole before anything in it could panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One step of the state, or the reason why there is none.
    fn step<E>(&self, step: impl FnOnce(RunnerState) -> Result<RunnerState, E>) -> Result<(), E> {
        let mut refused = Ok(());
        self.state.send_if_modified(|state| match step(*state) {
            Ok(next) => std::mem::replace(state, next) != next,
            Err(refusal) => {
                refused = Err(refusal);
                false
            }
        });
        refused
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = inner.opening_task.take() {
            task.abort();
        }
        if inner.client.as_ref().is_none_or(Client::is_closed) {
            // There is no connection whose end would be told.
            self.feed.push(Item::Gone(None), 0);
        }
    }
}

impl Run {
    /// Tells the caller, once. False if it was told before.
    fn finish(&mut self, outcome: Result<StopReason, RunError>) -> bool {
        // A caller that is gone has interrupted the turn already.
        self.outcome.take().is_some_and(|caller| caller.send(outcome).is_ok())
    }
}

impl Running {
    /// Ready when the turn is interrupted before it is admitted.
    pub(super) fn interrupted_early(&self) -> impl Future<Output = ()> + use<> {
        let mut early = self.early.clone();
        async move {
            if early.wait_for(|interrupted| *interrupted).await.is_err() {
                pending::<()>().await;
            }
        }
    }

    pub(super) async fn outcome(mut self) -> Result<StopReason, RunError> {
        let Some(outcome) = &mut self.outcome else { return Err(RunError::Closing) };
        let client = self.shared.client();
        let outcome = tokio::select! {
            biased;
            outcome = outcome => outcome.unwrap_or(Err(RunError::Closed(CloseReason::Crashed))),
            // Whoever takes the events has stopped taking them, and nothing else will come any more.
            lost = lost(client) => Err(TurnError::Lost(lost).into()),
        };
        self.outcome = None;
        outcome
    }
}

/// The end of the connection, once there was time to tell of it.
async fn lost(client: Option<Client>) -> Lost {
    let Some(client) = client else { return pending().await };
    let end = client.closed().await;
    sleep(TELL_GRACE).await;
    Lost(end)
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.outcome.is_some() && self.shared.was_started(self.number) {
            self.shared.interrupt();
        }
        self.shared.free(|run| run.number == self.number);
    }
}
