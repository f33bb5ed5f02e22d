//! The one owner of an open session: its choice, its mounts, its chain, its backend's part, and its memoised close.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use accord_protocol::v1::{
    ConfigOptionUpdate, CurrentModeUpdate, Notice, SessionConfigOption, SessionId, SessionUpdate,
};
use serde_json::value::to_raw_value;
use tokio::sync::OnceCell;

use super::catalogue::Catalogue;
use super::chain::{Chain, Link};
use super::child::Children;
use super::choice::Choice;
use super::projection::Projection;
use super::tools::Tools;
use crate::handler::Error;
use crate::session::Session;
use crate::store::{Lease, Record, Store};
use crate::turn::Turn;

/// What the runtime keeps of an open session, without the backend's part.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) id: SessionId,
    pub(super) cwd: PathBuf,
    pub(super) chain: Chain,
    pub(super) projection: Projection,
    pub(super) store: Option<Store>,
    pub(super) tools: Tools,
    pub(super) children: Children,
    catalogue: Arc<Mutex<Arc<Catalogue>>>,
    choice: Mutex<Choice>,
    /// Changes of the choice happen one after the other, storing included.
    changing: tokio::sync::Mutex<()>,
    title: Mutex<Option<String>>,
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
}

impl Core {
    pub(super) fn new(start: Start, shared: &CoreParts) -> Self {
        let Start { id, cwd, lease, past, tools, notices } = start;
        Self {
            id,
            cwd,
            chain: Chain::start(lease),
            projection: shared.projection,
            store: shared.store.clone(),
            tools,
            children: Children::default(),
            catalogue: Arc::clone(&shared.catalogue),
            choice: Mutex::new(past.choice),
            changing: tokio::sync::Mutex::default(),
            title: Mutex::new(past.title),
            notices: Mutex::new(notices),
        }
    }

    /// There is somebody to send to from here on.
    pub(super) fn connect(&self, session: &Session) {
        self.chain.connect(session);
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
        std::mem::take(&mut lock(&self.notices))
    }

    pub(super) fn title(&self) -> Option<String> {
        lock(&self.title).clone()
    }

    /// Validates, stores, applies, in this order, and then tells; the state is unchanged after an error.
    pub(super) async fn change(
        &self,
        change: impl FnOnce(&Choice, &Catalogue) -> Result<Choice, Error> + Send,
    ) -> Result<Choice, Error> {
        let _one_at_a_time = self.changing.lock().await;
        let before = self.choice();
        let after = change(&before, &self.catalogue())?;
        if after != before {
            self.chain.commit(Link::store([config(&after)?])).await?;
            lock(&self.choice).clone_from(&after);
            if after.mode != before.mode
                && let Some(mode) = after.mode.clone()
            {
                self.tell(CurrentModeUpdate::new(mode).into()).await;
            }
        }
        Ok(after)
    }

    /// Tells the client the state of the options.
    pub(super) async fn tell_options(&self) {
        self.tell(ConfigOptionUpdate::new(self.options()).into()).await;
    }

    /// Sends something that is not part of the conversation.
    pub(super) async fn tell(&self, update: SessionUpdate) {
        if let Some(update) = self.projection.project(update) {
            self.chain.push(Link::send(update)).await;
        }
    }

    /// Something happened: it is stored, and sent as the projection shows it.
    pub(super) async fn happen(&self, update: SessionUpdate, turn: Option<&Turn>) -> Result<(), Error> {
        if let SessionUpdate::SessionInfoUpdate(info) = &update
            && !info.title.is_absent()
        {
            lock(&self.title).clone_from(&info.title.clone().into_option());
        }
        let mut link = Link::default();
        if is_history(&update) {
            link.records.push(Record::Update(raw(&update)?));
        }
        link.send = self.projection.project(update);
        if let Some(turn) = turn {
            link = link.in_turn(turn);
        }
        self.chain.push(link).await;
        Ok(())
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
