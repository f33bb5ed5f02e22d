//! New, load and resume: every check first, then the mounts, then the claim, then the backend; nothing is left of what
//! failed, and nothing is told before all of it worked.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use accord_protocol::open::Maybe;
use accord_protocol::v1::{
    LoadSessionRequest, LoadSessionResponse, NewSessionRequest, NewSessionResponse, ResumeSessionRequest,
    ResumeSessionResponse, SessionConfigOption, SessionId, SessionModeState,
};

use super::backend::{Backend, History, Opening, Origin};
use super::builder::Active;
use super::choice::Choice;
use super::handle::SessionHandle;
use super::owner::{Core, Owner, Past, lock};
use super::{Runtime, Shared, now, restore, store_error};
use crate::handler::{Error, Loading, Resuming};
use crate::session::Session;
use crate::store::{Header, Lease, Store};

/// What a request says about a session's surroundings.
pub(super) struct Surroundings {
    cwd: PathBuf,
    directories: Vec<PathBuf>,
}

impl<B: Backend> Loading for Runtime<B> {
    async fn load(
        &self,
        request: LoadSessionRequest,
        session: Session,
    ) -> Result<LoadSessionResponse, Error> {
        let directories = request.additional_directories.unwrap_or_default();
        let opened = self.shared.reopen(request.session_id, &request.cwd, directories).await?;
        opened.core().connect(&session);
        if let Some(store) = &self.shared.store {
            restore::replay(store, &session, self.shared.projection).await?;
        }
        let (modes, options) = state(opened.core());
        opened.keep();
        Ok(LoadSessionResponse::new().modes(modes).config_options(options))
    }
}

impl<B: Backend> Resuming for Runtime<B> {
    async fn resume(&self, request: ResumeSessionRequest) -> Result<ResumeSessionResponse, Error> {
        let directories = request.additional_directories.unwrap_or_default();
        let opened = self.shared.reopen(request.session_id, &request.cwd, directories).await?;
        let (modes, options) = state(opened.core());
        opened.keep();
        Ok(ResumeSessionResponse::new().modes(modes).config_options(options))
    }
}

/// A session that is open and not announced: unless it is kept it is closed again, and if it is new, removed.
struct Opened<B: Backend> {
    shared: Arc<Shared<B>>,
    owner: Option<Arc<Owner<B::Session>>>,
    new: bool,
}

impl<B: Backend> Opened<B> {
    fn core(&self) -> &Core {
        // Taken only when it is kept or dropped.
        &self.owner.as_ref().expect("the owner is there until the end").core
    }

    fn keep(mut self) {
        if let Some(owner) = self.owner.take() {
            lock(&self.shared.owners).insert(owner.core.id.clone(), owner);
        }
    }
}

impl<B: Backend> Drop for Opened<B> {
    fn drop(&mut self) {
        if let (Some(owner), Ok(runtime)) = (self.owner.take(), tokio::runtime::Handle::try_current()) {
            let (shared, new) = (Arc::clone(&self.shared), self.new);
            runtime.spawn(async move {
                // The failure that counts is the one that led here.
                drop(shared.shut(&owner, new).await);
            });
        }
    }
}

impl<B: Backend> Shared<B> {
    pub(super) async fn new_session(
        self: &Arc<Self>,
        request: NewSessionRequest,
    ) -> Result<NewSessionResponse, Error> {
        let around = surroundings(&request.cwd, request.additional_directories.unwrap_or_default())?;
        let id = SessionId::from(uuid::Uuid::now_v7().to_string());
        let header = Header::new(id.clone(), text(&around.cwd)?, now());
        let lease = match &self.store {
            Some(store) => Some(store.create(header).await.map_err(store_error)?),
            None => None,
        };
        let past = Past { choice: Choice::initial(&lock(&self.catalogue)), ..Past::default() };
        let history = History::new(None, id.clone());
        let opened = self.compose(id.clone(), around, lease, past, Origin::New, history).await?;
        // Only what can be opened is stored; and what the client is told of is stored.
        if self.store.is_some() {
            opened.core().chain.materialise().await?;
        }
        let (modes, options) = state(opened.core());
        opened.keep();
        Ok(NewSessionResponse::new(id).modes(modes).config_options(options))
    }

    /// Opens a stored session.
    async fn reopen(
        self: &Arc<Self>,
        id: SessionId,
        cwd: &Path,
        directories: Vec<PathBuf>,
    ) -> Result<Opened<B>, Error> {
        let store = self.store.as_ref().ok_or_else(|| Error::method_not_found("session/resume"))?;
        let header = store.header(id.clone()).await.map_err(store_error)?;
        if header.parent.is_some() {
            return Err(Error::resource_not_found("no such session can be opened by itself"));
        }
        let around = surroundings(cwd, directories)?;
        if text(&around.cwd)? != header.cwd {
            return Err(Error::invalid_params("cwd", "the directory the session was made in"));
        }
        self.give_up_own(&id).await?;
        let lease = store.open(id.clone()).await.map_err(store_error)?;
        let catalogue = Arc::clone(&lock(&self.catalogue));
        let past = restore::past(store, &lease, &catalogue).await?;
        let history = History::new(Some(Store::clone(store)), id.clone());
        self.compose(id, around, Some(lease), past, Origin::Stored, history).await
    }

    /// A session that this connection has open already is closed first, where that is allowed.
    async fn give_up_own(&self, id: &SessionId) -> Result<(), Error> {
        let Some(owner) = self.owner(id) else { return Ok(()) };
        match self.active {
            Active::Reserved => Err(store_error(crate::store::StoreError::Active(id.clone()))),
            Active::Reopenable => {
                lock(&self.owners).remove(id);
                self.shut(&owner, false).await
            }
        }
    }

    async fn compose(
        self: &Arc<Self>,
        id: SessionId,
        around: Surroundings,
        lease: Option<Lease>,
        past: Past,
        origin: Origin,
        history: History,
    ) -> Result<Opened<B>, Error> {
        let new = origin != Origin::Stored;
        let choice = past.choice.clone();
        let core = Arc::new(Core::new(
            id,
            around.cwd.clone(),
            lease,
            self.projection,
            self.store.clone(),
            Arc::clone(&self.catalogue),
            past,
        ));
        let opening = Opening {
            session: SessionHandle { core: Arc::clone(&core) },
            cwd: around.cwd,
            directories: around.directories,
            origin,
            choice,
            history,
        };
        match self.backend.open(opening).await {
            Ok(backend) => {
                let owner = Some(Arc::new(Owner::new(core, backend)));
                Ok(Opened { shared: Arc::clone(self), owner, new })
            }
            Err(error) => {
                // The claim goes with the chain; of a new session nothing was written.
                drop(core.chain.end().await);
                Err(error)
            }
        }
    }
}

/// The physical directory, which must be there.
fn surroundings(cwd: &Path, directories: Vec<PathBuf>) -> Result<Surroundings, Error> {
    let physical = fs::canonicalize(cwd).ok().filter(|physical| physical.is_dir());
    let cwd = physical.ok_or_else(|| Error::invalid_params("cwd", "a directory that exists"))?;
    Ok(Surroundings { cwd, directories })
}

fn text(cwd: &Path) -> Result<String, Error> {
    let text = cwd.to_str().ok_or_else(|| Error::invalid_params("cwd", "a path that is Unicode"))?;
    Ok(text.to_owned())
}

fn state(core: &Core) -> (Maybe<SessionModeState>, Maybe<Vec<SessionConfigOption>>) {
    let (choice, catalogue) = (core.choice(), core.catalogue());
    let options = choice.options(&catalogue);
    (choice.modes(&catalogue).into(), (!options.is_empty()).then_some(options).into())
}
