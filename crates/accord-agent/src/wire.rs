//! One connection as its handlers share it: the handle, what the client can do, and the table of open sessions.

use std::sync::{Arc, OnceLock};

use accord_protocol::v1::{
    ClientCapabilities, Implementation, InitializeRequest, SessionConfigKind, SessionConfigOption,
    SessionUpdate,
};
use accord_transport::Handle;

use crate::table::Table;

/// What everything on one connection shares.
#[derive(Debug)]
pub(crate) struct Wire {
    pub(crate) handle: Handle,
    /// The longest line, in bytes.
    pub(crate) frame_limit: usize,
    client: OnceLock<InitializeRequest>,
    pub(crate) table: Arc<Table>,
}

impl Wire {
    pub(crate) fn new(handle: Handle, frame_limit: usize) -> Self {
        Self { handle, frame_limit, client: OnceLock::new(), table: Arc::default() }
    }

    /// `false` when the client has introduced itself before: the first introduction counts.
    pub(crate) fn introduce(&self, client: InitializeRequest) -> bool {
        self.client.set(client).is_ok()
    }

    pub(crate) fn client_info(&self) -> Option<&Implementation> {
        self.client.get()?.client_info.get()
    }

    /// Nothing, before the client has introduced itself.
    pub(crate) fn capabilities(&self) -> &ClientCapabilities {
        static NONE: OnceLock<ClientCapabilities> = OnceLock::new();
        self.client
            .get()
            .and_then(|client| client.client_capabilities.as_ref())
            .unwrap_or_else(|| NONE.get_or_init(ClientCapabilities::default))
    }

    /// Whether the client may be sent this update: some kinds are only for those that ask for them.
    pub(crate) fn takes(&self, update: &SessionUpdate) -> bool {
        let session = self.capabilities().session.get();
        match update {
            SessionUpdate::Notice(_) => session.is_some_and(|session| session.notices.is_value()),
            SessionUpdate::CompactionUpdate(_) | SessionUpdate::CompactionSummaryChunk(_) => {
                session.is_some_and(|session| session.compaction.is_value())
            }
            _ => true,
        }
    }

    /// Leaves out the options of kinds that the client did not ask for.
    pub(crate) fn fit_options(&self, options: &mut Vec<SessionConfigOption>) {
        let session = self.capabilities().session.get();
        let booleans = session
            .and_then(|session| session.config_options.get())
            .is_some_and(|options| options.boolean.is_value());
        if !booleans {
            options.retain(|option| !matches!(option.kind, SessionConfigKind::Boolean(_)));
        }
    }
}
