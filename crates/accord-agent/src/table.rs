//! The table of a connection's sessions: who is open, whose turn runs, and in which order calls about one session start.

use std::{
    collections::HashMap,
    mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use accord_protocol::v1::SessionId;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::{session::Entry, turn::Running};

/// The sessions of one connection.
#[derive(Debug, Default)]
pub(crate) struct Table {
    lines: Mutex<HashMap<SessionId, Line>>,
}

/// One session id: what is open under it, and who waits in line.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The open session; a closed one that is loaded again gets a new entry.
    pub(crate) open: Option<Arc<Entry>>,
    /// The one turn that may run. It is here from the moment its request was read until its answer is written.
    pub(crate) turn: Option<Arc<Running>>,
    /// The loads and resumes that were sent since the last close or delete, while there are any.
    opening: Weak<Opening>,
    /// Done when the call before the next one is.
    last: Option<Before>,
    tickets: usize,
}

/// Calls that open a session, and that what is sent behind them may make pointless.
#[derive(Debug, Default)]
pub(crate) struct Opening {
    given_up: CancellationToken,
    was_given_up: AtomicBool,
}

impl Opening {
    /// Returns when the calls are to be given up.
    pub(crate) async fn given_up(&self) {
        self.given_up.cancelled().await;
        self.was_given_up.store(true, Ordering::Relaxed);
    }

    /// Whether one of the calls was given up because it was to be.
    pub(crate) fn was_given_up(&self) -> bool {
        self.was_given_up.load(Ordering::Relaxed)
    }
}

impl Table {
    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Line>> {
        // Nothing of a user's runs while the lock is held.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn open(&self, id: &SessionId) -> Option<Arc<Entry>> {
        self.lock().get(id)?.open.clone()
    }

    /// The next place in the line of a session that is known.
    pub(crate) fn queue(self: &Arc<Self>, id: &SessionId) -> Option<Ticket> {
        Some(self.lock().get_mut(id)?.ticket(self, id))
    }

    /// Puts an opened session in, and takes out the one that was there under the same id.
    pub(crate) fn put(&self, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        self.lock().entry(entry.id.clone()).or_default().open.replace(entry)
    }

    /// Takes a session out.
    pub(crate) fn take(&self, id: &SessionId) -> Option<Arc<Entry>> {
        let mut lines = self.lock();
        let line = lines.get_mut(id)?;
        let entry = line.open.take();
        if line.is_idle() {
            lines.remove(id);
        }
        entry
    }

    /// Takes every session out, cancels every turn and gives up every question: the connection is gone, or about to go.
    pub(crate) fn take_all(&self) -> Vec<Arc<Entry>> {
        let mut lines = self.lock();
        let entries = lines
            .values_mut()
            .filter_map(|line| {
                line.turn.iter().for_each(|turn| turn.cancel.cancel());
                line.open.iter().for_each(|entry| entry.ended.cancel());
                line.open.take()
            })
            .collect();
        lines.retain(|_, line| !line.is_idle());
        entries
    }

    /// Cancels the running turn. Without one nothing happens, now or later.
    pub(crate) fn cancel(&self, id: &SessionId) {
        if let Some(turn) = self.lock().get(id).and_then(|line| line.turn.as_ref()) {
            turn.cancel.cancel();
        }
    }

    /// Has the calls that open the session given up, as far as they are in the line.
    pub(crate) fn give_up_opening(&self, id: &SessionId) -> Option<Arc<Opening>> {
        let opening = mem::take(&mut self.lock().get_mut(id)?.opening).upgrade()?;
        opening.given_up.cancel();
        Some(opening)
    }

    /// The running turn.
    pub(crate) fn turn(&self, id: &SessionId) -> Option<Arc<Running>> {
        self.lock().get(id)?.turn.clone()
    }
}

impl Line {
    /// Takes the next place in the line.
    pub(crate) fn ticket(&mut self, table: &Arc<Table>, id: &SessionId) -> Ticket {
        let (done, next) = oneshot::channel();
        self.tickets += 1;
        let before = self.last.replace(Before(next));
        Ticket { table: Arc::clone(table), id: id.clone(), before, done: Some(done) }
    }

    /// What a call that opens the session listens to.
    pub(crate) fn opening(&mut self) -> Arc<Opening> {
        self.opening.upgrade().unwrap_or_else(|| {
            let opening = Arc::default();
            self.opening = Arc::downgrade(&opening);
            opening
        })
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_none() && self.turn.is_none() && self.tickets == 0
    }
}

/// A call's place in the line of its session; dropping it lets the next one start.
#[derive(Debug)]
pub(crate) struct Ticket {
    table: Arc<Table>,
    id: SessionId,
    before: Option<Before>,
    done: Option<oneshot::Sender<Before>>,
}

/// What a place waits for: the place before it, which is done, or gave up and handed on what it waited for itself.
#[derive(Debug)]
struct Before(oneshot::Receiver<Before>);

impl Ticket {
    /// Waits until every call before has finished or given up.
    pub(crate) async fn come(&mut self) {
        while let Some(before) = &mut self.before {
            // An error is the other end dropped, which is how a call says that it is done.
            self.before = (&mut before.0).await.ok();
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // Whoever comes next must not overtake what this call still waited for. Nobody may come next.
        if let (Some(before), Some(done)) = (self.before.take(), self.done.take()) {
            drop(done.send(before));
        }
        let mut lines = self.table.lock();
        if let Some(line) = lines.get_mut(&self.id) {
            line.tickets -= 1;
            if line.is_idle() {
                lines.remove(&self.id);
            }
        }
    }
}
