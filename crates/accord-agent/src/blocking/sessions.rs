//! The sessions of a blocking agent: made, found, forked, moved and put to rest from any thread.

use std::{
    collections::{HashMap, hash_map::Entry},
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use accord_protocol::v1::SessionId;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::{
    agent::{BlockingAgent, BlockingSession, Failure, Setup},
    grants::Grants,
    history::{self, History, Record},
};
use crate::runtime::Choice;

/// All open sessions of an agent.
///
/// What a session must keep is in its history; the agent's own object for it is made anew whenever it is missing: after
/// a restart, after [`clean_up`](Self::clean_up), after a panic, after a move to another directory.
pub struct Sessions<A: BlockingAgent> {
    agent: Arc<A>,
    open: Mutex<HashMap<SessionId, Arc<Open<A>>>>,
}

/// One open session.
pub(super) struct Open<A: BlockingAgent> {
    pub(super) id: SessionId,
    pub(super) facts: Mutex<Facts>,
    /// The agent's object, where it is made; held by the turn that runs.
    pub(super) object: Mutex<Option<A::Session>>,
    pub(super) history: Mutex<History>,
    pub(super) grants: Arc<Mutex<Grants>>,
    /// Whether a thread works for it, also one whose turn has been given up.
    working: watch::Sender<bool>,
}

/// What is known of a session besides its conversation.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) cwd: PathBuf,
    pub(super) additional_directories: Vec<PathBuf>,
    pub(super) choice: Choice,
    pub(super) titled: bool,
    pub(super) compacts: bool,
    used: Instant,
}

/// What a session is opened with.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Opening {
    /// The session's directory.
    pub cwd: PathBuf,
    /// Further directories.
    pub additional_directories: Vec<PathBuf>,
    /// What it is set to.
    pub choice: Choice,
    /// What an earlier process stored of it, in order; empty for a new one.
    pub records: Vec<Box<RawValue>>,
}

impl Opening {
    /// A new session in this directory.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self { cwd: cwd.into(), ..Self::default() }
    }

    /// Gives it back what was stored of it.
    #[must_use]
    pub fn records(mut self, records: Vec<Box<RawValue>>) -> Self {
        self.records = records;
        self
    }

    /// Sets it to this model, effort and mode.
    #[must_use]
    pub fn choice(mut self, choice: Choice) -> Self {
        self.choice = choice;
        self
    }
}

/// A session as [`Sessions::list`] tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionState {
    /// Its id.
    pub id: SessionId,
    /// Its directory.
    pub cwd: PathBuf,
    /// What its last turn ran with, or its first will.
    pub choice: Choice,
    /// How many entries its conversation has.
    pub entries: usize,
    /// Whether a turn runs.
    pub running: bool,
    /// Whether the agent's object for it is made.
    pub awake: bool,
    /// How long ago it was last used.
    pub idle: Duration,
}

/// Why a session could not be made or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// There is no such session.
    #[error("there is no session {0}")]
    Unknown(SessionId),
    /// There is one already.
    #[error("there is a session {0} already")]
    Taken(SessionId),
    /// A turn of it runs.
    #[error("a turn of session {0} is running")]
    Running(SessionId),
    /// The agent could not open it.
    #[error("the agent could not open the session")]
    Agent(#[source] Failure),
    /// The agent panicked over it.
    #[error("the agent panicked when it opened the session")]
    Panicked,
}

impl<A: BlockingAgent> Sessions<A> {
    pub(super) fn new(agent: Arc<A>) -> Self {
        Self { agent, open: Mutex::default() }
    }

    /// Opens a session: a new one, or one that was stored.
    ///
    /// # Errors
    ///
    /// When the id is taken, or the agent can't open it; then nothing of it is left.
    pub fn create(&self, id: impl Into<SessionId>, opening: Opening) -> Result<(), SessionsError> {
        let made = self.make_stored(id.into(), opening, false)?;
        self.admit(&made)
    }

    /// What there is to know of a session.
    pub fn get(&self, id: &SessionId) -> Option<SessionState> {
        self.find(id).map(|open| open.state())
    }

    /// Forgets a session; a turn that runs in it goes on to its end.
    pub fn remove(&self, id: &SessionId) -> bool {
        self.open().remove(id).is_some()
    }

    /// Opens a session that begins with a copy of another's conversation, in a directory of its own.
    ///
    /// The two have nothing in common from then on. What the user granted in the one is not granted in the other.
    ///
    /// # Errors
    ///
    /// When the source is unknown, the id is taken, or the agent can't open it.
    pub fn fork(
        &self,
        source: &SessionId,
        id: impl Into<SessionId>,
        cwd: impl Into<PathBuf>,
    ) -> Result<(), SessionsError> {
        let open = self.find(source).ok_or_else(|| SessionsError::Unknown(source.clone()))?;
        let facts = open.facts().clone();
        let mut history = open.history().clone();
        history.store_anew();
        let opening = Opening { choice: facts.choice, ..Opening::new(cwd) };
        let made = self.make(id.into(), opening, history, Grants::default())?;
        self.admit(&made)
    }

    /// All open sessions, the one used last first.
    pub fn list(&self) -> Vec<SessionState> {
        let all: Vec<_> = self.open().values().cloned().collect();
        let mut states: Vec<_> = all.iter().map(|open| open.state()).collect();
        states.sort_by(|a, b| a.idle.cmp(&b.idle).then_with(|| a.id.cmp(&b.id)));
        states
    }

    /// Puts sessions to rest that have not been used for `idle`: the agent's objects for them are dropped, and made anew
    /// for their next turn. Says how many.
    pub fn clean_up(&self, idle: Duration) -> usize {
        let all: Vec<_> = self.open().values().cloned().collect();
        all.iter().filter(|open| open.facts().used.elapsed() >= idle && open.rest()).count()
    }

    /// Moves a session to another directory, from its next turn on.
    ///
    /// # Errors
    ///
    /// When it is unknown, or a turn of it runs.
    pub fn set_cwd(&self, id: &SessionId, cwd: impl Into<PathBuf>) -> Result<(), SessionsError> {
        let open = self.find(id).ok_or_else(|| SessionsError::Unknown(id.clone()))?;
        if open.is_working() {
            return Err(SessionsError::Running(id.clone()));
        }
        open.facts().cwd = cwd.into();
        open.rest();
        Ok(())
    }

    /// Forgets a session, but not one that was opened under its id meanwhile.
    pub(super) fn forget(&self, session: &Arc<Open<A>>) {
        let mut open = self.open();
        if open.get(&session.id).is_some_and(|now| Arc::ptr_eq(now, session)) {
            open.remove(&session.id);
        }
    }

    pub(super) fn find(&self, id: &SessionId) -> Option<Arc<Open<A>>> {
        self.open().get(id).cloned()
    }

    /// Makes a session from what was stored of it, or, for a fork, of its source. Until it is admitted nobody finds it, and
    /// dropping it leaves nothing.
    pub(super) fn make_stored(
        &self,
        id: SessionId,
        opening: Opening,
        fork: bool,
    ) -> Result<Arc<Open<A>>, SessionsError> {
        let mut history = History::default();
        let mut grants = Grants::default();
        for record in opening.records.iter().filter_map(|record| history::read(record)) {
            match record {
                Record::History(change) => history.apply(&change),
                Record::Grant(grant) if !fork => grants.restore(grant),
                Record::Grant(_) => {}
            }
        }
        if fork {
            history.store_anew();
        }
        self.make(id, opening, history, grants)
    }

    /// Opens a session that was made.
    pub(super) fn admit(&self, made: &Arc<Open<A>>) -> Result<(), SessionsError> {
        match self.open().entry(made.id.clone()) {
            Entry::Occupied(_) => Err(SessionsError::Taken(made.id.clone())),
            Entry::Vacant(place) => {
                place.insert(made.clone());
                Ok(())
            }
        }
    }

    fn make(
        &self,
        id: SessionId,
        opening: Opening,
        history: History,
        grants: Grants,
    ) -> Result<Arc<Open<A>>, SessionsError> {
        if self.find(&id).is_some() {
            return Err(SessionsError::Taken(id));
        }
        let facts = Facts {
            cwd: opening.cwd,
            additional_directories: opening.additional_directories,
            choice: opening.choice,
            titled: history.len() > 0,
            compacts: false,
            used: Instant::now(),
        };
        let open = Arc::new(Open {
            id,
            facts: Mutex::new(facts),
            object: Mutex::new(None),
            history: Mutex::new(history),
            grants: Arc::new(Mutex::new(grants)),
            working: watch::Sender::new(false),
        });
        // The agent is asked without the lock: it may take its time, and the other sessions go on.
        let made = catch_unwind(AssertUnwindSafe(|| open.made(&*self.agent).map(drop)));
        made.map_err(|_| SessionsError::Panicked)?.map_err(SessionsError::Agent)?;
        Ok(open)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Open<A>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: BlockingAgent> std::fmt::Debug for Sessions<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("open", &self.open().len()).finish_non_exhaustive()
    }
}

impl<A: BlockingAgent> Open<A> {
    /// The agent's object, made now if it is missing; the lock is the turn's.
    pub(super) fn made(&self, agent: &A) -> Result<MutexGuard<'_, Option<A::Session>>, Failure> {
        let mut object = self.object.lock().unwrap_or_else(PoisonError::into_inner);
        if object.is_none() {
            let facts = self.facts().clone();
            let setup = Setup {
                session_id: self.id.clone(),
                cwd: facts.cwd,
                additional_directories: facts.additional_directories,
                choice: facts.choice,
                front_end: "acp",
            };
            let mut made = agent.create(&setup)?;
            let history = self.history().values().map_err(Failure::failed)?;
            if !history.is_empty() {
                made.restore(history)?;
            }
            self.facts().compacts = made.compacting().is_some();
            *object = Some(made);
        }
        Ok(object)
    }

    pub(super) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks that a thread works for the session, until what is returned is dropped.
    pub(super) fn work(self: &Arc<Self>) -> Work<A> {
        self.working.send_replace(true);
        Work(self.clone())
    }

    /// Returns when no thread works for the session.
    pub(super) async fn rested(&self) {
        // The sender lives in `self`, so waiting can't fail.
        let _ = self.working.subscribe().wait_for(|working| !working).await;
    }

    fn is_working(&self) -> bool {
        *self.working.borrow()
    }

    /// Drops the agent's object, which a panic may have left in pieces.
    pub(super) fn forget_object(&self) {
        let object = self.object.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop_agents_own(object);
    }

    /// Drops the agent's object unless a thread works with it; says whether there was one.
    pub(super) fn rest(&self) -> bool {
        match self.object.try_lock() {
            Ok(mut object) if !self.is_working() => {
                let dropped = object.take();
                let was_awake = dropped.is_some();
                drop_agents_own(dropped);
                was_awake
            }
            _ => false,
        }
    }

    fn state(&self) -> SessionState {
        let facts = self.facts().clone();
        SessionState {
            id: self.id.clone(),
            cwd: facts.cwd,
            choice: facts.choice,
            entries: self.history().len(),
            running: self.is_working(),
            awake: self.object.try_lock().map_or(true, |object| object.is_some()),
            idle: facts.used.elapsed(),
        }
    }
}

/// A panic of the agent's own drop is not the caller's.
fn drop_agents_own<T>(object: T) {
    let _ = catch_unwind(AssertUnwindSafe(move || drop(object)));
}

/// A thread works for a session.
pub(super) struct Work<A: BlockingAgent>(Arc<Open<A>>);

impl<A: BlockingAgent> Drop for Work<A> {
    fn drop(&mut self) {
        self.0.facts().used = Instant::now();
        self.0.working.send_replace(false);
    }
}
