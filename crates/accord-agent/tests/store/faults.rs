//! What survives a disk that forgets, fills up or fails, and that the suite finds a store that relies on it.

use std::fs;

use accord_agent::protocol::v1::SessionId;
use accord_agent::store::jsonl::JsonlStore;
use accord_agent::store::{
    Header, Page, Position, Query, Record, SessionStore, Slice, StoreError, TurnEnd, contract,
};
use serde_json::json;

use super::forgetful::{Careless, Forgetful, Remains};

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
    for remains in Remains::ALL {
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
    let left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["ids"], "that its id was given hurts nobody");
    disk.state().refuse_sync = false;
    store.materialise(&"a".into()).unwrap();
    assert_eq!(store.list(&Query::newest(10).with_active()).unwrap().entries.len(), 1);
}

// D6, rule 12
#[test]
fn the_contract_of_a_power_cut_holds() {
    for remains in Remains::ALL {
        let (dir, disk) = (tempfile::tempdir().unwrap(), Forgetful::default());
        let open = |place: &std::path::Path| JsonlStore::open_on(disk.clone(), place);
        let checked = contract::check_power(dir.path(), open, |place| disk.cut_the_power(place, remains));
        checked.unwrap_or_else(|violation| panic!("{remains:?}: {violation}"));
    }
}

// A store that says what is not so is found out.
#[test]
fn a_store_that_does_not_sync_breaks_the_contract() {
    for careless in [Careless::Files, Careless::Names] {
        let (dir, disk) = (tempfile::tempdir().unwrap(), Forgetful::default());
        disk.state().careless = Some(careless);
        let open = |place: &std::path::Path| JsonlStore::open_on(disk.clone(), place);
        let cut = |place: &std::path::Path| disk.cut_the_power(place, Remains::Nothing);
        assert!(contract::check_power(dir.path(), open, cut).is_err(), "{careless:?} passes");
    }
    let (dir, disk) = (tempfile::tempdir().unwrap(), Forgetful::default());
    let open = |place: &std::path::Path| Ok(JsonlStore::open_on(disk.clone(), place)?.relaxed());
    let cut = |place: &std::path::Path| disk.cut_the_power(place, Remains::Nothing);
    assert!(contract::check_power(dir.path(), open, cut).is_err());
    let (dir, disk) = (tempfile::tempdir().unwrap(), Forgetful::default());
    let open = |place: &std::path::Path| Ok(Piecemeal(JsonlStore::open_on(disk.clone(), place)?));
    let cut = |place: &std::path::Path| disk.cut_the_power(place, Remains::Half);
    let found = contract::check_power(dir.path(), open, cut).unwrap_err();
    assert!(found.rule.contains("whole appends"), "{found}");
}

/// Appends what belongs together piece by piece.
struct Piecemeal(JsonlStore<Forgetful>);

impl SessionStore for Piecemeal {
    fn create(&mut self, header: &Header) -> Result<(), StoreError> {
        self.0.create(header)
    }
    fn materialise(&mut self, id: &SessionId) -> Result<(), StoreError> {
        self.0.materialise(id)
    }
    fn append(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        records.chunks(1).try_for_each(|record| self.0.append(id, record))
    }
    fn header(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        self.0.header(id)
    }
    fn open(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        self.0.open(id)
    }
    fn read(&mut self, id: &SessionId, from: Position, limit: usize) -> Result<Slice, StoreError> {
        self.0.read(id, from, limit)
    }
    fn close(&mut self, id: &SessionId) -> Result<(), StoreError> {
        self.0.close(id)
    }
    fn delete(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        self.0.delete(id)
    }
    fn list(&mut self, query: &Query) -> Result<Page, StoreError> {
        self.0.list(query)
    }
}
