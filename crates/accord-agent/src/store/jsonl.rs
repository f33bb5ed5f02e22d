//! The embedded store: a file of JSON lines for each session, no dependency, no index.
//!
//! The name of a file holds what the list is ordered and filtered by, so a page reads the directory's names once, keeps
//! one page of them in memory however many there are, and opens only the files it shows.

mod disk;
mod list;
mod log;
mod name;

pub use disk::{Disk, RealDisk};
#[cfg(feature = "sqlite")]
pub(super) use name::file_name_of;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use accord_protocol::v1::SessionId;

use self::log::Log;
use self::name::Name;
use super::{Header, Page, Position, Query, Record, SessionStore, Slice, StoreError};

/// Sessions in a directory, one file each; see the [module](self).
#[derive(Debug)]
pub struct JsonlStore<D = RealDisk> {
    dir: PathBuf,
    disk: D,
    open: HashMap<SessionId, Open>,
    relaxed: bool,
}

/// A session this store has claimed; without a log while nothing was written.
#[derive(Debug)]
struct Open {
    header: Header,
    log: Option<Log>,
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
        make_dir(&mut disk, &dir).map_err(StoreError::io("created"))?;
        log::clear_unfinished(&dir).map_err(StoreError::io("read"))?;
        Ok(Self { dir, disk, open: HashMap::new(), relaxed: false })
    }

    /// Acknowledges facts before they are on the disk: they survive the end of the process, not a power cut.
    #[must_use]
    pub fn relaxed(mut self) -> Self {
        self.relaxed = true;
        self
    }

    /// Finds a session's file by reading names: no path is ever made of an id that a client sent.
    fn find(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        for entry in fs::read_dir(&self.dir).map_err(StoreError::io("read"))? {
            let entry = entry.map_err(StoreError::io("read"))?;
            if Name::parse(&entry.file_name()).is_some_and(|name| name.key.id() == id) {
                return Ok(entry.path());
            }
        }
        Err(StoreError::Unknown(id.clone()))
    }

    fn path_of(&self, id: &SessionId) -> Result<PathBuf, StoreError> {
        match self.open.get(id) {
            Some(Open { log: Some(log), .. }) => Ok(log.path().to_owned()),
            _ => self.find(id),
        }
    }
}

impl<D: Disk> SessionStore for JsonlStore<D> {
    fn create(&mut self, header: &Header) -> Result<(), StoreError> {
        Name::of(header)?;
        if self.open.contains_key(&header.id) || self.find(&header.id).is_ok() {
            return Err(StoreError::Exists(header.id.clone()));
        }
        self.open.insert(header.id.clone(), Open { header: header.clone(), log: None });
        Ok(())
    }

    fn materialise(&mut self, id: &SessionId) -> Result<(), StoreError> {
        let open = self.open.get_mut(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?;
        open.log(&mut self.disk, &self.dir, self.relaxed).map(drop)
    }

    fn append(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        let open = self.open.get_mut(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?;
        let log = open.log(&mut self.disk, &self.dir, self.relaxed)?;
        log.append(&mut self.disk, id, records)?;
        if !self.relaxed && records.iter().any(Record::is_fact) {
            log.sync(&mut self.disk)?;
        }
        Ok(())
    }

    fn header(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        match self.open.get(id) {
            Some(open) => Ok(open.header.clone()),
            None => log::read_header(&self.find(id)?).map_err(not_found(id)),
        }
    }

    fn open(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        if self.open.contains_key(id) {
            return Err(StoreError::Active(id.clone()));
        }
        let path = self.find(id)?;
        let (header, log) = Log::open(&mut self.disk, &path, id)?;
        self.open.insert(id.clone(), Open { header: header.clone(), log: Some(log) });
        Ok(header)
    }

    fn read(&mut self, id: &SessionId, from: Position, limit: usize) -> Result<Slice, StoreError> {
        if matches!(self.open.get(id), Some(Open { log: None, .. })) {
            return Ok(Slice::default());
        }
        log::read(&self.path_of(id)?, from, limit).map_err(not_found(id))
    }

    fn close(&mut self, id: &SessionId) -> Result<(), StoreError> {
        match self.open.remove(id) {
            Some(Open { log: Some(log), .. }) => log.close(&mut self.disk, self.relaxed),
            _ => Ok(()),
        }
    }

    fn delete(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        let log = match self.open.remove(id) {
            Some(Open { log: None, .. }) => return Ok(false),
            Some(Open { log: Some(log), .. }) => log,
            None => match self.find(id).and_then(|path| Log::claim(&path, id)) {
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

impl Open {
    /// The session's log, with the header in it.
    fn log(&mut self, disk: &mut impl Disk, dir: &Path, relaxed: bool) -> Result<&mut Log, StoreError> {
        if self.log.is_none() {
            self.log = Some(Log::create(disk, dir, &self.header, relaxed)?);
        }
        // Nothing takes a log away once it is there.
        Ok(self.log.as_mut().expect("the log was made above"))
    }
}

/// A new directory is durable only with its entry in the one above.
fn make_dir(disk: &mut impl Disk, dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let above = match dir.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    };
    make_dir(disk, above)?;
    match fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    disk.sync_dir(above)
}

/// A file that vanished since its name was read is a session that was deleted.
fn not_found(id: &SessionId) -> impl FnOnce(io::Error) -> StoreError {
    let id = id.clone();
    move |error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::Unknown(id),
        _ => StoreError::io("read")(error),
    }
}
