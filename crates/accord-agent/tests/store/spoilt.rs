//! The contract suite judged by itself: stores that are wrong in one thing each, and every one is found out.

use std::path::Path;

use accord_agent::protocol::v1::SessionId;
use accord_agent::store::jsonl::JsonlStore;
use accord_agent::store::{Header, Page, Position, Query, Record, SessionStore, Slice, StoreError, contract};

/// What a store does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// What is not a fact waits in memory for the next one.
    Buffers,
    Reorders,
    AppendsTwice,
    LosesConfig,
    WritesAtCreate,
    ForgetsHeaders,
    TakesTakenIds,
    FoldsCase,
    OpensTwice,
    KeepsClaims,
    AppendsToClosed,
    KnowsEverything,
    DeletesAtClose,
    LosesDeletes,
    DeletesWhatIsNot,
    DeletesWhatIsActive,
    ReadsItAll,
    ReadsInCircles,
    SkipsAtSlices,
    OldestFirst,
    IgnoresCursors,
    IgnoresLimits,
    IgnoresDirectories,
    IgnoresParents,
    HidesActive,
    ShowsActive,
    NoNextPage,
    AlwaysANextPage,
    NoTitles,
    NoTimes,
}

const FAULTS: &[Fault] = &[
    Fault::Buffers,
    Fault::Reorders,
    Fault::AppendsTwice,
    Fault::LosesConfig,
    Fault::WritesAtCreate,
    Fault::ForgetsHeaders,
    Fault::TakesTakenIds,
    Fault::FoldsCase,
    Fault::OpensTwice,
    Fault::KeepsClaims,
    Fault::AppendsToClosed,
    Fault::KnowsEverything,
    Fault::DeletesAtClose,
    Fault::LosesDeletes,
    Fault::DeletesWhatIsNot,
    Fault::DeletesWhatIsActive,
    Fault::ReadsItAll,
    Fault::ReadsInCircles,
    Fault::SkipsAtSlices,
    Fault::OldestFirst,
    Fault::IgnoresCursors,
    Fault::IgnoresLimits,
    Fault::IgnoresDirectories,
    Fault::IgnoresParents,
    Fault::HidesActive,
    Fault::ShowsActive,
    Fault::NoNextPage,
    Fault::AlwaysANextPage,
    Fault::NoTitles,
    Fault::NoTimes,
];

/// A good store behind one fault.
struct Spoilt {
    /// There until it is dropped.
    store: Option<JsonlStore>,
    fault: Fault,
    waiting: Vec<Record>,
}

impl Spoilt {
    fn open(place: &Path, fault: Fault) -> Result<Self, StoreError> {
        Ok(Self { store: Some(JsonlStore::open(place)?), fault, waiting: Vec::new() })
    }

    fn store(&mut self) -> &mut JsonlStore {
        self.store.as_mut().expect("it is not dropped yet")
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }
}

impl Drop for Spoilt {
    fn drop(&mut self) {
        if self.has(Fault::KeepsClaims) {
            std::mem::forget(self.store.take());
        }
    }
}

impl SessionStore for Spoilt {
    fn create(&mut self, header: &Header) -> Result<(), StoreError> {
        let mut header = header.clone();
        if self.has(Fault::FoldsCase) {
            header.id = SessionId::from(header.id.as_str().to_lowercase());
        }
        match self.store().create(&header) {
            Err(StoreError::Exists(_)) if self.has(Fault::TakesTakenIds) => Ok(()),
            Ok(()) if self.has(Fault::WritesAtCreate) => self.store().materialise(&header.id),
            created => created,
        }
    }

    fn materialise(&mut self, id: &SessionId) -> Result<(), StoreError> {
        if self.has(Fault::ForgetsHeaders) { Ok(()) } else { self.store().materialise(id) }
    }

    fn append(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        let mut records = records.to_vec();
        match self.fault {
            Fault::Buffers if !records.iter().any(Record::is_fact) => {
                self.waiting.append(&mut records);
                return self.store().materialise(id);
            }
            Fault::Buffers => drop(records.splice(0..0, std::mem::take(&mut self.waiting))),
            Fault::Reorders => records.reverse(),
            Fault::AppendsTwice => self.store().append(id, &records)?,
            Fault::LosesConfig => records.retain(|record| !matches!(record, Record::Config(_))),
            _ => {}
        }
        match self.store().append(id, &records) {
            Err(StoreError::NotOpen(_)) if self.has(Fault::AppendsToClosed) => Ok(()),
            appended => appended,
        }
    }

    fn header(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        match self.store().header(id) {
            Err(StoreError::Unknown(_)) if self.has(Fault::KnowsEverything) => {
                Ok(Header::new(id.clone(), "/dir", 1))
            }
            header => header,
        }
    }

    fn open(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        match self.store().open(id) {
            Err(StoreError::Active(_)) if self.has(Fault::OpensTwice) => self.store().header(id),
            opened => opened,
        }
    }

    fn read(&mut self, id: &SessionId, from: Position, limit: usize) -> Result<Slice, StoreError> {
        let limit = if self.has(Fault::ReadsItAll) { usize::MAX } else { limit };
        let mut slice = self.store().read(id, from, limit)?;
        if self.has(Fault::ReadsInCircles) && slice.next.is_some() {
            slice.next = Some(from);
        }
        if self.has(Fault::SkipsAtSlices) && from != Position::START && !slice.records.is_empty() {
            slice.records.remove(0);
        }
        Ok(slice)
    }

    fn close(&mut self, id: &SessionId) -> Result<(), StoreError> {
        if self.has(Fault::DeletesAtClose) {
            self.store().delete(id).map(drop)
        } else {
            self.store().close(id)
        }
    }

    fn delete(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        if self.has(Fault::LosesDeletes) {
            self.store().close(id)?;
            return Ok(self.store().header(id).is_ok());
        }
        match self.store().delete(id) {
            Ok(false) if self.has(Fault::DeletesWhatIsNot) => Ok(true),
            Err(StoreError::Active(_)) if self.has(Fault::DeletesWhatIsActive) => Ok(true),
            deleted => deleted,
        }
    }

    fn list(&mut self, query: &Query) -> Result<Page, StoreError> {
        let mut query = query.clone();
        match self.fault {
            Fault::IgnoresCursors => query.after = None,
            Fault::IgnoresLimits => query.limit = 1000,
            Fault::IgnoresDirectories => query.cwd = None,
            Fault::IgnoresParents => query.parent = None,
            Fault::HidesActive => query.active = false,
            Fault::ShowsActive => query.active = true,
            _ => {}
        }
        let mut page = self.store().list(&query)?;
        match self.fault {
            Fault::OldestFirst => page.entries.reverse(),
            Fault::NoNextPage => page.next = None,
            Fault::AlwaysANextPage => {
                page.next = page.entries.last().map(|last| accord_agent::store::Key::of(&last.header));
            }
            Fault::NoTitles => page.entries.iter_mut().for_each(|entry| entry.title = None),
            Fault::NoTimes => page.entries.iter_mut().for_each(|entry| entry.updated = None),
            _ => {}
        }
        Ok(page)
    }
}

#[test]
fn every_fault_is_found() {
    let dir = tempfile::tempdir().unwrap();
    contract::check(&dir.path().join("none"), |place| Spoilt::open(place, Fault::None)).unwrap();
    for fault in FAULTS {
        let place = dir.path().join(format!("{fault:?}"));
        let found = contract::check(&place, |place| Spoilt::open(place, *fault));
        assert!(found.is_err(), "{fault:?} passes");
    }
}
