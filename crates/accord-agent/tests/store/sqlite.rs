//! The SQLite store: the contract, its version, its locks.

use std::{fs, io};

use accord_agent::store::sqlite::SqliteStore;
use accord_agent::store::{
    Header, Position, Query, Record, SessionStore as _, StoreError, TurnEnd, contract,
};
use rusqlite::Connection;

fn turn_end(at: u64) -> Record {
    Record::TurnEnd(TurnEnd::new("end_turn", at))
}

#[test]
fn the_contract_holds() {
    let dir = tempfile::tempdir().unwrap();
    contract::check(dir.path(), |place| SqliteStore::open(place)).unwrap();
    let dir = tempfile::tempdir().unwrap();
    contract::check(dir.path(), |place| Ok(SqliteStore::open(place)?.relaxed())).unwrap();
}

// D6, rule 12: what the settings of the database are worth is SQLite's promise; that they are set is ours
#[test]
fn facts_wait_for_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    store.create(&Header::new("a", "/dir", 1)).unwrap();
    store.append(&"a".into(), &[turn_end(1)]).unwrap();
    let db = Connection::open(dir.path().join("sessions.db")).unwrap();
    let mode: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn a_database_of_a_newer_version_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(dir.path()).unwrap());
    let db = Connection::open(dir.path().join("sessions.db")).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let refused = SqliteStore::open(dir.path());
    assert!(matches!(refused, Err(StoreError::Newer { found: 99, known: 2, .. })));
}

#[test]
fn a_database_of_an_older_version_is_brought_up_to_date() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    store.create(&Header::new("a", "/dir", 1)).unwrap();
    store.append(&"a".into(), &[turn_end(1)]).unwrap();
    drop(store);
    let db = Connection::open(dir.path().join("sessions.db")).unwrap();
    for column in ["directories", "current_directories"] {
        db.execute(&format!("ALTER TABLE sessions DROP COLUMN {column}"), []).unwrap();
    }
    db.pragma_update(None, "user_version", 1).unwrap();
    drop(db);
    let mut store = SqliteStore::open(dir.path()).unwrap();
    let page = store.list(&Query::newest(10)).unwrap();
    assert_eq!(page.entries[0].header, Header::new("a", "/dir", 1));
    store.create(&Header::new("b", "/dir", 2).directories(vec!["/x".into()])).unwrap();
    store.materialise(&"b".into()).unwrap();
    assert_eq!(store.header(&"b".into()).unwrap().directories, ["/x"]);
}

#[test]
fn processes_that_start_together_make_one_database() {
    let dir = tempfile::tempdir().unwrap();
    let starters: Vec<_> = (0..8)
        .map(|number: u64| {
            let dir = dir.path().to_owned();
            std::thread::spawn(move || {
                let mut store = SqliteStore::open(dir).expect("a store");
                let id = format!("s{number}");
                store.create(&Header::new(id.as_str(), "/dir", number)).expect("a session");
                store.append(&id.as_str().into(), &[turn_end(1)]).expect("a record");
            })
        })
        .collect();
    for starter in starters {
        starter.join().unwrap();
    }
    let listed = SqliteStore::open(dir.path()).unwrap().list(&Query::newest(10)).unwrap();
    assert_eq!(listed.entries.len(), 8);
}

#[test]
fn no_lock_file_outlives_its_use() {
    let dir = tempfile::tempdir().unwrap();
    let locks = || {
        let names = fs::read_dir(dir.path().join("locks")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name != "present.lock").count()
    };
    let mut store = SqliteStore::open(dir.path()).unwrap();
    store.create(&Header::new("a", "/dir", 1)).unwrap();
    store.materialise(&"a".into()).unwrap();
    assert_eq!(locks(), 1);
    store.close(&"a".into()).unwrap();
    assert_eq!(locks(), 0);
    // What a killed process left means nothing, and is cleared away by the next one that is alone.
    fs::write(dir.path().join("locks/a"), "").unwrap();
    assert_eq!(store.list(&Query::newest(10)).unwrap().entries.len(), 1);
    drop(SqliteStore::open(dir.path()).unwrap());
    assert_eq!(locks(), 1);
    drop(store);
    drop(SqliteStore::open(dir.path()).unwrap());
    assert_eq!(locks(), 0);
}

/// The database's path in an error, and the kind of its cause.
fn refusal(refused: Result<impl Sized, StoreError>) -> (String, io::ErrorKind) {
    match refused {
        Err(StoreError::Io { path: Some(path), source, .. }) => {
            (path.file_name().expect("a file").to_string_lossy().into_owned(), source.kind())
        }
        Err(error) => panic!("{error:?}"),
        Ok(_) => panic!("it was not refused"),
    }
}

#[test]
fn what_is_no_database_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("sessions.db");
    let garbage = "this is not a database, and it is long enough to look like one\n".repeat(100);
    fs::write(&file, &garbage).unwrap();
    assert_eq!(refusal(SqliteStore::open(dir.path())), ("sessions.db".into(), io::ErrorKind::InvalidData));
    assert_eq!(fs::read_to_string(&file).unwrap(), garbage);
}

// D6: a fact in a file that nobody finds again is not acknowledged
#[cfg(unix)]
#[test]
fn a_database_that_was_taken_away_or_replaced_promises_nothing() {
    for replaced in [false, true] {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut store = SqliteStore::open(dir.path()).unwrap();
        store.create(&Header::new("a", "/dir", 1)).unwrap();
        store.append(&"a".into(), &[turn_end(1)]).unwrap();
        let file = dir.path().join("sessions.db");
        if replaced {
            drop(SqliteStore::open(other.path()).unwrap());
            fs::rename(other.path().join("sessions.db"), &file).unwrap();
        } else {
            fs::remove_file(&file).unwrap();
        }
        let refused = store.append(&"a".into(), &[turn_end(2)]);
        assert_eq!(refusal(refused), ("sessions.db".into(), io::ErrorKind::NotFound), "{replaced}");
        store.create(&Header::new("b", "/dir", 1)).unwrap();
        assert_eq!(refusal(store.materialise(&"b".into())).1, io::ErrorKind::NotFound, "{replaced}");
    }
}

#[test]
fn the_log_is_cut_after_a_long_transaction() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap().relaxed();
    store.create(&Header::new("a", "/dir", 1)).unwrap();
    let log = || fs::metadata(dir.path().join("sessions.db-wal")).unwrap().len();
    let huge = serde_json::value::to_raw_value(&"x".repeat(12 << 20)).unwrap();
    store.append(&"a".into(), &[Record::Backend(huge)]).unwrap();
    assert!(log() > 12 << 20);
    let longest = (0..2000).map(|number| {
        store.append(&"a".into(), &[turn_end(number)]).unwrap();
        log()
    });
    // The first commit behind it begins the log anew.
    assert!(longest.skip(1).max().unwrap() <= 8 << 20);
}

// A writer behind another process's transaction waits for its turn, and loses nothing by it.
#[test]
fn a_write_waits_for_its_turn() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(dir.path()).unwrap();
    store.create(&Header::new("a", "/dir", 1)).unwrap();
    store.append(&"a".into(), &[turn_end(1)]).unwrap();
    let other = Connection::open(dir.path().join("sessions.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (start, started) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        start.send(()).expect("somebody waits");
        store.append(&"a".into(), &[turn_end(2)]).map(|()| store)
    });
    started.recv().unwrap();
    other.execute_batch("COMMIT").unwrap();
    let mut store = writer.join().unwrap().unwrap();
    let records = store.read(&"a".into(), Position::START, 1000).unwrap().records;
    assert_eq!(records, [turn_end(1), turn_end(2)]);
}
