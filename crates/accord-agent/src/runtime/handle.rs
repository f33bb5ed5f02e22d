//! A session as its backend holds it between turns.

use std::{path::Path, sync::Arc};

use accord_protocol::v1::{
    SessionConfigId, SessionConfigOptionValue, SessionId, SessionInfoUpdate, SessionUpdate,
};
use serde_json::value::RawValue;

use super::backend::History;
use super::child::Child;
use super::choice::Choice;
use super::owner::Core;
use crate::handler::Error;

/// An open session, as far as it outlives a turn. Clones are the same session.
#[derive(Clone, Debug)]
pub struct SessionHandle {
    pub(super) core: Arc<Core>,
}

impl SessionHandle {
    /// The session's id.
    pub fn id(&self) -> &SessionId {
        &self.core.id
    }

    /// Its working directory, absolute and without links.
    pub fn cwd(&self) -> &Path {
        &self.core.cwd
    }

    /// What it is set to now; a running turn keeps what it was admitted with.
    pub fn choice(&self) -> Choice {
        self.core.choice()
    }

    /// The title it was given last.
    pub fn title(&self) -> Option<String> {
        self.core.title()
    }

    /// Something happened outside a turn: it is stored and sent, as the projection shows it.
    ///
    /// What is sent before the client knows the session, from [`Backend::open`](super::Backend::open) on, follows the answer
    /// in which it learns of it.
    ///
    /// # Errors
    /// The update does not serialise; or about 1 MiB was sent already by a backend that still opens the session.
    ///
    /// # Cancel safety
    /// The update is handed over whole or not at all.
    pub async fn update(&self, update: impl Into<SessionUpdate> + Send) -> Result<(), Error> {
        self.core.happen(update.into()).await
    }

    /// Gives the session a title.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    ///
    /// # Cancel safety
    /// As [`update`](Self::update).
    pub async fn set_title(&self, title: impl Into<String> + Send) -> Result<(), Error> {
        self.update(SessionInfoUpdate::new().title(title.into())).await
    }

    /// Changes one of its options, for the next turn, and tells the client.
    ///
    /// # Errors
    /// `-32602` for an option or a value that is not offered; nothing is changed then.
    ///
    /// # Cancel safety
    /// The option may be changed although the future was dropped.
    pub async fn set_option(
        &self,
        option: impl Into<SessionConfigId> + Send,
        value: impl Into<SessionConfigOptionValue> + Send,
    ) -> Result<(), Error> {
        let (option, value) = (option.into(), value.into());
        self.core.change(|choice, catalogue| choice.set(&option, &value, catalogue)).await?;
        self.core.tell_options().await;
        Ok(())
    }

    /// Opens a child session: one that works for this one, is not listed and not resumed, and is closed with it.
    ///
    /// # Errors
    /// There is no store, or it failed.
    ///
    /// # Cancel safety
    /// A child that nobody got is closed, and has left nothing.
    pub async fn child(&self) -> Result<Child, Error> {
        let store = self.core.store.as_ref().ok_or_else(|| Error::internal("there is no store"))?;
        // It was made from text when the session was opened.
        let cwd = self.core.cwd.to_string_lossy().into_owned();
        self.core.children.open(store, self.core.id.clone(), cwd).await
    }

    /// The MCP servers mounted in it.
    #[cfg(feature = "mcp")]
    pub fn mounts(&self) -> &crate::mcp::Mounts {
        &self.core.tools.mounts
    }

    /// What the backend recorded in the session so far.
    pub fn history(&self) -> History {
        History::new(self.core.store.clone(), self.core.id.clone())
    }

    /// All of what the backend recorded; see [`History`] for a way that does not hold it in memory.
    ///
    /// # Errors
    /// The store could not be read.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn records(&self) -> Result<Vec<Box<RawValue>>, Error> {
        self.core.chain.drain().await?;
        self.history().all().await
    }
}
