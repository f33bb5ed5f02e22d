//! What a log asks of the disk, so that a test can put a worse disk in its place.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use super::super::file;

/// The operations whose order and completion durability rests on.
///
/// Each does the real thing unless overridden; a disk for tests keeps account of what was synced, or fails.
pub trait Disk: Send + 'static {
    /// Adds bytes at the end of a file; after an error some of them may be there.
    ///
    /// # Errors
    /// What the system said.
    fn append(&mut self, path: &Path, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        let _ = path;
        file.write_all(bytes)
    }

    /// Returns when everything written to the file is on the disk.
    ///
    /// # Errors
    /// What the system said.
    fn sync(&mut self, path: &Path, file: &File) -> io::Result<()> {
        let _ = path;
        file.sync_data()
    }

    /// Gives a file its final name.
    ///
    /// # Errors
    /// What the system said.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    /// Takes a file's name away.
    ///
    /// # Errors
    /// What the system said.
    fn remove(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    /// Cuts a file to a length.
    ///
    /// # Errors
    /// What the system said.
    fn truncate(&mut self, path: &Path, file: &File, length: u64) -> io::Result<()> {
        let _ = path;
        file.set_len(length)
    }

    /// Returns when the names in a directory are on the disk.
    ///
    /// # Errors
    /// What the system said.
    fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        file::sync_dir(dir)
    }
}

/// The disk of this machine.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RealDisk;

impl Disk for RealDisk {}
