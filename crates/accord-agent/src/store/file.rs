//! Questions about files that both stores ask: is it still the one that was opened, is there room for more of them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::StoreError;

/// Descriptors that stay free for everything that is not a session: lists, pipes, sockets.
#[cfg(unix)]
const SPARE: usize = 16;

/// Which file it is, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    /// The file a path names at this moment. It is not opened: to close a file again, wherever in a process, gives up
    /// what a database in the same process has locked of it.
    #[cfg(unix)]
    pub(super) fn of_path(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(path).map(|metadata| Self(metadata.dev(), metadata.ino()))
    }

    /// Elsewhere an open file can be neither removed nor replaced.
    #[cfg(not(unix))]
    pub(super) fn of_path(_: &Path) -> io::Result<Self> {
        Ok(Self(0, 0))
    }

    #[cfg(unix)]
    fn of_file(file: &File) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt as _;
        file.metadata().map(|metadata| Self(metadata.dev(), metadata.ino()))
    }

    #[cfg(not(unix))]
    fn of_file(_: &File) -> io::Result<Self> {
        Ok(Self(0, 0))
    }
}

/// Whether a path still names this open file: it may have been removed, or another one put in its place.
pub(super) fn is_still(path: &Path, file: &File) -> bool {
    matches!((Identity::of_path(path), Identity::of_file(file)), (Ok(named), Ok(open)) if named == open)
}

/// What a fact meets that would go into a file nobody finds any more.
pub(super) fn lost(path: &Path) -> StoreError {
    StoreError::io_at("written", path)(io::Error::new(
        io::ErrorKind::NotFound,
        "it was removed or replaced while it was open",
    ))
}

/// Makes sure that another session can have its descriptor and leave enough for everything else.
///
/// `open` is how many sessions there are; `any` is a file or directory that can be opened and that nobody locks by name, of which the descriptors are made.
#[cfg(unix)]
pub(super) fn room_for_one_more(open: usize, any: &Path) -> Result<(), StoreError> {
    let first = match File::open(any) {
        Err(error) if is_exhausted(&error) => return Err(StoreError::TooManyOpen(open)),
        first => first.map_err(StoreError::io_at("opened", any))?,
    };
    let mut spare = Vec::with_capacity(SPARE);
    while spare.len() < SPARE {
        match first.try_clone() {
            Ok(file) => spare.push(file),
            Err(error) if is_exhausted(&error) => return Err(StoreError::TooManyOpen(open)),
            // Whatever this is, it is not what was asked about.
            Err(_) => break,
        }
    }
    Ok(())
}

/// Elsewhere there is no limit worth asking for.
#[cfg(not(unix))]
pub(super) fn room_for_one_more(_: usize, _: &Path) -> Result<(), StoreError> {
    Ok(())
}

/// Whether it failed because the process, or the system, has no descriptor left.
#[cfg(unix)]
pub(super) fn is_exhausted(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

#[cfg(not(unix))]
pub(super) fn is_exhausted(_: &io::Error) -> bool {
    false
}

/// A new directory is durable only with its entry in the one above; `sync_dir` puts a directory's names on the disk.
pub(super) fn make_dir(dir: &Path, sync_dir: &mut dyn FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    let above = match dir.parent() {
        Some(above) if !above.as_os_str().is_empty() => above,
        _ => Path::new("."),
    };
    make_dir(above, sync_dir)?;
    match fs::create_dir(dir) {
        // Another process made it; one that is no directory is found out by whoever uses it.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !dir.is_dir() => return Err(error),
        _ => {}
    }
    sync_dir(above)
}

/// Returns when the names in a directory are on the disk.
#[cfg(unix)]
pub(super) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Elsewhere a directory cannot be opened for this, and the file system journals its names.
#[cfg(not(unix))]
pub(super) fn sync_dir(_: &Path) -> io::Result<()> {
    Ok(())
}
