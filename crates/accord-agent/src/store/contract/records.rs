//! What is appended comes back, in order, whatever it is.

use serde_json::json;

use super::{Failure, Place, Rule, ensure, header, raw, read_all, same, update};
use crate::store::{Header, Position, Record, SessionStore, TurnEnd};

pub(super) const RULES: &[Rule] = &[
    ("records of every kind come back unchanged and in order", every_kind_comes_back),
    ("slices of any size add up to the whole", slices_add_up),
    ("a slice stops soon after its limit", slices_are_bounded),
    ("a session can be read while it is open, and grows", open_sessions_are_readable),
    ("sessions do not mix", sessions_do_not_mix),
    ("any id can be used", any_id_can_be_used),
    ("an empty session has no records", empty_sessions_are_empty),
];

fn every_kind_comes_back(place: &Place<'_>) -> Result<(), Failure> {
    let records = [
        update(1),
        Record::Backend(raw(
            &json!({"role": "user", "content": ["a\u{2028}b", 1.5, null, {"ключ": "\u{0}"}]}),
        )),
        Record::Config(raw(&json!({"model": "m", "effort": null}))),
        Record::Update(raw(
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "x".repeat(1 << 20)}}),
        )),
        Record::TurnEnd(
            TurnEnd::new("end_turn", u64::from(u32::MAX) * 1000).title(Some("Ünïcode \"title\"".into())),
        ),
        Record::TurnEnd(TurnEnd::new("cancelled", 0)),
    ];
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &records[..2])?;
    store.append(&"a".into(), &[])?;
    store.append(&"a".into(), &records[2..])?;
    drop(store);
    same(&read_all(&mut *place.open()?, "a", 1000)?, &records.to_vec())
}

fn slices_add_up(place: &Place<'_>) -> Result<(), Failure> {
    let records: Vec<Record> = (0..50).map(update).collect();
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &records)?;
    for limit in [0, 1, 99, 100, 1000, usize::MAX] {
        same(&read_all(&mut *store, "a", limit)?, &records)?;
    }
    Ok(())
}

fn slices_are_bounded(place: &Place<'_>) -> Result<(), Failure> {
    let records: Vec<Record> = (0..1000).map(update).collect();
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &records)?;
    let slice = store.read(&"a".into(), Position::START, 1000)?;
    let found = slice.records.len();
    ensure((1..50).contains(&found), || format!("{found} records of about 100 bytes for 1000 bytes"))
}

fn open_sessions_are_readable(place: &Place<'_>) -> Result<(), Failure> {
    let (mut store, mut other) = (place.open()?, place.open()?);
    store.create(&header("a", 1))?;
    same(&read_all(&mut *store, "a", 1000)?, &vec![])?;
    store.append(&"a".into(), &[update(1)])?;
    same(&read_all(&mut *other, "a", 1000)?, &vec![update(1)])?;
    store.append(&"a".into(), &[update(2)])?;
    same(&read_all(&mut *other, "a", 1000)?, &vec![update(1), update(2)])
}

fn sessions_do_not_mix(place: &Place<'_>) -> Result<(), Failure> {
    let (mut store, mut other) = (place.open()?, place.open()?);
    store.create(&header("a", 1))?;
    other.create(&header("b", 1))?;
    for number in 0..20 {
        store.append(&"a".into(), &[update(number)])?;
        other.append(&"b".into(), &[update(number + 100)])?;
    }
    same(&read_all(&mut *other, "a", 1000)?, &(0..20).map(update).collect())?;
    same(&read_all(&mut *store, "b", 1000)?, &(100..120).map(update).collect())
}

fn any_id_can_be_used(place: &Place<'_>) -> Result<(), Failure> {
    let ids = [
        "a",
        "A",
        "..",
        "../a",
        "a/b",
        "a b",
        "ä",
        "%2e",
        "con",
        "a.jsonl",
        "-",
        "'; DROP TABLE sessions;--",
    ];
    let mut store = place.open()?;
    for (number, id) in ids.iter().enumerate() {
        store.create(&Header::new(*id, "/dir", 1))?;
        store.append(&(*id).into(), &[update(number)])?;
    }
    drop(store);
    let mut store = place.open()?;
    for (number, id) in ids.iter().enumerate() {
        same(&store.open(&(*id).into())?, &header(id, 1))?;
        same(&read_all(&mut *store, id, 1000)?, &vec![update(number)])?;
    }
    Ok(())
}

fn empty_sessions_are_empty(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.materialise(&"a".into())?;
    same(&read_all(&mut *store, "a", 1000)?, &vec![])
}
