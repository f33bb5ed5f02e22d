//! Two processes on one store: what one has open is the other's to see and not to touch, for exactly as long as it lives.

use std::fs;

use accord_agent::store::{Query, SessionStore, StoreError};

use super::life::{self, Deed, KINDS};
use super::lives::{Expected, Life};

fn new(id: &str) -> Deed {
    Deed::New(id.to_owned())
}

fn is_active(store: &mut dyn SessionStore, id: &str) -> bool {
    matches!(store.open(&id.into()), Err(StoreError::Active(_)))
        && matches!(store.delete(&id.into()), Err(StoreError::Active(_)))
        && !store
            .list(&Query::newest(10))
            .expect("listed")
            .entries
            .iter()
            .any(|entry| entry.header.id.as_str() == id)
}

// D5, D7: new, append, list, open, close and delete, all at once; and a third that holds what it has
#[test]
fn processes_share_a_store() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let mut holder = Life::obedient(dir.path(), kind);
        assert_eq!(holder.tell(&new("h-held")), "@ ok");
        let mut lives = ["a", "b"].map(|name| Life::free(dir.path(), kind, name, 7, 150));
        let mut all = Expected::default();
        for life in &mut lives {
            let mut expected = Expected::default();
            while let Some(line) = life.line() {
                expected.hear(&line);
            }
            all.merge(expected);
        }
        assert!(lives.into_iter().all(Life::end), "{kind}");
        assert!(is_active(&mut *life::open(kind, dir.path()).unwrap(), "h-held"), "{kind}");
        let mut held = Expected::default();
        held.hear("> new h-held");
        held.hear("<");
        all.merge(held);
        holder.kill();
        assert!(!holder.end());
        all.check(kind, dir.path(), kind);
    }
}

// D7: not before its owner is dead, also when that does nothing any more, and at once when it is
#[test]
fn a_claim_lives_exactly_as_long_as_its_owner() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let mut store = life::open(kind, dir.path()).unwrap();
        let mut owner = Life::obedient(dir.path(), kind);
        for deed in [new("a"), Deed::Append("a".into(), 0, 4), Deed::Lazy("b".into())] {
            assert_eq!(owner.tell(&deed), "@ ok");
        }
        assert!(is_active(&mut *store, "a"), "{kind}");
        owner.signal("STOP");
        assert!(is_active(&mut *store, "a"), "{kind}: stopped is not dead");
        owner.signal("CONT");
        assert_eq!(owner.tell(&Deed::Append("a".into(), 4, 1)), "@ ok");
        owner.kill();
        assert!(!owner.end());
        // The other store was open all the time: it clears nothing up, and the dead one's lock file may still be there.
        assert_eq!(store.list(&Query::newest(10)).unwrap().entries.len(), 1, "{kind}");
        store.open(&"a".into()).unwrap();
        assert_eq!(
            life::read_all(&mut *store, "a").unwrap(),
            life::records(0, 4).into_iter().chain(life::records(4, 1)).collect::<Vec<_>>()
        );
        store.create(&life::header("b")).unwrap();
    }
}

// D7: the one that comes second is refused, whoever that is, and may as soon as the first has closed
#[test]
fn a_session_goes_from_hand_to_hand() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let [mut one, mut two] = [(); 2].map(|()| Life::obedient(dir.path(), kind));
        assert_eq!(one.tell(&new("a")), "@ ok");
        for turn in 0..10 {
            let (owner, other) = if turn % 2 == 0 { (&mut one, &mut two) } else { (&mut two, &mut one) };
            for deed in [Deed::Open("a".into()), Deed::Delete("a".into())] {
                assert_eq!(other.tell(&deed), r#"@ Active("a")"#, "{kind}");
            }
            assert_eq!(other.tell(&new("a")), r#"@ Exists("a")"#, "{kind}");
            assert_eq!(owner.tell(&Deed::Append("a".into(), 3 * turn, 3)), "@ ok");
            assert_eq!(owner.tell(&Deed::Close("a".into())), "@ ok");
            assert_eq!(other.tell(&Deed::Open("a".into())), "@ ok", "{kind}");
        }
        let found = life::read_all(&mut *life::open(kind, dir.path()).unwrap(), "a").unwrap();
        let expected: Vec<_> = (0..10).flat_map(|turn| life::records(3 * turn, 3)).collect();
        assert_eq!(found, expected, "{kind}");
    }
}

// What a process that died left of its locks says nothing.
#[test]
fn a_dead_process_s_lock_file_keeps_nobody_out() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let mut store = life::open(kind, dir.path()).unwrap();
        store.create(&life::header("a")).unwrap();
        store.materialise(&"a".into()).unwrap();
        store.close(&"a".into()).unwrap();
        if *kind == "sqlite" {
            fs::write(dir.path().join("locks/a"), "12345").unwrap();
        } else {
            fs::write(dir.path().join("b.new"), "{").unwrap();
        }
        store.open(&"a".into()).unwrap();
        store.create(&life::header("b")).unwrap();
        store.materialise(&"b".into()).unwrap();
        assert_eq!(store.list(&Query::newest(10).with_active()).unwrap().entries.len(), 2, "{kind}");
    }
}
