//! Child sessions: what works for a session on the side, with a log of its own that no client lists or resumes.

use std::sync::{Arc, Mutex, Weak};

use accord_protocol::v1::{SessionId, SessionUpdate};
use serde::Serialize;

use super::chain::{Chain, Link};
use super::owner::{lock, raw};
use crate::{
    handler::Error,
    store::{Header, Record, Store, TurnEnd},
};

/// A child of an open session. What happens in it is stored and not sent. It is closed with its parent.
#[derive(Clone, Debug)]
pub struct Child {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: SessionId,
    chain: Chain,
}

/// The children of a session that may be open.
#[derive(Debug, Default)]
pub(super) struct Children {
    open: Mutex<Vec<Weak<Inner>>>,
}

impl Child {
    /// The child's id.
    pub fn id(&self) -> &SessionId {
        &self.inner.id
    }

    /// Something happened in it. Nothing is written before the first of these.
    ///
    /// # Errors
    /// The update does not serialise.
    ///
    /// # Cancel safety
    /// The update is handed over whole or not at all.
    pub async fn update(&self, update: impl Into<SessionUpdate> + Send) -> Result<(), Error> {
        let record = Record::Update(raw(&update.into())?);
        self.inner.chain.push(Link::store([record])).await
    }

    /// Remembers something of the backend's own in it.
    ///
    /// # Errors
    /// The value does not serialise.
    ///
    /// # Cancel safety
    /// The record is handed over whole or not at all.
    pub async fn record(&self, value: &(impl Serialize + Sync)) -> Result<(), Error> {
        let record = Record::Backend(raw(value)?);
        self.inner.chain.push(Link::store([record])).await
    }

    /// A turn of it has ended; everything before is on the disk afterwards.
    ///
    /// # Errors
    /// The store failed.
    ///
    /// # Cancel safety
    /// The end may be written although the future was dropped.
    pub async fn end_turn(&self, stop: impl Into<String> + Send) -> Result<(), Error> {
        let end = Record::TurnEnd(TurnEnd::new(stop, super::now()));
        Ok(self.inner.chain.commit(Link::store([end])).await?)
    }
}

impl Children {
    /// Opens a child; lazily, like every session but those a client is told of.
    pub(super) async fn open(&self, store: &Store, parent: SessionId, cwd: String) -> Result<Child, Error> {
        let id = SessionId::from(uuid::Uuid::now_v7().to_string());
        let header = Header::new(id.clone(), cwd, super::now()).parent(parent);
        let lease = store.create(header).await.map_err(super::store_error)?;
        let inner = Arc::new(Inner { id, chain: Chain::start(Some(lease)) });
        let mut open = lock(&self.open);
        open.retain(|child| child.strong_count() > 0);
        open.push(Arc::downgrade(&inner));
        Ok(Child { inner })
    }

    /// Drains and closes all of them; the first failure is reported when all is done.
    pub(super) async fn close(&self) -> Result<(), Error> {
        let open = std::mem::take(&mut *lock(&self.open));
        let mut first = Ok(());
        for child in open.iter().filter_map(Weak::upgrade) {
            let (lease, drained) = child.chain.end().await;
            let closed = match lease {
                Some(lease) => lease.close().await.map_err(super::store_error),
                None => Ok(()),
            };
            first = first.and(drained.map_err(Error::from)).and(closed);
        }
        first
    }
}
