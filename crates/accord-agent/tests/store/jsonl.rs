//! The JSONL store: the contract, and its files.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use accord_agent::store::jsonl::JsonlStore;
use accord_agent::store::{
    Header, Position, Query, Record, SessionStore as _, StoreError, TurnEnd, contract,
};

fn turn_end(at: u64) -> Record {
    Record::TurnEnd(TurnEnd::new("end_turn", at))
}

fn stored(dir: &Path, ids: &[&str]) -> JsonlStore {
    let mut store = JsonlStore::open(dir).expect("a store");
    for (id, created) in ids.iter().zip(1..) {
        store.create(&Header::new(*id, "/dir", created)).expect("a new session");
        store.append(&(*id).into(), &[turn_end(1)]).expect("a record");
        store.append(&(*id).into(), &[turn_end(2)]).expect("another");
        store.close(&(*id).into()).expect("closed");
    }
    store
}

/// The files of sessions; which ids were given is none.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).expect("the directory").map(|entry| entry.expect("its entry").path());
    entries.filter(|path| !path.ends_with("ids")).collect()
}

fn only_file(dir: &Path) -> PathBuf {
    let files = files(dir);
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].clone()
}

#[test]
fn the_contract_holds() {
    let dir = tempfile::tempdir().unwrap();
    contract::check(dir.path(), |place| JsonlStore::open(place)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    contract::check(dir.path(), |place| Ok(JsonlStore::open(place)?.relaxed())).unwrap();
}

// ACPX-RESTART-008
#[test]
fn a_damaged_session_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    drop(stored(dir.path(), &["a"]));
    fs::write(only_file(dir.path()), "{\"version\":1,\"hea").unwrap();
    fs::write(dir.path().join("000000000001-00000000-empty.jsonl"), "").unwrap();
    fs::write(dir.path().join("notes.txt"), "not ours").unwrap();
    fs::create_dir(dir.path().join("000000000001-00000000-dir.jsonl")).unwrap();
    let mut store = stored(dir.path(), &["b"]);
    let listed = store.list(&Query::newest(10)).unwrap();
    assert_eq!(listed.entries.len(), 1);
    assert_eq!(listed.entries[0].header.id.as_str(), "b");
    assert!(matches!(store.open(&"a".into()), Err(StoreError::Unknown(_))));
    assert!(dir.path().join("notes.txt").exists());
}

#[test]
fn a_damaged_record_costs_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    drop(stored(dir.path(), &["a"]));
    let file = only_file(dir.path());
    let mut bytes = fs::read(&file).unwrap();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes[second] = 0xff;
    fs::write(&file, bytes).unwrap();
    let mut store = JsonlStore::open(dir.path()).unwrap();
    store.open(&"a".into()).unwrap();
    store.append(&"a".into(), &[turn_end(3)]).unwrap();
    let slice = store.read(&"a".into(), Position::START, 1000).unwrap();
    assert_eq!(slice.records, [turn_end(2), turn_end(3)]);
}

#[test]
fn a_torn_end_is_cut_off_wherever_it_tore() {
    let whole = {
        let dir = tempfile::tempdir().unwrap();
        drop(stored(dir.path(), &["a"]));
        fs::read(only_file(dir.path())).unwrap()
    };
    let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for length in header..whole.len() {
        let dir = tempfile::tempdir().unwrap();
        drop(stored(dir.path(), &["a"]));
        fs::write(only_file(dir.path()), &whole[..length]).unwrap();
        let mut store = JsonlStore::open(dir.path()).unwrap();
        store.open(&"a".into()).unwrap();
        store.append(&"a".into(), &[turn_end(9)]).unwrap();
        let found = store.read(&"a".into(), Position::START, 1000).unwrap().records;
        let kept = whole[header..length].split(|byte| *byte == b'\n').count() - 1;
        let expected = [turn_end(1), turn_end(2)].into_iter().take(kept).chain([turn_end(9)]);
        assert_eq!(found, expected.collect::<Vec<_>>(), "torn at {length}");
    }
}

// What was appended in one go is there as a whole or not at all.
#[test]
fn of_a_torn_append_nothing_is_left() {
    let whole = {
        let dir = tempfile::tempdir().unwrap();
        let mut store = stored(dir.path(), &["a"]);
        store.open(&"a".into()).unwrap();
        store.append(&"a".into(), &[turn_end(3), turn_end(4), turn_end(5)]).unwrap();
        fs::read(only_file(dir.path())).unwrap()
    };
    let third = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(2).unwrap().0 + 1;
    for length in third..=whole.len() {
        let dir = tempfile::tempdir().unwrap();
        drop(stored(dir.path(), &["a"]));
        fs::write(only_file(dir.path()), &whole[..length]).unwrap();
        let mut store = JsonlStore::open(dir.path()).unwrap();
        store.open(&"a".into()).unwrap();
        let found = store.read(&"a".into(), Position::START, 1000).unwrap().records;
        let last = if length < whole.len() { 2 } else { 5 };
        assert_eq!(found, (1..=last).map(turn_end).collect::<Vec<_>>(), "torn at {length}");
    }
}

#[test]
fn a_torn_record_longer_than_the_tail_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    drop(stored(dir.path(), &["a"]));
    let file = only_file(dir.path());
    let whole = fs::metadata(&file).unwrap().len();
    let torn = format!("{{\"backend\":\"{}", "x".repeat(3 << 20));
    OpenOptions::new().append(true).open(&file).unwrap().write_all(torn.as_bytes()).unwrap();
    let mut store = JsonlStore::open(dir.path()).unwrap();
    store.open(&"a".into()).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().len(), whole);
}

#[test]
fn a_file_of_a_newer_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(stored(dir.path(), &["a"]));
    let file = only_file(dir.path());
    let newer = fs::read_to_string(&file).unwrap().replace("\"version\":1", "\"version\":2");
    fs::write(&file, &newer).unwrap();
    let mut store = JsonlStore::open(dir.path()).unwrap();
    assert!(matches!(store.open(&"a".into()), Err(StoreError::Newer { found: 2, known: 1, .. })));
    assert_eq!(store.list(&Query::newest(10)).unwrap().entries.len(), 0);
    assert_eq!(fs::read_to_string(&file).unwrap(), newer);
}

#[test]
fn files_without_a_header_are_cleared_away_unless_they_are_owned() {
    let dir = tempfile::tempdir().unwrap();
    let [abandoned, owned] = ["left.new", "owned.new"].map(|name| dir.path().join(name));
    fs::write(&abandoned, "{").unwrap();
    fs::write(&owned, "{").unwrap();
    let holder = fs::File::open(&owned).unwrap();
    holder.try_lock().unwrap();
    JsonlStore::open(dir.path()).unwrap();
    assert!(!abandoned.exists() && owned.exists());
}

// issue: what a new session costs does not depend on how many are stored
#[test]
fn a_new_session_reads_no_names() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(stored(outside.path(), &["late"]));
    let mut store = stored(dir.path(), &["a", "b"]);
    assert!(matches!(store.create(&Header::new("a", "/dir", 5)), Err(StoreError::Exists(_))));
    // What no store has put there is seen by whoever reads the names, and by nobody else.
    let late = only_file(outside.path());
    fs::copy(&late, dir.path().join(late.file_name().unwrap())).unwrap();
    store.create(&Header::new("late", "/dir", 5)).unwrap();
    let mut other = JsonlStore::open(dir.path()).unwrap();
    assert!(matches!(other.create(&Header::new("late", "/dir", 6)), Err(StoreError::Exists(_))));
}

#[test]
fn a_store_makes_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("a/b/c");
    drop(stored(&deep, &["a"]));
    assert_eq!(files(&deep).len(), 1);
}

// Nothing but files of sessions is a session: no link is followed, no pipe is waited for, no id leads out.
#[cfg(unix)]
#[test]
fn only_plain_files_under_their_own_names_are_sessions() {
    let (dir, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    drop(stored(outside.path(), &["linked", "copied"]));
    drop(stored(dir.path(), &["kept"]));
    for path in files(outside.path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.contains("linked") {
            std::os::unix::fs::symlink(&path, dir.path().join(name)).unwrap();
        } else {
            fs::copy(&path, dir.path().join(name.replace("copied", "other"))).unwrap();
            fs::copy(&path, dir.path().join(name.replacen("0000", "ffff", 1))).unwrap();
        }
    }
    let pipe = dir.path().join("000000000001-00000000-pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let unfinished = dir.path().join("pipe.new");
    assert!(std::process::Command::new("mkfifo").arg(&unfinished).status().unwrap().success());
    let mut store = JsonlStore::open(dir.path()).unwrap();
    let listed = store.list(&Query::newest(10).with_active()).unwrap();
    let ids: Vec<_> = listed.entries.iter().map(|entry| entry.header.id.as_str()).collect();
    assert_eq!(ids, ["kept"]);
    for id in ["linked", "other", "copied", "pipe"] {
        assert!(matches!(store.open(&id.into()), Err(StoreError::Unknown(_))), "{id}");
    }
    assert!(!store.delete(&"linked".into()).unwrap());
    assert_eq!(files(outside.path()).len(), 2);
}

#[test]
fn no_id_leads_out_of_the_folder() {
    let above = tempfile::tempdir().unwrap();
    let dir = above.path().join("store");
    let mut store = JsonlStore::open(&dir).unwrap();
    for id in ["../out", "..", "/tmp/out", "a/../../out", "./x", "C:\\out", "a\0b"] {
        store.create(&Header::new(id, "/dir", 1)).unwrap();
        store.append(&id.into(), &[turn_end(1)]).unwrap();
        store.close(&id.into()).unwrap();
        assert_eq!(fs::read_dir(above.path()).unwrap().count(), 1, "{id:?}");
        assert!(store.delete(&id.into()).unwrap(), "{id:?}");
        assert_eq!(files(&dir), Vec::<PathBuf>::new(), "{id:?}");
    }
}

// A header without the end of its line was cut by somebody; to append to it would make one line of two.
#[test]
fn half_a_header_is_no_session() {
    let dir = tempfile::tempdir().unwrap();
    drop(stored(dir.path(), &["a"]));
    let file = only_file(dir.path());
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.lines().next().unwrap()).unwrap();
    let mut store = JsonlStore::open(dir.path()).unwrap();
    assert!(matches!(store.open(&"a".into()), Err(StoreError::Unknown(_))));
    assert_eq!(store.list(&Query::newest(10)).unwrap().entries.len(), 0);
}

// D6: what nobody finds again is not acknowledged
#[cfg(unix)]
#[test]
fn a_session_whose_file_was_taken_away_promises_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = stored(dir.path(), &["a"]);
    store.open(&"a".into()).unwrap();
    let file = only_file(dir.path());
    fs::remove_file(&file).unwrap();
    let refused = store.append(&"a".into(), &[turn_end(3)]);
    let Err(error @ StoreError::Io { .. }) = refused else { panic!("{refused:?}") };
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    assert!(store.close(&"a".into()).is_ok() || store.open(&"a".into()).is_err());
}
