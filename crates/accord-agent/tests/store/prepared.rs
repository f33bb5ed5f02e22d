//! Sessions that are prepared in pieces: they are there whole, or nobody finds them.

use std::path::Path;

use accord_agent::store::{
    Header, Position, Query, Record, SessionStore, StoreError, TurnEnd, jsonl::JsonlStore,
    sqlite::SqliteStore,
};

const STORES: [&str; 2] = ["jsonl", "sqlite"];

fn open(kind: &str, dir: &Path) -> Box<dyn SessionStore> {
    match kind {
        "jsonl" => Box::new(JsonlStore::open(dir).expect("a store")),
        _ => Box::new(SqliteStore::open(dir).expect("a store")),
    }
}

fn turn_end(at: u64) -> Record {
    Record::TurnEnd(TurnEnd::new("end_turn", at))
}

/// A store that has prepared two records of a session `a`.
fn preparing(kind: &str, dir: &Path) -> Box<dyn SessionStore> {
    let mut store = open(kind, dir);
    store.create(&Header::new("a", "/dir", 1)).expect("created");
    store.prepare(&"a".into(), &[turn_end(1)]).expect("prepared");
    store.prepare(&"a".into(), &[turn_end(2)]).expect("prepared");
    store
}

fn listed(store: &mut dyn SessionStore) -> Vec<String> {
    let page = store.list(&Query::newest(10).with_active()).expect("a page");
    page.entries.iter().map(|entry| entry.header.id.to_string()).collect()
}

fn read(store: &mut dyn SessionStore) -> Vec<Record> {
    store.read(&"a".into(), Position::START, 1000).expect("readable").records
}

#[test]
fn nobody_finds_a_session_before_it_is_whole() {
    for kind in STORES {
        let dir = tempfile::tempdir().unwrap();
        let mut store = preparing(kind, dir.path());
        let mut other = open(kind, dir.path());
        for store in [&mut *store, &mut *other] {
            assert_eq!(listed(store), [""; 0], "{kind}");
        }
        assert!(matches!(other.header(&"a".into()), Err(StoreError::Unknown(_))), "{kind}");
        assert!(matches!(other.open(&"a".into()), Err(StoreError::Unknown(_))), "{kind}");
        assert!(!other.delete(&"a".into()).unwrap(), "{kind}");
        // Its owner reads what there is.
        assert_eq!(read(&mut *store), [turn_end(1), turn_end(2)], "{kind}");
        store.materialise(&"a".into()).unwrap();
        store.prepare(&"a".into(), &[turn_end(3)]).unwrap();
        assert_eq!(listed(&mut *other), ["a"], "{kind}");
        store.close(&"a".into()).unwrap();
        assert_eq!(other.open(&"a".into()).unwrap(), Header::new("a", "/dir", 1), "{kind}");
        assert_eq!(read(&mut *other), [turn_end(1), turn_end(2), turn_end(3)], "{kind}");
    }
}

#[test]
fn what_is_appended_makes_it_whole() {
    for kind in STORES {
        let dir = tempfile::tempdir().unwrap();
        let mut store = preparing(kind, dir.path());
        store.append(&"a".into(), &[turn_end(3)]).unwrap();
        drop(store);
        let mut store = open(kind, dir.path());
        assert_eq!(listed(&mut *store), ["a"], "{kind}");
        assert_eq!(store.open(&"a".into()).unwrap(), Header::new("a", "/dir", 1), "{kind}");
        assert_eq!(read(&mut *store), [turn_end(1), turn_end(2), turn_end(3)], "{kind}");
    }
}

#[test]
fn what_is_given_up_leaves_nothing() {
    for kind in STORES {
        for end in ["close", "delete", "death"] {
            let dir = tempfile::tempdir().unwrap();
            let mut store = preparing(kind, dir.path());
            match end {
                "close" => store.close(&"a".into()).unwrap(),
                "delete" => assert!(!store.delete(&"a".into()).unwrap(), "{kind}"),
                // What the process held is let go of, and nothing else happens.
                _ => {
                    drop(store);
                    store = open(kind, dir.path());
                }
            }
            assert_eq!(listed(&mut *store), [""; 0], "{kind} {end}");
            store.create(&Header::new("a", "/other", 2)).unwrap();
            assert_eq!(read(&mut *store), [], "{kind} {end}");
            store.append(&"a".into(), &[turn_end(7)]).unwrap();
            assert_eq!(read(&mut *store), [turn_end(7)], "{kind} {end}");
            assert_eq!(listed(&mut *store), ["a"], "{kind} {end}");
        }
    }
}
