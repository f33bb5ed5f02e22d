//! Who owns a session, and when it comes into being.

use super::{Failure, Place, Rule, ensure, everything, header, ids, refused, same, update};
use crate::store::{Query, StoreError};

pub(super) const RULES: &[Rule] = &[
    ("a created session leaves no trace before something is appended", created_leaves_no_trace),
    ("materialising puts the header on the disk, once", materialises_once),
    ("the first append brings the header with it", append_brings_the_header),
    ("an id is given once", an_id_is_given_once),
    ("an id is given once, also when two stores want it before either writes", an_id_is_written_once),
    ("an open session cannot be opened again, here or elsewhere", one_owner),
    ("a claim ends with the store that holds it", a_claim_ends_with_its_store),
    ("only open sessions are appended to", only_open_sessions_are_appended_to),
    ("unknown sessions are unknown", unknown_sessions_are_unknown),
    ("closing is idempotent and keeps the session", closing_keeps_the_session),
    ("deleting removes a session for good", deleting_removes),
    ("a session that is active elsewhere is not deleted", active_elsewhere_is_not_deleted),
];

// D9
fn created_leaves_no_trace(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    let mut other = place.open()?;
    refused(other.header(&"a".into()), |error| matches!(error, StoreError::Unknown(_)))?;
    same(&ids(&other.list(&everything())?), &vec![])?;
    drop(store);
    same(&ids(&place.open()?.list(&everything())?), &vec![])
}

// D6, D9
fn materialises_once(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.materialise(&"a".into())?;
    store.materialise(&"a".into())?;
    store.append(&"a".into(), &[update(1)])?;
    store.materialise(&"a".into())?;
    drop(store);
    let mut store = place.open()?;
    same(&ids(&store.list(&everything())?), &vec!["a"])?;
    same(&store.header(&"a".into())?, &header("a", 1))?;
    same(&super::read_all(&mut *store, "a", 1000)?, &vec![update(1)])
}

fn append_brings_the_header(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &[update(1), update(2)])?;
    drop(store);
    let mut store = place.open()?;
    same(&store.open(&"a".into())?, &header("a", 1))?;
    same(&super::read_all(&mut *store, "a", 1000)?, &vec![update(1), update(2)])
}

fn an_id_is_given_once(place: &Place<'_>) -> Result<(), Failure> {
    let exists = |error: &StoreError| matches!(error, StoreError::Exists(_));
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    refused(store.create(&header("a", 2)), exists)?;
    store.materialise(&"a".into())?;
    refused(place.open()?.create(&header("a", 3)), exists)?;
    store.close(&"a".into())?;
    refused(store.create(&header("a", 4)), exists)
}

fn an_id_is_written_once(place: &Place<'_>) -> Result<(), Failure> {
    let exists = |error: &StoreError| matches!(error, StoreError::Exists(_));
    let (mut store, mut other) = (place.open()?, place.open()?);
    store.create(&header("a", 1))?;
    match other.create(&header("a", 2)) {
        // To write is to find out that the other one was first.
        Ok(()) => {
            other.materialise(&"a".into())?;
            refused(store.materialise(&"a".into()), exists)?;
            refused(store.append(&"a".into(), &[update(1)]), exists)?;
        }
        refusal => {
            refused(refusal, exists)?;
            store.materialise(&"a".into())?;
        }
    }
    drop((store, other));
    same(&ids(&place.open()?.list(&everything())?), &vec!["a"])
}

// D7
fn one_owner(place: &Place<'_>) -> Result<(), Failure> {
    let active = |error: &StoreError| matches!(error, StoreError::Active(_));
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.materialise(&"a".into())?;
    refused(store.open(&"a".into()), active)?;
    let mut other = place.open()?;
    refused(other.open(&"a".into()), active)?;
    same(&ids(&other.list(&Query::newest(10))?), &vec![])?;
    same(&ids(&other.list(&everything())?), &vec!["a"])?;
    store.close(&"a".into())?;
    same(&ids(&other.list(&Query::newest(10))?), &vec!["a"])?;
    other.open(&"a".into())?;
    refused(store.open(&"a".into()), active)
}

fn a_claim_ends_with_its_store(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &[update(1)])?;
    drop(store);
    let mut other = place.open()?;
    same(&ids(&other.list(&Query::newest(10))?), &vec!["a"])?;
    other.open(&"a".into()).map(drop)?;
    Ok(())
}

fn only_open_sessions_are_appended_to(place: &Place<'_>) -> Result<(), Failure> {
    let not_open = |error: &StoreError| matches!(error, StoreError::NotOpen(_));
    let mut store = place.open()?;
    refused(store.append(&"a".into(), &[update(1)]), not_open)?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &[update(1)])?;
    store.close(&"a".into())?;
    refused(store.append(&"a".into(), &[update(2)]), not_open)?;
    refused(store.materialise(&"a".into()), not_open)?;
    same(&super::read_all(&mut *store, "a", 1000)?, &vec![update(1)])
}

fn unknown_sessions_are_unknown(place: &Place<'_>) -> Result<(), Failure> {
    let unknown = |error: &StoreError| matches!(error, StoreError::Unknown(_));
    let mut store = place.open()?;
    for id in ["a", "", "..", "../a", "/etc/passwd", "a\0b", &"x".repeat(5000)] {
        refused(store.open(&id.into()), unknown)?;
        refused(store.header(&id.into()), unknown)?;
        refused(store.read(&id.into(), super::Position::START, 10), unknown)?;
        ensure(!store.delete(&id.into())?, || format!("{id:?} was deleted"))?;
    }
    Ok(())
}

// D8
fn closing_keeps_the_session(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.close(&"a".into())?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &[update(1)])?;
    store.close(&"a".into())?;
    store.close(&"a".into())?;
    store.open(&"a".into())?;
    store.append(&"a".into(), &[update(2)])?;
    store.close(&"a".into())?;
    same(&super::read_all(&mut *place.open()?, "a", 1000)?, &vec![update(1), update(2)])
}

// ACPX-DELETE-002
fn deleting_removes(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    for id in ["open", "closed", "kept"] {
        store.create(&header(id, 1))?;
        store.append(&id.into(), &[update(1)])?;
    }
    store.close(&"closed".into())?;
    ensure(store.delete(&"open".into())?, || "the open session was not deleted".to_owned())?;
    ensure(store.delete(&"closed".into())?, || "the closed session was not deleted".to_owned())?;
    ensure(!store.delete(&"closed".into())?, || "a session was deleted twice".to_owned())?;
    refused(store.append(&"open".into(), &[update(2)]), |error| matches!(error, StoreError::NotOpen(_)))?;
    drop(store);
    let mut store = place.open()?;
    same(&ids(&store.list(&everything())?), &vec!["kept"])?;
    refused(store.open(&"open".into()), |error| matches!(error, StoreError::Unknown(_)))
}

fn active_elsewhere_is_not_deleted(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &[update(1)])?;
    refused(place.open()?.delete(&"a".into()), |error| matches!(error, StoreError::Active(_)))?;
    store.append(&"a".into(), &[update(2)])?;
    same(&super::read_all(&mut *store, "a", 1000)?, &vec![update(1), update(2)])
}
