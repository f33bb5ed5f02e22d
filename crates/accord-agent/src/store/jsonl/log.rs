//! One session's file: append-only, one writer, and a torn end is cut off when it is opened.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use accord_protocol::v1::SessionId;
use serde::{Deserialize, Serialize};

use super::super::{Header, Position, Record, Slice, StoreError, lock};
use super::disk::Disk;
use super::name::Name;

/// The version of the format, in the header's line.
const VERSION: u32 = 1;
/// A header's line is never longer: a path has 4096 bytes, each of them escaped.
const LONGEST_HEADER: u64 = 64 * 1024;
/// How much of the end is looked at first for the last whole record.
const TAIL: u64 = 64 * 1024;
/// A file that has no header yet; the next start clears it away if nobody owns it.
const UNFINISHED: &str = "new";

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct HeaderLine<H> {
    version: u32,
    header: H,
}

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
    /// Makes the file of a new session. It has its name only once the header is in it, so no crash leaves a nameless
    /// or empty session.
    pub(super) fn create(
        disk: &mut impl Disk,
        dir: &Path,
        header: &Header,
        relaxed: bool,
    ) -> Result<Self, StoreError> {
        let path = dir.join(Name::of(header)?.to_string());
        let unfinished = path.with_extension(UNFINISHED);
        let mut line = encode(&HeaderLine { version: VERSION, header })?;
        line.push(b'\n');
        // Another process that starts just now may take the unnamed file for a leftover; the second try finds it gone.
        for last_try in [false, true] {
            let file = OpenOptions::new().read(true).append(true).create_new(true).open(&unfinished);
            let file = file.map_err(StoreError::io("created"))?;
            let mut log =
                Self { path: unfinished.clone(), file, length: 0, unsynced: false, poisoned: false };
            if !lock::claim(&log.file).map_err(StoreError::io("locked"))? && !last_try {
                continue;
            }
            let written = log.put(disk, &line).and_then(|()| if relaxed { Ok(()) } else { log.sync(disk) });
            if let Err(error) = written {
                drop(fs::remove_file(&unfinished));
                return Err(error);
            }
            match disk.rename(&unfinished, &path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && !last_try => continue,
                renamed => renamed.map_err(StoreError::io("written"))?,
            }
            log.path = path;
            if !relaxed {
                disk.sync_dir(dir).map_err(StoreError::io("synced"))?;
            }
            return Ok(log);
        }
        Err(StoreError::Active(header.id.clone()))
    }

    /// Claims a stored session and cuts off what a crash left of its last record.
    pub(super) fn open(
        disk: &mut impl Disk,
        path: &Path,
        id: &SessionId,
    ) -> Result<(Header, Self), StoreError> {
        let mut log = Self::claim(path, id)?;
        let header = read_header(path).map_err(super::not_found(id))?;
        let length = log.file.metadata().map_err(StoreError::io("read"))?.len();
        log.length = whole_length(&mut log.file, length).map_err(StoreError::io("read"))?;
        if log.length < length {
            tracing::warn!(session = %id, bytes = length - log.length, "a torn record was cut off");
            disk.truncate(path, &log.file, log.length).map_err(StoreError::io("repaired"))?;
            log.unsynced = true;
        }
        Ok((header, log))
    }

    /// Claims a stored session as it is.
    pub(super) fn claim(path: &Path, id: &SessionId) -> Result<Self, StoreError> {
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(super::not_found(id))?;
        if !lock::claim(&file).map_err(StoreError::io("locked"))? {
            return Err(StoreError::Active(id.clone()));
        }
        // Whoever had the lock before may have deleted the session: then this is a file without a name.
        if !path.exists() {
            return Err(StoreError::Unknown(id.clone()));
        }
        Ok(Self { path: path.to_owned(), file, length: 0, unsynced: false, poisoned: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

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
        for record in records {
            serde_json::to_writer(&mut lines, record)
                .map_err(|error| StoreError::io("written")(error.into()))?;
            lines.push(b'\n');
        }
        self.put(disk, &lines)
    }

    pub(super) fn sync(&mut self, disk: &mut impl Disk) -> Result<(), StoreError> {
        if self.unsynced {
            // After a failed sync the system may have forgotten what it did not write: nothing can be promised any more.
            self.poisoned = true;
            disk.sync(&self.path, &self.file).map_err(StoreError::io("synced"))?;
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
        fs::remove_file(&self.path).map_err(StoreError::io("deleted"))?;
        self.release();
        disk.sync_dir(dir).map_err(StoreError::io("synced"))
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
        Err(StoreError::io("written")(error))
    }
}

/// The header of a file; `NotFound` also for one whose first line is none.
pub(super) fn read_header(path: &Path) -> io::Result<Header> {
    let mut line = Vec::new();
    BufReader::new(File::open(path)?.take(LONGEST_HEADER)).read_until(b'\n', &mut line)?;
    let HeaderLine { version, header } = serde_json::from_slice(&line).map_err(|_| {
        tracing::warn!(file = ?path.file_name(), "a stored session has no readable header");
        io::Error::from(io::ErrorKind::NotFound)
    })?;
    if version > VERSION {
        return Err(io::Error::other(StoreError::Newer { found: version, known: VERSION }));
    }
    Ok(header)
}

/// Records from a byte position on.
pub(super) fn read(path: &Path, from: Position, limit: usize) -> io::Result<Slice> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from.get()))?;
    let mut lines = BufReader::with_capacity(64 * 1024, file);
    let (mut at, mut taken, mut records, mut line) = (from.get(), 0, Vec::new(), Vec::new());
    while taken <= limit {
        line.clear();
        let read = lines.read_until(b'\n', &mut line)?;
        // An unfinished last line is being written, or torn: not a record either way.
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(Slice::new(records, None));
        }
        let header = at == 0;
        at += read as u64;
        if header {
            continue;
        }
        taken += read;
        if let Ok(record) = serde_json::from_slice(&line) {
            records.push(record);
        } else {
            tracing::warn!(file = ?path.file_name(), at, "a damaged record was left out");
        }
    }
    Ok(Slice::new(records, Some(Position::new(at))))
}

/// The whole lines at the end of a file, newest first, as far as a tail of this many bytes goes.
pub(super) fn tail(file: &mut File, bytes: u64) -> io::Result<Vec<Vec<u8>>> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(bytes);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(bytes).read_to_end(&mut end)?;
    let mut lines: Vec<Vec<u8>> = end.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    // What follows the last line end is not a line yet, and what precedes the first one is not a whole line.
    lines.pop();
    if start > 0 && !lines.is_empty() {
        lines.remove(0);
    }
    lines.reverse();
    Ok(lines)
}

/// Removes files that a crash left without a header.
pub(super) fn clear_unfinished(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension() != Some(OsStr::new(UNFINISHED)) {
            continue;
        }
        // Owned by a process that is about to name it, or gone already: not ours to judge.
        if let Ok(file) = File::open(&path)
            && lock::claim(&file)?
        {
            drop(fs::remove_file(&path));
        }
    }
    Ok(())
}

/// Where the last record ends that is whole: its line has an end and is JSON.
///
/// A power cut can leave zeros or half a line behind what was synced, never before it.
fn whole_length(file: &mut File, length: u64) -> io::Result<u64> {
    let mut window = TAIL;
    loop {
        let start = length.saturating_sub(window);
        file.seek(SeekFrom::Start(start))?;
        let mut end = Vec::new();
        file.by_ref().take(length - start).read_to_end(&mut end)?;
        let mut whole = end.len();
        while let Some(line_end) = end[..whole].iter().rposition(|byte| *byte == b'\n') {
            let line_start = end[..line_end].iter().rposition(|byte| *byte == b'\n').map(|before| before + 1);
            let Some(line_start) = line_start.or((start == 0).then_some(0)) else { break };
            if is_record(&end[line_start..line_end]) {
                return Ok(start + line_end as u64 + 1);
            }
            whole = line_start;
        }
        if start == 0 {
            return Ok(0);
        }
        window *= 4;
    }
}

fn is_record(line: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

fn encode(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(value).map_err(|error| StoreError::io("written")(error.into()))
}
