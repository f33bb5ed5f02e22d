//! How a runtime is put together.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use super::backend::Backend;
use super::catalogue::Catalogue;
use super::owner::CoreParts;
use super::projection::Projection;
use super::{Runtime, Shared, tools};
use crate::store::Store;

/// What may be done with sessions that are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Active {
    /// They are not listed, and loading or resuming one is refused until it is closed.
    #[default]
    Reserved,
    /// They are listed, and a client may load or resume one of its own again, unless a turn runs in it.
    /// Those of other processes are refused all the same.
    Reopenable,
}

/// A [`Runtime`] to be.
#[derive(Debug)]
pub struct Builder<B: Backend> {
    backend: B,
    store: Option<Store>,
    projection: Projection,
    active: Active,
    catalogue: Catalogue,
    changes: Option<watch::Receiver<Catalogue>>,
    mounting: tools::Settings,
    fork: bool,
    revive: bool,
}

impl<B: Backend> Builder<B> {
    pub(super) fn new(backend: B) -> Self {
        Self {
            backend,
            store: None,
            projection: Projection::default(),
            active: Active::default(),
            catalogue: Catalogue::default(),
            changes: None,
            mounting: tools::Settings::default(),
            fork: false,
            revive: false,
        }
    }

    /// Where sessions live. Without a store they cannot be listed, loaded, resumed, closed or deleted, and that is what
    /// the client is told.
    #[must_use]
    pub fn store(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// How much of a session its client sees.
    #[must_use]
    pub fn projection(mut self, projection: Projection) -> Self {
        self.projection = projection;
        self
    }

    /// What may be done with sessions that are open.
    #[must_use]
    pub fn active(mut self, active: Active) -> Self {
        self.active = active;
        self
    }

    /// What sessions can be configured with.
    #[must_use]
    pub fn catalogue(mut self, catalogue: Catalogue) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// The same where it changes: every open session is told of each change.
    #[must_use]
    pub fn changing_catalogue(mut self, mut catalogue: watch::Receiver<Catalogue>) -> Self {
        self.catalogue = catalogue.borrow_and_update().clone();
        self.changes = Some(catalogue);
        self
    }

    /// How MCP servers are mounted.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp(mut self, settings: crate::mcp::McpSettings) -> Self {
        self.mounting.mcp = settings;
        self
    }

    /// What an MCP server that does not start means for its session.
    #[cfg(feature = "mcp")]
    #[must_use]
    pub fn mcp_policy(mut self, policy: crate::mcp::McpPolicy) -> Self {
        self.mounting.mcp.policy = policy;
        self
    }

    /// Offers `session/fork`. **Unstable**: neither the method nor its capability is in the protocol's stable schema, so
    /// a strict client may object to an agent that advertises it.
    #[must_use]
    pub fn unstable_fork(mut self) -> Self {
        self.fork = true;
        self
    }

    /// Opens a stored session for a prompt that names it without a load or resume: as it was left, without MCP servers.
    /// Also one that this client has closed. Without this such a prompt is refused, as most clients expect.
    #[must_use]
    pub fn revive_on_prompt(mut self) -> Self {
        self.revive = true;
        self
    }

    /// The runtime, for one connection.
    pub fn build(self) -> Runtime<B> {
        let undoing = TaskTracker::new();
        // It never ends; closed, it can be waited for whenever there is nothing in it.
        undoing.close();
        Runtime {
            shared: Arc::new(Shared {
                backend: self.backend,
                parts: CoreParts {
                    projection: self.projection,
                    store: self.store,
                    catalogue: Arc::new(Mutex::new(Arc::new(self.catalogue))),
                },
                active: self.active,
                changes: self.changes,
                mounting: self.mounting,
                fork: self.fork,
                revive: self.revive,
                undoing,
                owners: Mutex::new(HashMap::new()),
            }),
        }
    }
}
