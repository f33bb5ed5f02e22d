//! A real store with something to do before each append: to fail, or to wait for the test.

use std::path::Path;

use accord_agent::{
    protocol::v1::SessionId,
    store::{Header, Page, Position, Query, Record, SessionStore, Slice, StoreError, jsonl::JsonlStore},
};

type Hook = dyn FnMut(&[Record]) -> Result<(), StoreError> + Send;

pub(crate) struct Hooked {
    store: JsonlStore,
    hook: Box<Hook>,
}

impl Hooked {
    pub(crate) fn new(
        dir: &Path,
        hook: impl FnMut(&[Record]) -> Result<(), StoreError> + Send + 'static,
    ) -> Self {
        Self { store: JsonlStore::open(dir).expect("a store"), hook: Box::new(hook) }
    }
}

impl SessionStore for Hooked {
    fn create(&mut self, header: &Header) -> Result<(), StoreError> {
        self.store.create(header)
    }
    fn materialise(&mut self, id: &SessionId) -> Result<(), StoreError> {
        self.store.materialise(id)
    }
    fn append(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        (self.hook)(records)?;
        self.store.append(id, records)
    }
    fn header(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        self.store.header(id)
    }
    fn open(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        self.store.open(id)
    }
    fn read(&mut self, id: &SessionId, from: Position, limit: usize) -> Result<Slice, StoreError> {
        self.store.read(id, from, limit)
    }
    fn close(&mut self, id: &SessionId) -> Result<(), StoreError> {
        self.store.close(id)
    }
    fn delete(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        self.store.delete(id)
    }
    fn list(&mut self, query: &Query) -> Result<Page, StoreError> {
        self.store.list(query)
    }
}
