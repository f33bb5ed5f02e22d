//! Disks that refuse: what was acknowledged stays, and the error says which file it was.

use std::fs;

use accord_agent::store::{SessionStore, StoreError};

use super::life::{self, Deed, KINDS};
use super::lives::{Expected, Life};

/// Tells the life, and the expectation if it was done.
fn tell(life: &mut Life, expected: &mut Expected, deed: &Deed) -> Result<(), String> {
    let said = life.tell(deed);
    if said != "@ ok" {
        return Err(said);
    }
    expected.hear(&format!("> {deed}"));
    expected.hear("<");
    Ok(())
}

// A file that may not grow is what a full disk is, to the one who writes.
#[cfg(unix)]
#[test]
fn a_full_disk_costs_what_was_not_acknowledged() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let mut expected = Expected::default();
        let mut life = Life::cramped(dir.path(), kind, 1200);
        tell(&mut life, &mut expected, &Deed::New("a".into())).unwrap();
        let mut next = 0;
        let refused = loop {
            assert!(next < 5000, "{kind}: it is never full");
            if let Err(refused) = tell(&mut life, &mut expected, &Deed::Append("a".into(), next, 7)) {
                break refused;
            }
            next += 7;
        };
        let path = dir.path().to_str().unwrap();
        assert!(refused.contains("Io") && refused.contains(path), "{kind}: {refused}");
        // The process lives, and closes what it can.
        let _ = life.tell(&Deed::Close("a".into()));
        assert!(life.end(), "{kind}");
        expected.check(kind, dir.path(), kind);
        let mut store = life::open(kind, dir.path()).unwrap();
        store.open(&"a".into()).unwrap();
        store.append(&"a".into(), &life::records(next, 7)).unwrap();
        assert_eq!(life::read_all(&mut *store, "a").unwrap().len(), next + 7, "{kind}");
    }
}

/// Gives everybody these permissions.
#[cfg(unix)]
fn permit(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_is_named() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        permit(dir.path(), 0o555);
        let Some((mut life, first)) = Life::powerless(dir.path(), kind) else {
            println!("skipped: there is no other user here to run as");
            return;
        };
        let said = if first == "@ up" { life.tell(&Deed::New("a".into())) } else { first };
        assert!(said.starts_with("@ Io") && said.contains(dir.path().to_str().unwrap()), "{kind}: {said}");
        permit(dir.path(), 0o755);
    }
}

// ACPX-RESTART-008
#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_hides_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = life::open("jsonl", dir.path()).unwrap();
    for id in ["a", "b"] {
        Deed::New(id.into()).run(&mut *store).unwrap();
        store.close(&id.into()).unwrap();
    }
    drop(store);
    permit(dir.path(), 0o777);
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        permit(&path, if path.to_str().unwrap().contains("-a.jsonl") { 0 } else { 0o666 });
    }
    let Some((mut life, first)) = Life::powerless(dir.path(), "jsonl") else {
        println!("skipped: there is no other user here to run as");
        return;
    };
    assert_eq!(first, "@ up");
    assert_eq!(life.tell(&"list"), "@ b");
    assert_eq!(life.tell(&Deed::Open("b".into())), "@ ok");
    let refused = life.tell(&Deed::Open("a".into()));
    assert!(refused.contains("PermissionDenied") && refused.contains("-a.jsonl"), "{refused}");
}

// A store in a place that is no folder, whoever asks
#[test]
fn a_folder_that_is_none_is_named() {
    for kind in KINDS {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "not a folder").unwrap();
        for place in [file.clone(), file.join("below")] {
            let Err(error) = life::open(kind, &place) else { panic!("{kind} opens {}", place.display()) };
            assert!(matches!(error, StoreError::Io { .. }), "{kind}: {error:?}");
            assert!(error.to_string().contains(file.to_str().unwrap()), "{kind}: {error}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
    }
}
