//! The ready-made runtime: give it a backend and a store, and it is an agent with durable sessions.
//!
//! Each open session has one owner, which holds what the session is set to, its mounts, the one turn, the ordered chain
//! and the memoised close. Everything that happens goes through the chain: it is stored, then sent, in order, and the
//! chain is empty before a turn is answered.

mod backend;
mod builder;
mod catalogue;
mod chain;
mod child;
mod choice;
mod end;
mod fork;
mod handle;
mod listing;
mod opening;
mod owner;
mod pen;
mod projection;
mod restore;
mod tools;
mod turn;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
    time::{SystemTime, UNIX_EPOCH},
};

use accord_protocol::v1::{
    AvailableCommandsUpdate, ContentBlock, Implementation, McpCapabilities, NewSessionRequest,
    NewSessionResponse, PromptCapabilities, SessionConfigOption, SessionId, SessionModeId,
    SetSessionConfigOptionRequest, StopReason,
};
use tokio::{sync::watch, task::JoinSet};
use tokio_util::task::TaskTracker;

pub use self::backend::{Backend, History, Opening, Origin};
pub use self::builder::{Active, Builder};
pub use self::catalogue::{Catalogue, Effort, Model, NotARoute, Provider, Route, Switch};
pub use self::child::Child;
pub use self::choice::{Choice, EFFORT, MODE, MODEL, PROVIDER_DEFAULT};
pub use self::handle::SessionHandle;
pub use self::projection::Projection;
pub use self::turn::Turn;

use self::end::EndOfTurn;
use self::owner::{CoreParts, Owner, lock};
use crate::{
    connection::Connection,
    handler::{
        Agent, Auth, Closing, Config, Deleting, Error, Forking, Listing, Loading, LoggingOut, Modes,
        Resuming, Reviving,
    },
    session::Session,
    store::{Query, Store, StoreError},
    turn::Turn as WireTurn,
};

/// An agent made of a backend; see the [module](self).
pub struct Runtime<B: Backend> {
    shared: Arc<Shared<B>>,
}

impl<B: Backend> fmt::Debug for Runtime<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = lock(&self.shared.owners).len();
        f.debug_struct("Runtime").field("open", &open).finish_non_exhaustive()
    }
}

/// What all of a runtime's calls share.
struct Shared<B: Backend> {
    backend: B,
    parts: CoreParts,
    active: Active,
    changes: Option<watch::Receiver<Catalogue>>,
    mounting: tools::Settings,
    fork: bool,
    revive: bool,
    /// What takes back what was begun and came to nothing.
    undoing: TaskTracker,
    owners: Mutex<HashMap<SessionId, Arc<Owner<B::Session>>>>,
}

impl<B: Backend> Runtime<B> {
    /// A runtime to be: with nothing else said, without a store and for automation.
    pub fn builder(backend: B) -> Builder<B> {
        Builder::new(backend)
    }
}

impl<B: Backend> Agent for Runtime<B> {
    fn info(&self) -> Implementation {
        self.shared.backend.info()
    }

    fn prompt_capabilities(&self) -> PromptCapabilities {
        self.shared.backend.prompt_capabilities()
    }

    fn mcp_capabilities(&self) -> McpCapabilities {
        McpCapabilities::new().http(cfg!(feature = "mcp"))
    }

    fn additional_directories(&self) -> bool {
        true
    }

    fn connected(&self, connection: Connection) {
        self.shared.follow_catalogue(connection);
    }

    async fn new_session(&self, request: NewSessionRequest) -> Result<NewSessionResponse, Error> {
        self.shared.new_session(request).await
    }

    async fn opened(&self, session: Session) {
        if let Some(owner) = self.shared.owner(session.id()) {
            owner.core.connect(&session);
            for notice in owner.core.take_notices() {
                owner.core.tell(notice.into()).await;
            }
            let commands = self.shared.backend.commands(&owner.backend);
            if !commands.is_empty() {
                owner.core.tell(AvailableCommandsUpdate::new(commands).into()).await;
            }
        }
    }

    async fn prompt(&self, turn: WireTurn) -> Result<StopReason, Error> {
        // Before anything is waited for: the turn keeps what its session is set to at this moment.
        let owner =
            self.shared.owner(turn.session_id()).ok_or_else(|| crate::router::unknown(turn.session_id()))?;
        let choice = owner.core.choice();
        takes_images(&choice, &owner.core.catalogue(), turn.blocks())?;
        owner.core.connect(turn.session());
        // The end of the turn before may still be on its way to the disk, although it was answered.
        let Ok(held) = turn.or_cancelled(owner.core.slot.take()).await else {
            return Ok(StopReason::Cancelled);
        };
        let turn = Turn::new(turn, Arc::clone(&owner.core), choice);
        turn.begin().await?;
        let end = EndOfTurn::new(turn.clone(), held);
        let result = crate::router::caught(self.shared.backend.turn(&owner.backend, turn.clone())).await;
        let stop = match &result {
            _ if turn.is_cancelled() => "cancelled",
            Ok(stop) => stop.as_str(),
            Err(_) => "failed",
        };
        end.reached(stop).await?;
        result
    }

    fn listing(&self) -> Option<&impl Listing> {
        self.shared.parts.store.as_ref().map(|_| self)
    }

    fn loading(&self) -> Option<&impl Loading> {
        self.shared.parts.store.as_ref().map(|_| self)
    }

    fn resuming(&self) -> Option<&impl Resuming> {
        self.shared.parts.store.as_ref().map(|_| self)
    }

    fn forking(&self) -> Option<&impl Forking> {
        (self.shared.fork && self.shared.parts.store.is_some()).then_some(self)
    }

    fn reviving(&self) -> Option<&impl Reviving> {
        (self.shared.revive && self.shared.parts.store.is_some()).then_some(self)
    }

    fn closing(&self) -> Option<&impl Closing> {
        self.shared.parts.store.as_ref().map(|_| self)
    }

    fn deleting(&self) -> Option<&impl Deleting> {
        self.shared.parts.store.as_ref().map(|_| self)
    }

    fn modes(&self) -> Option<&impl Modes> {
        (!lock(&self.shared.parts.catalogue).modes.is_empty()).then_some(self)
    }

    fn config(&self) -> Option<&impl Config> {
        Some(self)
    }

    fn auth(&self) -> Option<&impl Auth> {
        self.shared.backend.auth()
    }

    fn logging_out(&self) -> Option<&impl LoggingOut> {
        self.shared.backend.logging_out()
    }

    async fn given_up(&self) {
        self.shared.undoing.wait().await;
    }

    async fn disconnected(&self) {
        self.shared.close_all().await;
        self.shared.undoing.wait().await;
    }
}

impl<B: Backend> Modes for Runtime<B> {
    async fn set_mode(&self, session: SessionId, mode: SessionModeId) -> Result<(), Error> {
        let owner = self.shared.owner(&session).ok_or_else(|| crate::router::unknown(&session))?;
        owner.core.change(|choice, catalogue| choice.in_mode(&mode, catalogue)).await?;
        // Clients that use options learn of it by their own kind of update.
        owner.core.tell_options().await;
        Ok(())
    }
}

impl<B: Backend> Config for Runtime<B> {
    async fn set_option(
        &self,
        request: SetSessionConfigOptionRequest,
    ) -> Result<Vec<SessionConfigOption>, Error> {
        let owner = self
            .shared
            .owner(&request.session_id)
            .ok_or_else(|| crate::router::unknown(&request.session_id))?;
        let change = owner
            .core
            .change(|choice, catalogue| choice.set(&request.config_id, &request.value, catalogue))
            .await?;
        Ok(change.options(&owner.core.catalogue()))
    }
}

impl<B: Backend> Closing for Runtime<B> {
    async fn close(&self, session: SessionId) -> Result<(), Error> {
        let owner = lock(&self.shared.owners).remove(&session);
        match owner {
            Some(owner) => self.shared.shut(&owner, false).await,
            // It was to be opened anew, and that was given up or failed half-way: nothing of it is open.
            None => Ok(()),
        }
    }
}

impl<B: Backend> Deleting for Runtime<B> {
    async fn delete(&self, session: SessionId) -> Result<(), Error> {
        let owner = lock(&self.shared.owners).remove(&session);
        let deleted = match (owner, &self.shared.parts.store) {
            (Some(owner), _) => self.shared.shut(&owner, true).await,
            // A session that was never there counts as deleted.
            (None, Some(store)) => store.delete(session.clone()).await.map(drop).map_err(store_error),
            (None, None) => Ok(()),
        };
        deleted?;
        match &self.shared.parts.store {
            Some(store) => delete_children(store, session).await,
            None => Ok(()),
        }
    }
}

/// What a deleted session left behind on the side, all the way down.
async fn delete_children(store: &Store, parent: SessionId) -> Result<(), Error> {
    let mut parents = vec![parent];
    while let Some(parent) = parents.pop() {
        loop {
            let query = Query::newest(100).with_active().children_of(parent.clone());
            let page = store.list(query).await.map_err(store_error)?;
            if page.entries.is_empty() {
                break;
            }
            for entry in page.entries {
                parents.push(entry.header.id.clone());
                store.delete(entry.header.id).await.map_err(store_error)?;
            }
        }
    }
    Ok(())
}

impl<B: Backend> Shared<B> {
    fn owner(&self, id: &SessionId) -> Option<Arc<Owner<B::Session>>> {
        lock(&self.owners).get(id).cloned()
    }

    async fn shut(&self, owner: &Owner<B::Session>, delete: bool) -> Result<(), Error> {
        owner.close(self.backend.closed(&owner.backend), delete).await
    }

    /// Every session is closed, all at once, whatever becomes of the others; then the failures are told.
    async fn close_all(self: &Arc<Self>) {
        let mut closing = JoinSet::new();
        let owners: Vec<_> = lock(&self.owners).drain().map(|(_, owner)| owner).collect();
        for owner in owners {
            let shared = Arc::clone(self);
            closing.spawn(async move { (owner.core.id.clone(), shared.shut(&owner, false).await) });
        }
        while let Some(joined) = closing.join_next().await {
            match joined {
                Ok((_, Ok(()))) => {}
                Ok((session, Err(error))) => {
                    tracing::error!(%session, %error, "a session was not closed cleanly");
                }
                Err(error) => tracing::error!(%error, "closing a session failed unexpectedly"),
            }
        }
    }

    /// Tells every session when the catalogue changes, until the connection ends.
    fn follow_catalogue(self: &Arc<Self>, connection: Connection) {
        let Some(mut changes) = self.changes.clone() else { return };
        let shared = Arc::clone(self);
        tokio::spawn(async move {
            let followed = async {
                while changes.changed().await.is_ok() {
                    *lock(&shared.parts.catalogue) = Arc::new(changes.borrow_and_update().clone());
                    let mut owners: Vec<_> = lock(&shared.owners).values().cloned().collect();
                    owners.sort_by(|a, b| a.core.id.cmp(&b.core.id));
                    for owner in owners {
                        owner.core.tell_options().await;
                    }
                }
            };
            tokio::select! { () = followed => {}, () = connection.ended() => {} }
        });
    }
}

/// The chosen model's word on images, beyond what the agent as a whole can take.
fn takes_images(choice: &Choice, catalogue: &Catalogue, blocks: &[ContentBlock]) -> Result<(), Error> {
    let model = choice.route.as_ref().and_then(|route| catalogue.model(route));
    if model.is_none_or(|model| model.images) {
        return Ok(());
    }
    match blocks.iter().position(|block| matches!(block, ContentBlock::Image(_))) {
        Some(number) => Err(Error::invalid_params(
            format!("prompt[{number}].type"),
            "content that the chosen model takes",
        )),
        None => Ok(()),
    }
}

/// What a client is told of a failing store.
fn store_error(error: StoreError) -> Error {
    match error {
        // No session has an id that cannot be stored.
        StoreError::UnusableId(_) => Error::resource_not_found("no such session is stored"),
        StoreError::Unknown(id) => Error::resource_not_found("no such session is stored")
            .with_data(serde_json::json!({ "sessionId": crate::router::shown(&id) })),
        StoreError::Active(id) => Error::invalid_request("the session is active; close it where it is open")
            .with_data(serde_json::json!({ "sessionId": crate::router::shown(&id) })),
        StoreError::TooManyOpen(open) => Error::internal("too many sessions are open; close some")
            .with_data(serde_json::json!({ "open": open })),
        other => {
            tracing::error!(error = %other, cause = ?std::error::Error::source(&other), "the store failed");
            Error::internal("the session store failed")
        }
    }
}

/// Milliseconds since the epoch.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
