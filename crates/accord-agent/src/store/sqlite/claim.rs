//! Lock files: one for each open session, gone when it is closed, and worth nothing when its process is.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use accord_protocol::v1::SessionId;

use super::lock_path;
use crate::store::{StoreError, lock};

/// The directory of lock files.
#[derive(Debug)]
pub(super) struct Claims {
    dir: PathBuf,
}

/// The claim on one session; dropping it gives it up.
#[derive(Debug)]
pub(super) struct Claim {
    path: PathBuf,
    file: File,
}

impl Claims {
    /// Makes the directory, and clears away what processes that were killed have left in it.
    pub(super) fn beside(dir: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&dir)?;
        for entry in fs::read_dir(&dir)? {
            // Claiming and letting go removes the file; one that is owned stays.
            drop(claim(&entry?.path()));
        }
        Ok(Self { dir })
    }

    /// `None` when somebody owns the session.
    pub(super) fn claim(&self, id: &SessionId) -> Result<Option<Claim>, StoreError> {
        let path = lock_path(&self.dir, id).ok_or(StoreError::UnusableId(id.as_str().len()))?;
        claim(&path).map_err(StoreError::io("locked"))
    }

    /// Whether somebody owns the session.
    pub(super) fn is_claimed(&self, id: &SessionId) -> bool {
        let file = lock_path(&self.dir, id).and_then(|path| File::open(path).ok());
        // What cannot be looked at is better left alone.
        file.is_some_and(|file| lock::is_claimed(&file).unwrap_or(true))
    }
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

#[cfg(unix)]
fn is_still(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let place = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    fs::metadata(path).ok().map(place) == file.metadata().ok().map(place)
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_still(_: &Path, _: &File) -> bool {
    true
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Removed before it is unlocked: whoever opened it in between finds out by `is_still`.
        drop(fs::remove_file(&self.path));
        drop(self.file.unlock());
    }
}
