//! Why a store did not do what it was asked.

use std::io;
use std::path::{Path, PathBuf};

use accord_protocol::v1::SessionId;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such session.
    #[error("no session {0} is stored")]
    Unknown(SessionId),
    /// The session is open, here or in another process.
    #[error("session {0} is active")]
    Active(SessionId),
    /// The id is taken.
    #[error("session {0} exists already")]
    Exists(SessionId),
    /// The caller appended to a session that it did not open.
    #[error("session {0} is not open")]
    NotOpen(SessionId),
    /// An id that the store cannot keep, because it is empty or too long.
    #[error("a session id of {0} bytes cannot be stored")]
    UnusableId(usize),
    /// An earlier failure left the session in a state that this store cannot append to.
    #[error("session {0} failed earlier and has to be opened again")]
    Poisoned(SessionId),
    /// An open session holds a file, and the process may have no more of them.
    #[error(
        "no further session can be opened beside the {0} that are: the process may not have more files open"
    )]
    TooManyOpen(usize),
    /// The store was made by a newer version.
    #[error("{} has version {found}, this program knows versions up to {known}", path.display())]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// The version found on the disk.
        found: u32,
        /// The newest version this program reads.
        known: u32,
    },
    /// The disk, or what stands for it, refused. The kind of the source tells a full disk from a missing permission.
    #[error("{} could not be {action}", place(path.as_deref()))]
    Io {
        /// What was being done: `read`, `written`, `locked`, …
        action: &'static str,
        /// What it was done to, where that has a path.
        path: Option<PathBuf>,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The store's thread is gone.
    #[error("the store has stopped")]
    Stopped,
}

impl StoreError {
    /// For `map_err`: a refusal of the disk, with what was being done.
    pub fn io(action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: None, source }
    }

    /// The same with the path of the file or the directory.
    pub fn io_at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: Some(path.to_owned()), source }
    }
}

fn place(path: Option<&Path>) -> String {
    path.map_or_else(|| "the store".to_owned(), |path| path.display().to_string())
}
