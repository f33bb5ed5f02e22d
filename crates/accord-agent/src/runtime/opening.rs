//! New, load and resume: every check first, then the mounts, then the claim, then the backend; nothing is left of what
//! failed, and nothing is told before all of it worked.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use accord_protocol::{
    open::Maybe,
    v1::{
        LoadSessionRequest, LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse, Notice,
        ResumeSessionRequest, ResumeSessionResponse, SessionConfigOption, SessionId, SessionModeState,
    },
};
use tokio_util::task::TaskTracker;

use super::backend::{Backend, History, Opening, Origin};
use super::builder::Active;
use super::choice::Choice;
use super::handle::SessionHandle;
use super::owner::{Core, Owner, Past, Start, as_text, lock};
use super::tools::Tools;
use super::{Runtime, Shared, now, restore, store_error};
use crate::{
    handler::{Error, Loading, Resuming, Reviving},
    session::Session,
    store::{Header, Store, StoreError},
};

/// What a request says about a session's surroundings.
#[derive(Debug)]
pub(super) struct Surroundings {
    pub(super) cwd: PathBuf,
    pub(super) directories: Vec<PathBuf>,
    pub(super) servers: Vec<McpServer>,
}

impl Surroundings {
    /// The physical directory, which must be there, and its text.
    pub(super) fn physical(&self) -> Result<(PathBuf, String), Error> {
        let physical = fs::canonicalize(&self.cwd).ok().filter(|physical| physical.is_dir());
        let physical = physical.ok_or_else(|| Error::invalid_params("cwd", "a directory that exists"))?;
        let text = physical.to_str().ok_or_else(|| Error::invalid_params("cwd", "a path that is Unicode"))?;
        let text = text.to_owned();
        Ok((physical, text))
    }
}

impl<B: Backend> Loading for Runtime<B> {
    async fn load(
        &self,
        request: LoadSessionRequest,
        session: Session,
    ) -> Result<LoadSessionResponse, Error> {
        let directories = request.additional_directories.unwrap_or_default();
        let around = Surroundings { cwd: request.cwd, directories, servers: request.mcp_servers };
        let (opened, records) = self.shared.reopen(request.session_id, around).await?;
        // What the backend says while it opens the session comes behind the answer, as with a new one.
        if let Some(store) = &self.shared.parts.store {
            restore::replay(store, &session, records, self.shared.parts.projection).await?;
        }
        let (modes, options) = state(opened.core());
        opened.keep();
        Ok(LoadSessionResponse::new().modes(modes).config_options(options))
    }
}

impl<B: Backend> Resuming for Runtime<B> {
    async fn resume(&self, request: ResumeSessionRequest) -> Result<ResumeSessionResponse, Error> {
        let directories = request.additional_directories.unwrap_or_default();
        let servers = request.mcp_servers.unwrap_or_default();
        let around = Surroundings { cwd: request.cwd, directories, servers };
        let (opened, _) = self.shared.reopen(request.session_id, around).await?;
        let (modes, options) = state(opened.core());
        opened.keep();
        Ok(ResumeSessionResponse::new().modes(modes).config_options(options))
    }
}

impl<B: Backend> Reviving for Runtime<B> {
    async fn revive(&self, session: SessionId) -> Result<(), Error> {
        let store = self.shared.parts.store.as_ref().ok_or_else(|| crate::router::unknown(&session))?;
        let header = store.header(session.clone()).await.map_err(store_error)?;
        let around = Surroundings { cwd: header.cwd.into(), directories: Vec::new(), servers: Vec::new() };
        self.shared.reopen(session, around).await?.0.keep();
        Ok(())
    }
}

/// A session that is open and not announced: unless it is kept it is closed again, and if it is new, removed.
pub(super) struct Opened<B: Backend> {
    shared: Arc<Shared<B>>,
    owner: Option<Arc<Owner<B::Session>>>,
    new: bool,
}

impl<B: Backend> Opened<B> {
    pub(super) fn core(&self) -> &Core {
        // Taken only when it is kept or dropped.
        &self.owner.as_ref().expect("the owner is there until the end").core
    }

    pub(super) fn keep(mut self) {
        if let Some(owner) = self.owner.take() {
            lock(&self.shared.owners).insert(owner.core.id.clone(), owner);
        }
    }
}

impl<B: Backend> Drop for Opened<B> {
    fn drop(&mut self) {
        if let (Some(owner), Ok(runtime)) = (self.owner.take(), tokio::runtime::Handle::try_current()) {
            let (shared, new) = (Arc::clone(&self.shared), self.new);
            let undone = async move {
                // The failure that counts is the one that led here.
                drop(shared.shut(&owner, new).await);
            };
            self.shared.undoing.spawn_on(undone, &runtime);
        }
    }
}

impl<B: Backend> Shared<B> {
    pub(super) async fn new_session(
        self: &Arc<Self>,
        request: NewSessionRequest,
    ) -> Result<NewSessionResponse, Error> {
        let directories = request.additional_directories.unwrap_or_default();
        let around = Surroundings { cwd: request.cwd, directories, servers: request.mcp_servers };
        let (cwd, text) = around.physical()?;
        let (tools, notices) = self.mount(around.servers, &cwd).await?;
        let id = SessionId::from(uuid::Uuid::now_v7().to_string());
        let lease = match &self.parts.store {
            Some(store) => {
                let header = Header::new(id.clone(), text, now()).directories(as_text(&around.directories));
                Some(store.create(header).await.map_err(store_error)?)
            }
            None => None,
        };
        let past = Past { choice: Choice::initial(&lock(&self.parts.catalogue)), ..Past::default() };
        let history = History::new(None, id.clone());
        let directories = around.directories;
        let start = Start { id: id.clone(), cwd, directories, lease, past, tools, notices };
        let opened = self.compose(start, Origin::New, history).await?;
        // Only what can be opened is stored; and what the client is told of is stored.
        if self.parts.store.is_some() {
            opened.core().chain.materialise().await?;
        }
        let (modes, options) = state(opened.core());
        opened.keep();
        Ok(NewSessionResponse::new(id).modes(modes).config_options(options))
    }

    /// Opens a stored session, and says how many records it had. The mounts come before the claim: a server that does
    /// not start leaves all as it was.
    async fn reopen(
        self: &Arc<Self>,
        id: SessionId,
        around: Surroundings,
    ) -> Result<(Opened<B>, usize), Error> {
        let store = self.parts.store.as_ref().ok_or_else(|| Error::method_not_found("session/resume"))?;
        let header = store.header(id.clone()).await.map_err(store_error)?;
        if header.parent.is_some() {
            return Err(Error::resource_not_found("no such session can be opened by itself"));
        }
        let (cwd, text) = around.physical()?;
        if text != header.cwd {
            return Err(Error::invalid_params("cwd", "the directory the session was made in"));
        }
        self.may_reopen(&id)?;
        let (tools, notices) = self.mount(around.servers, &cwd).await?;
        self.give_up_own(&id).await?;
        let lease = store.open(id.clone()).await.map_err(store_error)?;
        let catalogue = Arc::clone(&lock(&self.parts.catalogue));
        let (past, records) = restore::past(store, &lease, &catalogue).await?;
        let history = History::new(Some(Store::clone(store)), id.clone());
        let directories = around.directories;
        let start = Start { id, cwd, directories, lease: Some(lease), past, tools, notices };
        Ok((self.compose(start, Origin::Stored, history).await?, records))
    }

    /// A session that this connection has open may be opened anew, where that is allowed.
    fn may_reopen(&self, id: &SessionId) -> Result<(), Error> {
        if self.active == Active::Reserved && self.owner(id).is_some() {
            return Err(store_error(StoreError::Active(id.clone())));
        }
        Ok(())
    }

    /// What it begins is carried through, whoever waits for it.
    async fn give_up_own(self: &Arc<Self>, id: &SessionId) -> Result<(), Error> {
        let Some(owner) = lock(&self.owners).remove(id) else { return Ok(()) };
        let shared = Arc::clone(self);
        let shut = self.undoing.spawn(async move { shared.shut(&owner, false).await });
        shut.await.unwrap_or_else(|_| Err(Error::internal("the session could not be closed")))
    }

    pub(super) async fn mount(
        &self,
        servers: Vec<McpServer>,
        cwd: &Path,
    ) -> Result<(Tools, Vec<Notice>), Error> {
        Tools::mount(servers, cwd, self.mounting, &self.undoing).await
    }

    pub(super) async fn compose(
        self: &Arc<Self>,
        start: Start,
        origin: Origin,
        history: History,
    ) -> Result<Opened<B>, Error> {
        let new = origin != Origin::Stored;
        let (cwd, directories, choice) =
            (start.cwd.clone(), start.directories.clone(), start.past.choice.clone());
        let core = Arc::new(Core::new(start, &self.parts));
        let draft = Draft { core: Some(Arc::clone(&core)), new, undoing: self.undoing.clone() };
        let session = SessionHandle { core: Arc::clone(&core) };
        let opening = Opening { session, cwd, directories, origin, choice, history };
        match self.backend.open(opening).await {
            Ok(backend) => {
                draft.keep();
                core.chain.opened();
                let owner = Some(Arc::new(Owner::new(core, backend)));
                Ok(Opened { shared: Arc::clone(self), owner, new })
            }
            Err(error) => {
                draft.discard().await;
                Err(error)
            }
        }
    }
}

/// A session whose backend still opens it. Unless it is kept nothing is left of it, or, if it was stored before, of this
/// attempt.
struct Draft {
    core: Option<Arc<Core>>,
    new: bool,
    undoing: TaskTracker,
}

impl Draft {
    fn keep(mut self) {
        self.core = None;
    }

    async fn discard(mut self) {
        if let Some(core) = self.core.take() {
            discard(core, self.new).await;
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let (Some(core), Ok(runtime)) = (self.core.take(), tokio::runtime::Handle::try_current()) {
            self.undoing.spawn_on(discard(core, self.new), &runtime);
        }
    }
}

/// The failure that counts is the one that led here. Whoever is told of it may ask for the session again at once.
async fn discard(core: Arc<Core>, new: bool) {
    drop(core.children.close().await);
    match core.chain.end().await {
        (Some(lease), _) if new => drop(lease.delete().await),
        (Some(lease), _) => drop(lease.close().await),
        (None, _) => {}
    }
    core.tools.release().await;
}

pub(super) fn state(core: &Core) -> (Maybe<SessionModeState>, Maybe<Vec<SessionConfigOption>>) {
    let (choice, catalogue) = (core.choice(), core.catalogue());
    let options = choice.options(&catalogue);
    (choice.modes(&catalogue).into(), (!options.is_empty()).then_some(options).into())
}
