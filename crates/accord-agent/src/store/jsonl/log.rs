//! One session's file: append-only, one writer, and a torn end is cut off when it is opened.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use accord_protocol::v1::SessionId;
use serde::Serialize;

use super::super::{Header, Record, StoreError, file, lock};
use super::disk::Disk;
use super::ids::Ids;
use super::name::{self, Name};
use super::read::{self, CONTINUED, HeaderLine, LONGEST_HEADER, VERSION};
use super::repair;

/// How often a new file is tried for, a millisecond apart, while another process looks whether it is a leftover.
const TRIES: u32 = 200;

/// A claimed file.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Where the last whole record ends.
    length: u64,
    unsynced: bool,
    /// A failed write could not be undone; nothing may follow it.
    poisoned: bool,
}

impl Log {
    /// Makes the file of a new session, with its first records. It gets its [name](Self::name) only once all that is to be
    /// in it is, so no crash leaves a nameless or half a session; before that its name is the id's alone, so that an id is
    /// given once.
    pub(super) fn begin(
        disk: &mut impl Disk,
        ids: &mut Ids,
        dir: &Path,
        header: &Header,
        records: &[Record],
    ) -> Result<Self, StoreError> {
        Name::of(header)?;
        let unfinished = dir.join(name::unfinished(&header.id));
        let mut lines = Vec::new();
        encode(&HeaderLine { version: VERSION, header }, &mut lines, &unfinished)?;
        if lines.len() > LONGEST_HEADER {
            return Err(StoreError::io_at("written", &unfinished)(io::ErrorKind::FileTooLarge.into()));
        }
        encode_all(records, &mut lines, &unfinished)?;
        let mut log = Self::unnamed(unfinished, &header.id)?;
        // Whoever makes a session of this id holds the file claimed above: what is not there now does not appear.
        let new = ids
            .may_hold(&header.id)
            .and_then(|held| if held { super::ensure_new(dir, &header.id) } else { Ok(()) });
        match new.and_then(|()| ids.give(&header.id)).and_then(|()| log.put(disk, &lines)) {
            Ok(()) => Ok(log),
            Err(error) => {
                log.abandon(disk);
                Err(error)
            }
        }
    }

    /// Gives a file that was begun its name: from here on it is a session.
    pub(super) fn name(
        mut self,
        disk: &mut impl Disk,
        dir: &Path,
        header: &Header,
        relaxed: bool,
    ) -> Result<Self, StoreError> {
        let path = dir.join(Name::of(header)?.to_string());
        let written = if relaxed { Ok(()) } else { self.sync(disk) };
        let named = written.and_then(|()| {
            disk.rename(&self.path, &path).map_err(StoreError::io_at("written", &path))?;
            self.path = path;
            if relaxed { Ok(()) } else { disk.sync_dir(dir).map_err(StoreError::io_at("synced", dir)) }
        });
        match named {
            Ok(()) => Ok(self),
            Err(error) => {
                self.abandon(disk);
                Err(error)
            }
        }
    }

    /// Nobody is told of this session, so nobody may find it.
    pub(super) fn abandon(self, disk: &mut impl Disk) {
        drop(disk.remove(&self.path));
        self.release();
    }

    /// A claimed file that is no session yet.
    fn unnamed(path: PathBuf, id: &SessionId) -> Result<Self, StoreError> {
        for attempt in 0..TRIES {
            match OpenOptions::new().read(true).append(true).create_new(true).open(&path) {
                Ok(file) => {
                    // A process that starts just now may take the file for a leftover, until it is claimed.
                    if lock::claim(&file).map_err(StoreError::io_at("locked", &path))?
                        && file::is_still(&path, &file)
                    {
                        return Ok(Self { path, file, length: 0, unsynced: false, poisoned: false });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    repair::clear_if_unowned(&path).map_err(StoreError::io_at("locked", &path))?;
                }
                Err(error) => return Err(StoreError::io_at("created", &path)(error)),
            }
            if attempt > 2 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        Err(StoreError::Exists(id.clone()))
    }

    /// Claims a stored session and cuts off what a crash left of its last records.
    pub(super) fn open(
        disk: &mut impl Disk,
        path: &Path,
        id: &SessionId,
    ) -> Result<(Header, Self), StoreError> {
        let mut log = Self::claim(path, id)?;
        let header = read::header(path, id)?;
        let length = log.file.metadata().map_err(StoreError::io_at("read", path))?.len();
        log.length = repair::whole_length(&log.file, length).map_err(StoreError::io_at("read", path))?;
        if log.length < length {
            tracing::warn!(session = %id, bytes = length - log.length, "a torn record was cut off");
            disk.truncate(path, &log.file, log.length).map_err(StoreError::io_at("repaired", path))?;
            log.unsynced = true;
        }
        Ok((header, log))
    }

    /// Claims a stored session as it is.
    pub(super) fn claim(path: &Path, id: &SessionId) -> Result<Self, StoreError> {
        let file = OpenOptions::new().read(true).append(true).open(path);
        let file = file.map_err(read::not_found("opened", path, id))?;
        if !lock::claim(&file).map_err(StoreError::io_at("locked", path))? {
            return Err(StoreError::Active(id.clone()));
        }
        // Whoever had the lock before may have deleted the session: then this is a file without a name.
        if !file::is_still(path, &file) {
            return Err(StoreError::Unknown(id.clone()));
        }
        Ok(Self { path: path.to_owned(), file, length: 0, unsynced: false, poisoned: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds records in one write.
    pub(super) fn append(
        &mut self,
        disk: &mut impl Disk,
        id: &SessionId,
        records: &[Record],
    ) -> Result<(), StoreError> {
        if self.poisoned {
            return Err(StoreError::Poisoned(id.clone()));
        }
        let mut lines = Vec::new();
        encode_all(records, &mut lines, &self.path)?;
        self.put(disk, &lines)
    }

    /// Returns when everything in the file is on the disk, and the file is where somebody finds it.
    pub(super) fn sync(&mut self, disk: &mut impl Disk) -> Result<(), StoreError> {
        if self.unsynced {
            // After a failed sync the system may have forgotten what it did not write: nothing can be promised any more.
            self.poisoned = true;
            disk.sync(&self.path, &self.file).map_err(StoreError::io_at("synced", &self.path))?;
            if !file::is_still(&self.path, &self.file) {
                return Err(file::lost(&self.path));
            }
            self.poisoned = false;
            self.unsynced = false;
        }
        Ok(())
    }

    pub(super) fn close(mut self, disk: &mut impl Disk, relaxed: bool) -> Result<(), StoreError> {
        let synced = if relaxed { Ok(()) } else { self.sync(disk) };
        self.release();
        synced
    }

    pub(super) fn delete(self, disk: &mut impl Disk, dir: &Path) -> Result<(), StoreError> {
        match disk.remove(&self.path) {
            // Somebody else took it away: it is gone, as it was asked for.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(StoreError::io_at("deleted", &self.path))?,
        }
        self.release();
        disk.sync_dir(dir).map_err(StoreError::io_at("synced", dir))
    }

    /// Unlocks by word, not only by closing: a child process about to start may hold a copy of the descriptor.
    fn release(self) {
        drop(self.file.unlock());
    }

    /// Writes whole records, or, if that fails, takes back what was written of them.
    fn put(&mut self, disk: &mut impl Disk, bytes: &[u8]) -> Result<(), StoreError> {
        self.unsynced = true;
        let Err(error) = disk.append(&self.path, &self.file, bytes) else {
            self.length += bytes.len() as u64;
            return Ok(());
        };
        self.poisoned = disk.truncate(&self.path, &self.file, self.length).is_err();
        Err(StoreError::io_at("written", &self.path)(error))
    }
}

/// Records of one write. All but the last say that more belongs to them, for whoever repairs the file.
fn encode_all(records: &[Record], lines: &mut Vec<u8>, path: &Path) -> Result<(), StoreError> {
    for (number, record) in records.iter().enumerate() {
        if number + 1 < records.len() {
            lines.push(CONTINUED);
        }
        encode(record, lines, path)?;
    }
    Ok(())
}

fn encode(value: &impl Serialize, lines: &mut Vec<u8>, path: &Path) -> Result<(), StoreError> {
    serde_json::to_writer(&mut *lines, value)
        .map_err(|error| StoreError::io_at("written", path)(error.into()))?;
    lines.push(b'\n');
    Ok(())
}
