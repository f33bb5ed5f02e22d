//! `session/fork`: a new session that begins as a copy of what another one has finished. **Unstable**, as the method is.

use accord_protocol::{
    unstable::{ForkSessionRequest, ForkSessionResponse},
    v1::SessionId,
};
use tokio_util::task::TaskTracker;

use super::backend::{Backend, History, Origin};
use super::opening::{Surroundings, state};
use super::owner::{Start, as_text, lock};
use super::{Runtime, now, restore, store_error};
use crate::{
    handler::{Error, Forking},
    store::{Header, Lease, Position, Record, Store},
};

/// Bytes in memory at a time, besides the turn that is being copied.
const PIECE: usize = 256 << 10;

impl<B: Backend> Forking for Runtime<B> {
    async fn fork(&self, request: ForkSessionRequest) -> Result<ForkSessionResponse, Error> {
        let shared = &self.shared;
        let store = shared.parts.store.as_ref().ok_or_else(|| Error::method_not_found("session/fork"))?;
        let source = request.session_id;
        let header = store.header(source.clone()).await.map_err(store_error)?;
        if header.parent.is_some() {
            return Err(Error::resource_not_found("no such session can be forked"));
        }
        let directories = request.additional_directories.unwrap_or_default();
        let servers = request.mcp_servers.unwrap_or_default();
        let around = Surroundings { cwd: request.cwd, directories, servers };
        let (cwd, text) = around.physical()?;
        let (tools, notices) = shared.mount(around.servers, &cwd).await?;
        let id = SessionId::from(uuid::Uuid::now_v7().to_string());
        let header = Header::new(id.clone(), text, now()).directories(as_text(&around.directories));
        let lease = store.create(header).await.map_err(store_error)?;
        let catalogue = lock(&shared.parts.catalogue).clone();
        let copied = Copied { lease: Some(lease), undoing: shared.undoing.clone() };
        copy(store, &source, copied.lease()).await?;
        let (past, _) = restore::past(store, copied.lease(), &catalogue).await?;
        let lease = copied.keep();
        let history = History::new(Some(store.clone()), source.clone());
        let directories = around.directories;
        let start = Start { id: id.clone(), cwd, directories, lease, past, tools, notices };
        let opened = shared.compose(start, Origin::Fork(source), history).await?;
        opened.core().chain.materialise().await?;
        let (modes, options) = state(opened.core());
        opened.keep();
        Ok(ForkSessionResponse::new(id).modes(modes).config_options(options))
    }
}

/// A copy that is being made; unless it is kept it is removed.
struct Copied {
    lease: Option<Lease>,
    undoing: TaskTracker,
}

impl Copied {
    fn lease(&self) -> &Lease {
        self.lease.as_ref().expect("it is there until it is kept or dropped")
    }

    fn keep(mut self) -> Option<Lease> {
        self.lease.take()
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        if let (Some(lease), Ok(runtime)) = (self.lease.take(), tokio::runtime::Handle::try_current()) {
            let removed = async move {
                // The failure that counts is the one that led here.
                drop(lease.delete().await);
            };
            self.undoing.spawn_on(removed, &runtime);
        }
    }
}

/// Copies what the source has finished: a turn that still runs in it is not copied. Nobody finds the copy before it is
/// whole.
async fn copy(store: &Store, source: &SessionId, lease: &Lease) -> Result<(), Error> {
    let mut turn = Vec::new();
    let mut next = Some(Position::START);
    while let Some(from) = next {
        let slice = store.read(source.clone(), from, PIECE).await.map_err(store_error)?;
        for record in slice.records {
            let finished = match &record {
                // A decision holds in the session it was made in.
                Record::Grant(_) => continue,
                Record::TurnEnd(_) => true,
                // What was chosen holds for the fork too, also if it was chosen while the turn ran.
                Record::Config(_) => {
                    lease.prepare(vec![record]).await.map_err(store_error)?;
                    continue;
                }
                _ => false,
            };
            turn.push(record);
            if finished {
                lease.prepare(std::mem::take(&mut turn)).await.map_err(store_error)?;
            }
        }
        next = slice.next;
    }
    Ok(())
}
