//! The connection as an agent may use it outside of any session.

use std::sync::Arc;

use accord_protocol::v1::{ClientCapabilities, Implementation, SessionId};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{client::ClientError, session::Session, wire::Wire};

/// The connection to a client. Clones are the same connection.
#[derive(Clone, Debug)]
pub struct Connection {
    wire: Arc<Wire>,
}

impl Connection {
    pub(crate) fn new(wire: Arc<Wire>) -> Self {
        Self { wire }
    }

    /// What the client offers.
    pub fn capabilities(&self) -> &ClientCapabilities {
        self.wire.capabilities()
    }

    /// The client's name and version, if it gave them.
    pub fn client_info(&self) -> Option<&Implementation> {
        self.wire.client_info()
    }

    /// An open session of this connection.
    pub fn session(&self, id: &SessionId) -> Option<Session> {
        let entry = self.wire.table.open(id)?;
        Some(Session { entry, wire: Arc::clone(&self.wire) })
    }

    /// A request that is not the protocol's own; its name starts with `_`.
    ///
    /// # Errors
    /// What the client said, or the connection is gone.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the request.
    pub async fn extension(
        &self,
        method: &str,
        params: &(impl Serialize + Sync),
    ) -> Result<Box<RawValue>, ClientError> {
        self.wire.handle.call_raw(method, params).await.map_err(ClientError::from)
    }

    /// A notification that is not the protocol's own; its name starts with `_`.
    ///
    /// # Errors
    /// [`ClientError::Ended`] when the connection is gone.
    ///
    /// # Cancel safety
    /// The notification is sent whole or not at all.
    pub async fn notify_extension(
        &self,
        method: &str,
        params: &(impl Serialize + Sync),
    ) -> Result<(), ClientError> {
        self.wire.handle.notify_raw(method, params).await.map_err(ClientError::from)
    }

    /// Returns when the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn ended(&self) {
        self.wire.handle.closed().await;
    }
}
