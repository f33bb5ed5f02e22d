//! Lock files: one for each open session, gone when it is closed, and worth nothing when its process is.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use accord_protocol::v1::SessionId;

use crate::store::file::{is_exhausted, is_still};
use crate::store::{StoreError, jsonl, lock};

/// The file that every store has locked, shared, while it is open; no session's lock file has a name like this.
const PRESENT: &str = "present.lock";
/// How often a store asks, a millisecond apart, while another one clears up.
const TRIES: u32 = 200;

/// The directory of lock files.
#[derive(Debug)]
pub(super) struct Claims {
    dir: PathBuf,
    /// Held for as long as there may be claims of this store.
    _present: File,
}

/// The claim on one session; dropping it gives it up.
#[derive(Debug)]
pub(super) struct Claim {
    path: PathBuf,
    file: File,
}

impl Claims {
    /// Makes the directory, and clears away what processes that were killed have left in it.
    /// Nobody else has the store open while `alone` runs.
    pub(super) fn beside(dir: &Path, alone: impl FnOnce()) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        let present = OpenOptions::new().create(true).truncate(false).write(true).open(dir.join(PRESENT))?;
        // To look at a lock file is to hold it for a moment, and another store that wants it in that moment would think
        // its session active. So only a store that is alone looks.
        if present.try_lock().is_ok() {
            clear(dir)?;
            alone();
            present.unlock()?;
        }
        for _ in 0..TRIES {
            if present.try_lock_shared().is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(Self { dir: dir.to_owned(), _present: present })
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// `None` when somebody owns the session.
    pub(super) fn claim(&self, id: &SessionId) -> Result<Option<Claim>, StoreError> {
        let path = path_of(&self.dir, id).ok_or(StoreError::UnusableId(id.as_str().len()))?;
        claim(&path).map_err(StoreError::io_at("locked", &path))
    }

    /// Whether somebody owns the session.
    ///
    /// # Errors
    /// There is no descriptor left to ask with.
    pub(super) fn is_claimed(&self, id: &SessionId) -> io::Result<bool> {
        let Some(path) = path_of(&self.dir, id) else { return Ok(false) };
        match File::open(path) {
            Ok(file) => Ok(lock::is_claimed(&file).unwrap_or(true)),
            Err(error) if is_exhausted(&error) => Err(error),
            Err(error) => Ok(error.kind() != io::ErrorKind::NotFound),
        }
    }
}

/// A session's lock file, if its id is not too long for one.
fn path_of(dir: &Path, id: &SessionId) -> Option<PathBuf> {
    jsonl::file_name_of(id).map(|name| dir.join(name))
}

/// Removes every lock file: none of them is owned.
fn clear(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.file_name() != Some(PRESENT.as_ref()) {
            // Claiming and letting go removes the file; one that is owned after all, by an older version, stays.
            drop(claim(&path));
        }
    }
    Ok(())
}

fn claim(path: &Path) -> io::Result<Option<Claim>> {
    loop {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        if !lock::claim(&file)? {
            return Ok(None);
        }
        // Whoever owned it may have removed the file since it was opened: then the lock is on a file nobody else sees.
        if is_still(path, &file) {
            return Ok(Some(Claim { path: path.to_owned(), file }));
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Removed before it is unlocked: whoever opened it in between finds out by `is_still`.
        drop(fs::remove_file(&self.path));
        drop(self.file.unlock());
    }
}
