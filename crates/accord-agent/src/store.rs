//! Durable sessions: what a store keeps, and the contract every store fulfils.
//!
//! A store is *blocking* and has one owner, its thread; [`Store`] is the asynchronous handle to that thread.
//! A session is a header and, behind it, an append-only list of records. A header, the end of a turn and a change
//! of configuration are on the disk before the call that wrote them returns; other records may still be lost with
//! the machine's page cache, but never with the process.

mod error;
mod file;
mod key;
mod record;
mod thread;

pub mod contract;
pub mod jsonl;
pub mod lock;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use error::StoreError;
pub use key::{InvalidCursor, Key};
pub use record::{Header, Record, TurnEnd};
pub use thread::{Lease, Store};

use accord_protocol::v1::SessionId;

/// Where sessions live between processes.
///
/// All calls come from one thread. A session is *open* from [`create`](Self::create) or [`open`](Self::open) until
/// [`close`](Self::close) or [`delete`](Self::delete); while it is open no other store, in this process or another,
/// can open it, and the claim dies with the process that holds it.
pub trait SessionStore: Send + 'static {
    /// Claims a new session without writing anything: an abandoned session leaves no trace.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when the id is taken; [`StoreError::TooManyOpen`].
    fn create(&mut self, header: &Header) -> Result<(), StoreError>;

    /// Adds records to an open session that is not on the disk yet, in pieces and without waiting for the disk: nobody
    /// finds the session before it is [materialised](Self::materialise) or something is [appended](Self::append), and of
    /// a process that dies before that nothing is left. To one that is on the disk they are appended, which is what a
    /// store does with all of them that says nothing else: then a part may be left, and be found.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    fn prepare(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        self.append(id, records)
    }

    /// Puts the header of an open session on the disk, if it is not there yet. Calling it again changes nothing.
    ///
    /// # Errors
    /// [`StoreError::NotOpen`]; [`StoreError::Exists`] when another store wrote a session of this id meanwhile; or the
    /// disk refused, and nothing is left of the header.
    fn materialise(&mut self, id: &SessionId) -> Result<(), StoreError>;

    /// Adds records to an open session, all of them or none; the first ones bring the header with them.
    ///
    /// Returns with everything on the disk when one of the records [is a fact](Record::is_fact). All or none also
    /// holds for a process that dies meanwhile: whoever opens the session next finds no part of them by itself.
    ///
    /// # Errors
    /// [`StoreError::NotOpen`], or the disk refused.
    fn append(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError>;

    /// The header of a stored session, open or not.
    ///
    /// # Errors
    /// [`StoreError::Unknown`], or the disk refused.
    fn header(&mut self, id: &SessionId) -> Result<Header, StoreError>;

    /// Claims a stored session for appending, after repairing what a crash left of its last record.
    ///
    /// # Errors
    /// [`StoreError::Unknown`]; [`StoreError::Active`] while it is open anywhere; [`StoreError::TooManyOpen`]; or the
    /// disk refused.
    fn open(&mut self, id: &SessionId) -> Result<Header, StoreError>;

    /// Records in the order they were added, from a position on, stopping after the one that passes `limit` bytes.
    ///
    /// [`Position::START`] is the first record; damaged records are left out. Works on any stored session.
    ///
    /// # Errors
    /// [`StoreError::Unknown`], or the disk refused.
    fn read(&mut self, id: &SessionId, from: Position, limit: usize) -> Result<Slice, StoreError>;

    /// Gives up the claim on a session after putting everything on the disk. A session that is not open is let be.
    ///
    /// # Errors
    /// The disk refused; the claim is given up nevertheless.
    fn close(&mut self, id: &SessionId) -> Result<(), StoreError>;

    /// Removes a session, whether this store has it open or nobody has. Says whether there was one.
    ///
    /// # Errors
    /// [`StoreError::Active`] while another store has it open, or the disk refused.
    fn delete(&mut self, id: &SessionId) -> Result<bool, StoreError>;

    /// One page of stored sessions, newest first.
    ///
    /// # Errors
    /// The disk refused. A session that cannot be read is left out and hides no other.
    fn list(&mut self, query: &Query) -> Result<Page, StoreError>;
}

impl SessionStore for Box<dyn SessionStore> {
    fn create(&mut self, header: &Header) -> Result<(), StoreError> {
        (**self).create(header)
    }
    fn prepare(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        (**self).prepare(id, records)
    }
    fn materialise(&mut self, id: &SessionId) -> Result<(), StoreError> {
        (**self).materialise(id)
    }
    fn append(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        (**self).append(id, records)
    }
    fn header(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        (**self).header(id)
    }
    fn open(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        (**self).open(id)
    }
    fn read(&mut self, id: &SessionId, from: Position, limit: usize) -> Result<Slice, StoreError> {
        (**self).read(id, from, limit)
    }
    fn close(&mut self, id: &SessionId) -> Result<(), StoreError> {
        (**self).close(id)
    }
    fn delete(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        (**self).delete(id)
    }
    fn list(&mut self, query: &Query) -> Result<Page, StoreError> {
        (**self).list(query)
    }
}

/// Which sessions a [page](SessionStore::list) holds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Query {
    /// Only sessions whose working directory is spelt exactly so.
    pub cwd: Option<String>,
    /// Only sessions that come after this one in the order of the list.
    pub after: Option<Key>,
    /// Whether sessions that are open, in any process, are in it.
    pub active: bool,
    /// `None` for top-level sessions, else the children of this one.
    pub parent: Option<SessionId>,
    /// How many entries a page may have.
    pub limit: usize,
}

impl Query {
    /// The newest top-level sessions that nobody has open, at most `limit`.
    pub fn newest(limit: usize) -> Self {
        Self { cwd: None, after: None, active: false, parent: None, limit }
    }

    /// Only sessions of this working directory.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<String>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Only what comes after this session.
    #[must_use]
    pub fn after(mut self, key: Key) -> Self {
        self.after = Some(key);
        self
    }

    /// Also sessions that are open somewhere.
    #[must_use]
    pub fn with_active(mut self) -> Self {
        self.active = true;
        self
    }

    /// The children of this session instead of top-level ones.
    #[must_use]
    pub fn children_of(mut self, parent: SessionId) -> Self {
        self.parent = Some(parent);
        self
    }
}

/// A page of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The sessions, newest first.
    pub entries: Vec<Listed>,
    /// Where the next page starts, if there may be one.
    pub next: Option<Key>,
}

impl Page {
    /// A page as a store found it.
    pub fn new(entries: Vec<Listed>, next: Option<Key>) -> Self {
        Self { entries, next }
    }
}

/// A stored session as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The session's header.
    pub header: Header,
    /// The additional directories it had last.
    pub directories: Vec<String>,
    /// The last title it was given.
    pub title: Option<String>,
    /// When its last turn ended, in milliseconds since the epoch.
    pub updated: Option<u64>,
}

impl Listed {
    /// An entry without a title and without turns.
    pub fn new(header: Header) -> Self {
        Self { directories: header.directories.clone(), header, title: None, updated: None }
    }
}

/// A place between two records; what it counts is the store's own business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position(u64);

impl Position {
    /// Before the first record.
    pub const START: Self = Self(0);

    /// The place a store counts so.
    pub fn new(at: u64) -> Self {
        Self(at)
    }

    /// The store's own count.
    pub fn get(self) -> u64 {
        self.0
    }
}

/// Records as they were read.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Slice {
    /// The records, oldest first.
    pub records: Vec<Record>,
    /// Where to read on; `None` at the end.
    pub next: Option<Position>,
}

impl Slice {
    /// A slice as a store read it.
    pub fn new(records: Vec<Record>, next: Option<Position>) -> Self {
        Self { records, next }
    }
}
