//! The one owner of an open session: its choice, its mounts, its chain, its backend's part, and its memoised close.

use std::{
    mem,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use accord_protocol::{
    open::Maybe,
    v1::{ConfigOptionUpdate, CurrentModeUpdate, Notice, SessionConfigOption, SessionId, SessionUpdate},
};
use serde_json::value::to_raw_value;
use tokio::{sync::OnceCell, time::timeout};

use super::catalogue::Catalogue;
use super::chain::{Chain, Link, Room};
use super::child::Children;
use super::choice::Choice;
use super::end::Slot;
use super::projection::Projection;
use super::tools::Tools;
use crate::{
    handler::Error,
    permission::Grant,
    session::Session,
    store::{Lease, Record, Store},
    turn::Turn,
};

/// How long closing a session waits for the end of a turn.
const LAST_TURN: Duration = Duration::from_secs(5);

/// What the runtime keeps of an open session, without the backend's part.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) id: SessionId,
    pub(super) cwd: PathBuf,
    /// The directories it has besides, where they are not those it was made with.
    pub(super) directories: Option<Vec<String>>,
    pub(super) chain: Chain,
    pub(super) projection: Projection,
    pub(super) store: Option<Store>,
    pub(super) tools: Tools,
    pub(super) children: Children,
    pub(super) slot: Slot,
    catalogue: Arc<Mutex<Arc<Catalogue>>>,
    choice: Mutex<Choice>,
    /// Changes of the choice happen one after the other, storing included.
    changing: Arc<tokio::sync::Mutex<()>>,
    title: Mutex<Option<String>>,
    /// What was decided for good before this process, until the client knows the session.
    grants: Mutex<Vec<Grant>>,
    /// To be told once the client knows the session.
    notices: Mutex<Vec<Notice>>,
}

/// An open session.
#[derive(Debug)]
pub(super) struct Owner<S> {
    pub(super) core: Arc<Core>,
    pub(super) backend: S,
    closed: OnceCell<Result<(), Error>>,
}

/// What an open session is made of.
pub(super) struct Start {
    pub(super) id: SessionId,
    pub(super) cwd: PathBuf,
    pub(super) directories: Vec<PathBuf>,
    pub(super) lease: Option<Lease>,
    pub(super) past: Past,
    pub(super) tools: Tools,
    pub(super) notices: Vec<Notice>,
}

/// What all sessions of a runtime have in common.
pub(super) struct CoreParts {
    pub(super) projection: Projection,
    pub(super) store: Option<Store>,
    pub(super) catalogue: Arc<Mutex<Arc<Catalogue>>>,
}

/// What a session was when it was left.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub(super) choice: Choice,
    pub(super) title: Option<String>,
    pub(super) grants: Vec<Grant>,
}

impl Core {
    pub(super) fn new(start: Start, shared: &CoreParts) -> Self {
        let Start { id, cwd, directories, lease, past, tools, notices } = start;
        let now = as_text(&directories);
        let made_with = lease.as_ref().map(|lease| &lease.header().directories);
        let directories = made_with.is_none_or(|before| *before != now).then_some(now);
        Self {
            id,
            cwd,
            directories,
            chain: Chain::start(lease),
            projection: shared.projection,
            store: shared.store.clone(),
            tools,
            children: Children::default(),
            slot: Slot::default(),
            catalogue: Arc::clone(&shared.catalogue),
            choice: Mutex::new(past.choice),
            changing: Arc::default(),
            title: Mutex::new(past.title),
            grants: Mutex::new(past.grants),
            notices: Mutex::new(notices),
        }
    }

    /// There is somebody to send to from here on, and what the person decided for good holds again.
    pub(super) fn connect(&self, session: &Session) {
        session.restore(mem::take(&mut *lock(&self.grants)));
        self.chain.connect(session);
    }

    /// Stores what the person decided for good.
    pub(super) async fn remember(&self, grant: &Grant) -> Result<(), Error> {
        self.chain.push(Link::store([Record::Grant(raw(grant)?)])).await
    }

    pub(super) fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&lock(&self.catalogue))
    }

    pub(super) fn choice(&self) -> Choice {
        lock(&self.choice).clone()
    }

    pub(super) fn options(&self) -> Vec<SessionConfigOption> {
        lock(&self.choice).options(&self.catalogue())
    }

    pub(super) fn take_notices(&self) -> Vec<Notice> {
        mem::take(&mut lock(&self.notices))
    }

    pub(super) fn title(&self) -> Option<String> {
        lock(&self.title).clone()
    }

    /// Validates, stores, applies, in this order, and then tells; the state is unchanged after an error. What has begun is
    /// carried through, whoever waits for it: else the store would know what the session does not.
    pub(super) async fn change(
        self: &Arc<Self>,
        change: impl FnOnce(&Choice, &Catalogue) -> Result<Choice, Error> + Send,
    ) -> Result<Choice, Error> {
        let one_at_a_time = Arc::clone(&self.changing).lock_owned().await;
        let before = self.choice();
        let after = change(&before, &self.catalogue())?;
        if after == before {
            return Ok(after);
        }
        let record = config(&after)?;
        let core = Arc::clone(self);
        let changing = tokio::spawn(async move {
            core.chain.commit(Link::store([record])).await?;
            lock(&core.choice).clone_from(&after);
            if after.mode != before.mode
                && let Some(mode) = after.mode.clone()
            {
                core.tell(CurrentModeUpdate::new(mode).into()).await;
            }
            drop(one_at_a_time);
            Ok(after)
        });
        changing.await.unwrap_or_else(|_| Err(Error::internal("the change was not carried through")))
    }

    /// Tells the client the state of the options.
    pub(super) async fn tell_options(&self) {
        self.tell(ConfigOptionUpdate::new(self.options()).into()).await;
    }

    /// Sends something that is not part of the conversation.
    pub(super) async fn tell(&self, update: SessionUpdate) {
        if let Some(update) = self.projection.project(update)
            && let Err(error) = self.chain.push(Link::send(update)).await
        {
            tracing::warn!(session = %self.id, %error, "the client is not told");
        }
    }

    /// Something happened: it is stored, and sent as the projection shows it.
    pub(super) async fn happen(&self, update: SessionUpdate) -> Result<(), Error> {
        let happening = self.happening(update)?;
        let room = self.chain.reserve(happening.bytes(), happening.sent()).await?;
        self.take(room, happening);
        Ok(())
    }

    /// What is stored and what is sent of something that happened.
    pub(super) fn happening(&self, update: SessionUpdate) -> Result<Happening, Error> {
        let title = match &update {
            SessionUpdate::SessionInfoUpdate(info) => info.title.clone(),
            _ => Maybe::Absent,
        };
        let mut link = Link::default();
        if is_history(&update) {
            link.records.push(Record::Update(raw(&update)?));
        }
        link.send = self.projection.project(update);
        Ok(Happening { link, title })
    }

    /// Hands over what happened, in the room that was reserved for it.
    pub(super) fn take(&self, room: Room, happening: Happening) {
        if !happening.title.is_absent() {
            *lock(&self.title) = happening.title.into_option();
        }
        self.chain.put(room, happening.link);
    }
}

/// Something that happened and has not been handed over.
#[derive(Debug)]
pub(super) struct Happening {
    link: Link,
    title: Maybe<String>,
}

impl Happening {
    pub(super) fn in_turn(mut self, turn: &Turn) -> Self {
        self.link = self.link.in_turn(turn);
        self
    }

    pub(super) fn bytes(&self) -> usize {
        self.link.bytes()
    }

    pub(super) fn sent(&self) -> usize {
        self.link.sent()
    }
}

impl<S> Owner<S> {
    pub(super) fn new(core: Arc<Core>, backend: S) -> Self {
        Self { core, backend, closed: OnceCell::new() }
    }

    /// Closes once, however often and by whom it is asked; everything is tried, and the first failure reported.
    pub(super) async fn close(&self, backend: impl Future<Output = ()>, delete: bool) -> Result<(), Error> {
        self.closed
            .get_or_init(|| async {
                // A turn that cannot be stopped was given its time already.
                let turn = timeout(LAST_TURN, self.core.slot.take()).await;
                if turn.is_err() {
                    tracing::warn!(session = %self.core.id, "a session is closed under a turn that does not end");
                }
                backend.await;
                let children = self.core.children.close().await;
                let (lease, drained) = self.core.chain.end().await;
                let released = match lease {
                    Some(lease) if delete => lease.delete().await,
                    Some(lease) => lease.close().await,
                    None => Ok(()),
                };
                self.core.tools.release().await;
                drained?;
                released.map_err(super::store_error)?;
                children
            })
            .await
            .clone()
    }
}

/// What a replay shows again. The rest is the state of a moment: its present state is told when a session is opened.
fn is_history(update: &SessionUpdate) -> bool {
    !matches!(
        update,
        SessionUpdate::Notice(_)
            | SessionUpdate::ConfigOptionUpdate(_)
            | SessionUpdate::CurrentModeUpdate(_)
            | SessionUpdate::AvailableCommandsUpdate(_)
    )
}

/// Paths as they are stored; they came as text.
pub(super) fn as_text(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

pub(super) fn config(choice: &Choice) -> Result<Record, Error> {
    Ok(Record::Config(raw(choice)?))
}

pub(super) fn raw(value: &impl serde::Serialize) -> Result<Box<serde_json::value::RawValue>, Error> {
    to_raw_value(value).map_err(|error| Error::internal(format!("cannot be stored: {error}")))
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing panics while one of these locks is held.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
