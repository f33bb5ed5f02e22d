//! The embedded store: a file of JSON lines for each session, no dependency, no index.
//!
//! The name of a file holds what the list is ordered and filtered by, so a page reads the directory's names once, keeps
//! one page of them in memory however many there are, and opens only the files it shows. A new session reads none.

mod disk;
mod ids;
mod list;
mod log;
mod name;
mod read;
mod repair;

pub use disk::{Disk, RealDisk};
#[cfg(feature = "sqlite")]
pub(super) use name::file_name_of;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use accord_protocol::v1::SessionId;

use self::ids::Ids;
use self::log::Log;
use self::name::Name;
use super::file::{make_dir, room_for_one_more};
use super::{Header, Page, Position, Query, Record, SessionStore, Slice, StoreError};

/// Sessions in a directory, one file each; see the [module](self).
#[derive(Debug)]
pub struct JsonlStore<D = RealDisk> {
    dir: PathBuf,
    disk: D,
    ids: Ids,
    open: HashMap<SessionId, Open>,
    relaxed: bool,
}

/// A session this store has claimed; without a log while it is not on the disk.
#[derive(Debug)]
struct Open {
    header: Header,
    log: Option<Log>,
    /// What was prepared of it until then.
    draft: Option<Log>,
}

impl JsonlStore {
    /// The store in this directory, which is made if it is not there.
    ///
    /// # Errors
    /// The directory cannot be made or read.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::open_on(RealDisk, dir)
    }
}

impl<D: Disk> JsonlStore<D> {
    /// The same on another disk, for tests of what a crash leaves.
    ///
    /// # Errors
    /// The directory cannot be made or read.
    pub fn open_on(mut disk: D, dir: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let dir = dir.into();
        make_dir(&dir, &mut |above| disk.sync_dir(above)).map_err(StoreError::io_at("created", &dir))?;
        repair::clear_unfinished(&dir).map_err(StoreError::io_at("read", &dir))?;
        let ids = Ids::read(&dir)?;
        Ok(Self { dir, disk, ids, open: HashMap::new(), relaxed: false })
    }

    /// Acknowledges facts before they are on the disk: they survive the end of the process, not a power cut.
    #[must_use]
    pub fn relaxed(mut self) -> Self {
        self.relaxed = true;
        self
    }

    /// The first that is put on the disk of a new session, behind what was prepared.
    fn first(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        let Self { dir, disk, ids, relaxed, .. } = self;
        let open = self.open.get_mut(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?;
        let draft = match open.draft.take() {
            Some(mut draft) if !records.is_empty() => match draft.append(disk, id, records) {
                Ok(()) => draft,
                Err(error) => {
                    open.draft = Some(draft);
                    return Err(error);
                }
            },
            Some(draft) => draft,
            None => Log::begin(disk, ids, dir, &open.header, records)?,
        };
        open.log = Some(draft.name(disk, dir, &open.header, *relaxed)?);
        Ok(())
    }
}

impl<D: Disk> SessionStore for JsonlStore<D> {
    fn create(&mut self, header: &Header) -> Result<(), StoreError> {
        Name::of(header)?;
        if self.open.contains_key(&header.id) {
            return Err(StoreError::Exists(header.id.clone()));
        }
        if self.ids.may_hold(&header.id)? {
            ensure_new(&self.dir, &header.id)?;
        }
        room_for_one_more(self.open.len(), &self.dir)?;
        self.open.insert(header.id.clone(), Open { header: header.clone(), log: None, draft: None });
        Ok(())
    }

    fn prepare(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        let open = self.open.get_mut(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?;
        match (&mut open.draft, &open.log) {
            (Some(draft), _) => draft.append(&mut self.disk, id, records),
            (None, Some(_)) => self.append(id, records),
            (draft, None) => {
                let begun = Log::begin(&mut self.disk, &mut self.ids, &self.dir, &open.header, records)?;
                *draft = Some(begun);
                Ok(())
            }
        }
    }

    fn materialise(&mut self, id: &SessionId) -> Result<(), StoreError> {
        let open = self.open.get(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?;
        if open.log.is_none() { self.first(id, &[]) } else { Ok(()) }
    }

    fn append(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        let open = self.open.get_mut(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?;
        let Some(log) = &mut open.log else { return self.first(id, records) };
        log.append(&mut self.disk, id, records)?;
        if !self.relaxed && records.iter().any(Record::is_fact) {
            log.sync(&mut self.disk)?;
        }
        Ok(())
    }

    fn header(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        match self.open.get(id) {
            Some(open) => Ok(open.header.clone()),
            None => read::header(&find(&self.dir, id)?, id),
        }
    }

    fn open(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        if self.open.contains_key(id) {
            return Err(StoreError::Active(id.clone()));
        }
        let path = find(&self.dir, id)?;
        room_for_one_more(self.open.len(), &self.dir)?;
        let (header, log) = Log::open(&mut self.disk, &path, id)?;
        self.open.insert(id.clone(), Open { header: header.clone(), log: Some(log), draft: None });
        Ok(header)
    }

    fn read(&mut self, id: &SessionId, from: Position, limit: usize) -> Result<Slice, StoreError> {
        let path = match self.open.get(id) {
            Some(Open { log, draft, .. }) => match log.as_ref().or(draft.as_ref()) {
                Some(log) => log.path().to_owned(),
                None => return Ok(Slice::default()),
            },
            None => find(&self.dir, id)?,
        };
        read::records(&path, from, limit).map_err(read::not_found("read", &path, id))
    }

    fn close(&mut self, id: &SessionId) -> Result<(), StoreError> {
        match self.open.remove(id) {
            Some(Open { log: Some(log), .. }) => log.close(&mut self.disk, self.relaxed),
            Some(Open { draft: Some(draft), .. }) => {
                draft.abandon(&mut self.disk);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn delete(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        let log = match self.open.remove(id) {
            Some(Open { log: None, draft, .. }) => {
                if let Some(draft) = draft {
                    draft.abandon(&mut self.disk);
                }
                return Ok(false);
            }
            Some(Open { log: Some(log), .. }) => log,
            None => match find(&self.dir, id).and_then(|path| Log::claim(&path, id)) {
                Ok(log) => log,
                Err(StoreError::Unknown(_)) => return Ok(false),
                Err(error) => return Err(error),
            },
        };
        log.delete(&mut self.disk, &self.dir).map(|()| true)
    }

    fn list(&mut self, query: &Query) -> Result<Page, StoreError> {
        list::page(&self.dir, query)
    }
}

fn ensure_new(dir: &Path, id: &SessionId) -> Result<(), StoreError> {
    match find(dir, id) {
        Ok(_) => Err(StoreError::Exists(id.clone())),
        Err(StoreError::Unknown(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Finds a session's file by reading names: no path is ever made of an id that a client sent, and no link is followed.
fn find(dir: &Path, id: &SessionId) -> Result<PathBuf, StoreError> {
    let escaped = name::escape(id.as_str());
    for entry in fs::read_dir(dir).map_err(StoreError::io_at("read", dir))? {
        let entry = entry.map_err(StoreError::io_at("read", dir))?;
        let file = entry.file_name();
        if Name::may_be_of(&file, &escaped)
            && Name::parse(&file).is_some_and(|name| name.key.id() == id)
            && entry.file_type().is_ok_and(|kind| kind.is_file())
        {
            return Ok(entry.path());
        }
    }
    Err(StoreError::Unknown(id.clone()))
}
