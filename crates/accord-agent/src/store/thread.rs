//! The store's own thread, and the asynchronous handle to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::{io, thread};

use accord_protocol::v1::SessionId;
use tokio::sync::oneshot;

use super::{Header, Page, Position, Query, Record, SessionStore, Slice, StoreError};

type Job = Box<dyn FnOnce(&mut dyn SessionStore) + Send>;

/// A handle to a store that works on a thread of its own, one call after the other.
///
/// Clones share the store; the thread ends, and the store is dropped, when the last of them is.
#[derive(Clone, Debug)]
pub struct Store {
    jobs: mpsc::Sender<Job>,
}

impl Store {
    /// Moves a store to its thread.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start(mut store: impl SessionStore) -> io::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        thread::Builder::new().name("accord-store".into()).spawn(move || {
            for job in queue {
                // A panic in a store costs the call that met it; its reply is dropped, which the caller sees.
                if catch_unwind(AssertUnwindSafe(|| job(&mut store))).is_err() {
                    tracing::error!("the session store panicked");
                }
            }
        })?;
        Ok(Self { jobs })
    }

    /// Claims a new session without writing anything; see [`SessionStore::create`].
    ///
    /// # Errors
    /// As [`SessionStore::create`].
    ///
    /// # Cancel safety
    /// When the future is dropped, the claim is given up.
    pub async fn create(&self, header: Header) -> Result<Lease, StoreError> {
        self.claim(move |own| own.create(&header).map(|()| header)).await
    }

    /// Claims a stored session; see [`SessionStore::open`].
    ///
    /// # Errors
    /// As [`SessionStore::open`].
    ///
    /// # Cancel safety
    /// When the future is dropped, the claim is given up.
    pub async fn open(&self, id: SessionId) -> Result<Lease, StoreError> {
        self.claim(move |own| own.open(&id)).await
    }

    /// The header of a stored session; see [`SessionStore::header`].
    ///
    /// # Errors
    /// As [`SessionStore::header`].
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn header(&self, id: SessionId) -> Result<Header, StoreError> {
        self.run(move |own| own.header(&id)).await
    }

    /// Records of a stored session; see [`SessionStore::read`].
    ///
    /// # Errors
    /// As [`SessionStore::read`].
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn read(&self, id: SessionId, from: Position, limit: usize) -> Result<Slice, StoreError> {
        self.run(move |own| own.read(&id, from, limit)).await
    }

    /// Removes a session; see [`SessionStore::delete`].
    ///
    /// # Errors
    /// As [`SessionStore::delete`].
    ///
    /// # Cancel safety
    /// The session may be removed although the future was dropped.
    pub async fn delete(&self, id: SessionId) -> Result<bool, StoreError> {
        self.run(move |own| own.delete(&id)).await
    }

    /// A page of the list; see [`SessionStore::list`].
    ///
    /// # Errors
    /// As [`SessionStore::list`].
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn list(&self, query: Query) -> Result<Page, StoreError> {
        self.run(move |own| own.list(&query)).await
    }

    /// A claim that nobody waits for any more is given up on the spot, before the next job: it may be for the same session.
    async fn claim(
        &self,
        claim: impl FnOnce(&mut dyn SessionStore) -> Result<Header, StoreError> + Send + 'static,
    ) -> Result<Lease, StoreError> {
        let store = self.clone();
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |own| {
            let lease = claim(own).map(|header| Lease { store, header, given_up: false });
            if let Err(Ok(mut unwanted)) = reply.send(lease) {
                unwanted.given_up = true;
                give_up(own, &unwanted.header.id);
            }
        });
        self.jobs.send(job).map_err(|_| StoreError::Stopped)?;
        answer.await.map_err(|_| StoreError::Stopped)?
    }

    async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut dyn SessionStore) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |store| {
            // Its caller may have gone.
            drop(reply.send(job(store)));
        });
        self.jobs.send(job).map_err(|_| StoreError::Stopped)?;
        answer.await.map_err(|_| StoreError::Stopped)?
    }
}

/// The claim on one open session. Dropping it gives the claim up; [`close`](Self::close) also says how that went.
#[derive(Debug)]
pub struct Lease {
    store: Store,
    header: Header,
    given_up: bool,
}

impl Lease {
    /// The session's header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Puts the header on the disk; see [`SessionStore::materialise`].
    ///
    /// # Errors
    /// As [`SessionStore::materialise`].
    ///
    /// # Cancel safety
    /// The header may be written although the future was dropped.
    pub async fn materialise(&self) -> Result<(), StoreError> {
        let id = self.header.id.clone();
        self.store.run(move |own| own.materialise(&id)).await
    }

    /// Adds records to a session that nobody finds yet; see [`SessionStore::prepare`].
    ///
    /// # Errors
    /// As [`SessionStore::prepare`].
    ///
    /// # Cancel safety
    /// The records may be added although the future was dropped.
    pub async fn prepare(&self, records: Vec<Record>) -> Result<(), StoreError> {
        let id = self.header.id.clone();
        self.store.run(move |own| own.prepare(&id, &records)).await
    }

    /// Adds records; see [`SessionStore::append`].
    ///
    /// # Errors
    /// As [`SessionStore::append`].
    ///
    /// # Cancel safety
    /// The records may be written although the future was dropped.
    pub async fn append(&self, records: Vec<Record>) -> Result<(), StoreError> {
        let id = self.header.id.clone();
        self.store.run(move |own| own.append(&id, &records)).await
    }

    /// Puts everything on the disk and gives the claim up.
    ///
    /// # Errors
    /// As [`SessionStore::close`].
    ///
    /// # Cancel safety
    /// The claim is given up although the future was dropped.
    pub async fn close(mut self) -> Result<(), StoreError> {
        self.given_up = true;
        let id = self.header.id.clone();
        self.store.run(move |own| own.close(&id)).await
    }

    /// Removes the session and gives the claim up.
    ///
    /// # Errors
    /// As [`SessionStore::delete`].
    ///
    /// # Cancel safety
    /// The session is removed although the future was dropped.
    pub async fn delete(mut self) -> Result<(), StoreError> {
        self.given_up = true;
        let id = self.header.id.clone();
        self.store.run(move |own| own.delete(&id)).await.map(drop)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.given_up {
            return;
        }
        let id = self.header.id.clone();
        let close: Job = Box::new(move |store| give_up(store, &id));
        // Without a thread there is no claim either.
        drop(self.store.jobs.send(close));
    }
}

fn give_up(store: &mut dyn SessionStore, id: &SessionId) {
    if let Err(error) = store.close(id) {
        tracing::warn!(session = %id, %error, "a session was not closed cleanly");
    }
}
