//! A disk that forgets what was not synced.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use accord_agent::store::jsonl::Disk;

/// What a power cut would leave: bytes that were synced, under names that were.
#[derive(Clone, Default)]
pub(super) struct Forgetful(Arc<Mutex<State>>);

#[derive(Default)]
pub(super) struct State {
    /// Synced length of each file, by its present name.
    synced: HashMap<PathBuf, u64>,
    /// Names whose directory was synced since they appeared.
    named: Vec<PathBuf>,
    new_names: Vec<PathBuf>,
    /// How many further bytes the disk takes before it is full.
    pub(super) room: Option<usize>,
    pub(super) refuse_sync: bool,
    /// Says that it synced files, or names, and did not.
    pub(super) careless: Option<Careless>,
    /// Files whose removal was not synced, with what was in them.
    removed: Vec<(PathBuf, Vec<u8>)>,
}

/// What a disk leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Careless {
    Files,
    Names,
}

/// What the unsynced part of a file looks like afterwards.
#[derive(Clone, Copy, Debug)]
pub(super) enum Remains {
    Nothing,
    Half,
    Zeros,
    Everything,
}

impl Remains {
    pub(super) const ALL: [Self; 4] = [Self::Nothing, Self::Half, Self::Zeros, Self::Everything];
}

impl Forgetful {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics while it holds this")
    }

    pub(super) fn cut_the_power(&self, dir: &Path, remains: Remains) {
        let mut state = self.state();
        for (path, bytes) in std::mem::take(&mut state.removed) {
            if path.starts_with(dir) {
                fs::write(path, bytes).expect("what was removed is there again");
            }
        }
        for entry in fs::read_dir(dir).expect("the store's directory") {
            let path = entry.expect("its entry").path();
            if !state.named.contains(&path) {
                fs::remove_file(&path).expect("a name that was never synced");
                continue;
            }
            let synced = state.synced.get(&path).copied().unwrap_or(0);
            let file = OpenOptions::new().write(true).open(&path).expect("the file");
            let length = file.metadata().expect("its length").len();
            match remains {
                Remains::Everything => {}
                Remains::Nothing => file.set_len(synced).expect("cut"),
                Remains::Half => file.set_len(synced + (length - synced) / 2).expect("cut"),
                Remains::Zeros => {
                    file.set_len(synced).expect("cut");
                    file.set_len(length).expect("filled with zeros");
                }
            }
        }
    }
}

impl Disk for Forgetful {
    fn append(&mut self, _: &Path, mut file: &File, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let room = state.room.unwrap_or(usize::MAX).min(bytes.len());
        if let Some(left) = &mut state.room {
            *left -= room;
        }
        file.write_all(&bytes[..room])?;
        if room < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn sync(&mut self, path: &Path, file: &File) -> io::Result<()> {
        let mut state = self.state();
        if state.refuse_sync {
            return Err(io::Error::other("the disk is on fire"));
        }
        if state.careless != Some(Careless::Files) {
            state.synced.insert(path.to_owned(), file.metadata()?.len());
        }
        Ok(())
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        let mut state = self.state();
        let synced = state.synced.remove(from).unwrap_or(0);
        state.synced.insert(to.to_owned(), synced);
        state.new_names.push(to.to_owned());
        Ok(())
    }

    fn truncate(&mut self, path: &Path, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)?;
        let mut state = self.state();
        if let Some(synced) = state.synced.get_mut(path) {
            *synced = length.min(*synced);
        }
        Ok(())
    }

    fn sync_dir(&mut self, _: &Path) -> io::Result<()> {
        let mut state = self.state();
        if state.careless != Some(Careless::Names) {
            let names = std::mem::take(&mut state.new_names);
            state.named.extend(names);
            state.removed.clear();
        }
        Ok(())
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        let bytes = fs::read(path)?;
        fs::remove_file(path)?;
        self.state().removed.push((path.to_owned(), bytes));
        Ok(())
    }
}
