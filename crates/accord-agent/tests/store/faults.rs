//! A disk that forgets, and what must survive it.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use accord_agent::store::jsonl::{Disk, JsonlStore};
use accord_agent::store::{Header, Position, Query, Record, SessionStore as _, StoreError, TurnEnd};
use serde_json::json;

/// What a power cut would leave: bytes that were synced, under names that were.
#[derive(Clone, Default)]
struct Forgetful(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Synced length of each file, by its present name.
    synced: HashMap<PathBuf, u64>,
    /// Names whose directory was synced since they appeared.
    named: Vec<PathBuf>,
    new_names: Vec<PathBuf>,
    /// How many further bytes the disk takes before it is full.
    room: Option<usize>,
    refuse_sync: bool,
}

/// What the unsynced part of a file looks like afterwards.
#[derive(Clone, Copy, Debug)]
enum Remains {
    Nothing,
    Half,
    Zeros,
    Everything,
}

impl Forgetful {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics while it holds this")
    }

    fn cut_the_power(&self, dir: &Path, remains: Remains) {
        let state = self.state();
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
        state.synced.insert(path.to_owned(), file.metadata()?.len());
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
        let names = std::mem::take(&mut state.new_names);
        state.named.extend(names);
        Ok(())
    }
}

fn update(number: usize) -> Record {
    let text = format!("chunk {number}");
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    Record::Update(serde_json::value::to_raw_value(&update).expect("valid JSON"))
}

fn turn_end(at: u64) -> Record {
    Record::TurnEnd(TurnEnd::new("end_turn", at))
}

fn records(store: &mut JsonlStore<Forgetful>, id: &str) -> Vec<Record> {
    store.read(&id.into(), Position::START, usize::MAX).expect("readable").records
}

// D6, rule 12
#[test]
fn what_was_acknowledged_survives_a_power_cut() {
    for remains in [Remains::Nothing, Remains::Half, Remains::Zeros, Remains::Everything] {
        let dir = tempfile::tempdir().unwrap();
        let disk = Forgetful::default();
        let mut store = JsonlStore::open_on(disk.clone(), dir.path()).unwrap();
        store.create(&Header::new("new", "/dir", 2)).unwrap();
        store.materialise(&"new".into()).unwrap();
        store.create(&Header::new("used", "/dir", 1)).unwrap();
        store.append(&"used".into(), &[update(1), turn_end(1)]).unwrap();
        store.append(&"used".into(), &[update(2)]).unwrap();
        store.append(&"used".into(), &[update(3)]).unwrap();
        drop(store);
        disk.cut_the_power(dir.path(), remains);

        let mut store = JsonlStore::open_on(disk.clone(), dir.path()).unwrap();
        let listed = store.list(&Query::newest(10)).unwrap();
        assert_eq!(listed.entries.len(), 2, "{remains:?}");
        store.open(&"new".into()).unwrap();
        store.open(&"used".into()).unwrap();
        let all = [update(1), turn_end(1), update(2), update(3)];
        let found = records(&mut store, "used");
        assert!(found.len() >= 2 && found == all[..found.len()], "{remains:?}: {found:?}");

        // What follows a repaired end is whole again, and survives the next cut.
        store.append(&"used".into(), &[update(4), turn_end(2)]).unwrap();
        drop(store);
        disk.cut_the_power(dir.path(), remains);
        let mut store = JsonlStore::open_on(disk, dir.path()).unwrap();
        let again = records(&mut store, "used");
        assert_eq!(again[..found.len()], found[..], "{remains:?}");
        assert_eq!(again[found.len()..], [update(4), turn_end(2)], "{remains:?}");
    }
}

// The relaxed mode is weaker in exactly this.
#[test]
fn a_relaxed_store_may_lose_its_last_moments_to_a_power_cut() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Forgetful::default();
    let mut store = JsonlStore::open_on(disk.clone(), dir.path()).unwrap().relaxed();
    store.create(&Header::new("a", "/dir", 1)).unwrap();
    store.append(&"a".into(), &[turn_end(1)]).unwrap();
    drop(store);
    disk.cut_the_power(dir.path(), Remains::Nothing);
    let mut store = JsonlStore::open_on(disk, dir.path()).unwrap();
    assert!(matches!(store.open(&"a".into()), Err(StoreError::Unknown(_))));
}

#[test]
fn a_full_disk_costs_the_record_and_not_the_session() {
    for room in 0..200 {
        let dir = tempfile::tempdir().unwrap();
        let disk = Forgetful::default();
        let mut store = JsonlStore::open_on(disk.clone(), dir.path()).unwrap();
        disk.state().room = Some(room);
        store.create(&Header::new("a", "/dir", 1)).unwrap();
        let written = store.append(&"a".into(), &[update(1), update(2)]).is_ok();
        disk.state().room = None;
        store.append(&"a".into(), &[update(3), turn_end(1)]).unwrap();
        let found = records(&mut store, "a");
        let mut expected = vec![update(3), turn_end(1)];
        if written {
            expected.splice(0..0, [update(1), update(2)]);
        }
        assert_eq!(found, expected, "with room for {room} bytes");
        drop(store);
        disk.cut_the_power(dir.path(), Remains::Nothing);
        assert_eq!(records(&mut JsonlStore::open_on(disk, dir.path()).unwrap(), "a"), expected);
    }
}

#[test]
fn a_session_that_could_not_be_synced_promises_nothing_any_more() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Forgetful::default();
    let mut store = JsonlStore::open_on(disk.clone(), dir.path()).unwrap();
    store.create(&Header::new("a", "/dir", 1)).unwrap();
    store.materialise(&"a".into()).unwrap();
    disk.state().refuse_sync = true;
    assert!(matches!(store.append(&"a".into(), &[turn_end(1)]), Err(StoreError::Io { .. })));
    disk.state().refuse_sync = false;
    assert!(matches!(store.append(&"a".into(), &[turn_end(2)]), Err(StoreError::Poisoned(_))));
    store.close(&"a".into()).unwrap();
    store.open(&"a".into()).unwrap();
    store.append(&"a".into(), &[turn_end(3)]).unwrap();
}

#[test]
fn a_failed_header_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Forgetful::default();
    let mut store = JsonlStore::open_on(disk.clone(), dir.path()).unwrap();
    disk.state().refuse_sync = true;
    store.create(&Header::new("a", "/dir", 1)).unwrap();
    assert!(store.materialise(&"a".into()).is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    disk.state().refuse_sync = false;
    store.materialise(&"a".into()).unwrap();
    assert_eq!(store.list(&Query::newest(10).with_active()).unwrap().entries.len(), 1);
}
