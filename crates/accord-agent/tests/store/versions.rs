//! What the first versions left is read, gone on with, and left alone by programs that do not know it.

use std::fs;
use std::path::Path;

use accord_agent::store::jsonl::JsonlStore;
#[cfg(feature = "sqlite")]
use accord_agent::store::sqlite::SqliteStore;
use accord_agent::store::{Header, Query, Record, SessionStore, TurnEnd};

use super::life;

/// A store with the session `old` of a version that knew no additional directories.
fn goes_on(open: impl Fn() -> Box<dyn SessionStore>) {
    let mut store = open();
    let page = store.list(&Query::newest(10)).expect("a store that works");
    assert_eq!(page.entries.len(), 1);
    let listed = &page.entries[0];
    assert_eq!(listed.header, Header::new("old", "/dir", 1_700_000_000_000));
    assert_eq!(listed.title.as_deref(), Some("An old title"));
    assert_eq!(listed.updated, Some(1_700_000_000_500));
    assert_eq!(store.open(&"old".into()).expect("a store that works"), listed.header);
    let old = life::read_all(&mut *store, "old").expect("a store that works");
    assert!(matches!(&old[..], [Record::Update(_), Record::Config(_), Record::TurnEnd(_)]), "{old:?}");
    let end = Record::TurnEnd(TurnEnd::new("end_turn", 2).directories(Some(vec!["/more".into()])));
    store.append(&"old".into(), std::slice::from_ref(&end)).expect("a store that works");
    drop(store);
    // And again, now that it has been brought up to date.
    let mut store = open();
    let again = life::read_all(&mut *store, "old").expect("a store that works");
    assert_eq!(again, old.into_iter().chain([end]).collect::<Vec<_>>());
    assert_eq!(store.list(&Query::newest(10)).expect("a store that works").entries[0].directories, ["/more"]);
}

#[test]
fn a_file_of_the_first_version_goes_on() {
    let dir = tempfile::tempdir().expect("a store that works");
    // The name says when, in which directory, and which session.
    let name = format!("{:012x}-{:08x}-old.jsonl", 1_700_000_000_000_u64, hash("/dir"));
    fs::write(dir.path().join(name), include_str!("version-1.jsonl")).expect("a store that works");
    goes_on(|| Box::new(JsonlStore::open(dir.path()).expect("a store that works")));
}

/// FNV-1a.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(feature = "sqlite")]
#[test]
fn a_database_of_the_first_version_goes_on() {
    fn old(dir: &Path) {
        let db = rusqlite::Connection::open(dir.join("sessions.db")).expect("a store that works");
        db.execute_batch(include_str!("version-1.sql")).expect("a store that works");
    }
    let dir = tempfile::tempdir().expect("a store that works");
    old(dir.path());
    goes_on(|| Box::new(SqliteStore::open(dir.path()).expect("a store that works")));
    let mut store = SqliteStore::open(dir.path()).expect("a store that works");
    let children = store.list(&Query::newest(10).children_of("old".into())).expect("a store that works");
    assert_eq!(children.entries.len(), 1);

    // Processes that start together over an old database bring it up to date once.
    let dir = tempfile::tempdir().expect("a store that works");
    old(dir.path());
    let starters: Vec<_> = (0..6)
        .map(|_| {
            let dir = dir.path().to_owned();
            std::thread::spawn(move || drop(SqliteStore::open(dir).expect("a store")))
        })
        .collect();
    for starter in starters {
        starter.join().expect("a store that works");
    }
    assert_eq!(
        SqliteStore::open(dir.path())
            .expect("a store that works")
            .list(&Query::newest(10))
            .expect("a store that works")
            .entries
            .len(),
        1
    );
}
