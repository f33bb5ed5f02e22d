//! What a store keeps when the machine loses its power between two calls.

use std::path::Path;

use super::{Failure, Place, ensure, everything, header, ids, read_all, refused, same, update};
use crate::store::{Record, SessionStore, StoreError, TurnEnd};

/// Takes away what the store in this directory has not put on the disk.
pub(super) type Cut<'a> = dyn FnMut(&Path) + 'a;
type PowerRule = (&'static str, fn(&Place<'_>, &mut Cut<'_>) -> Result<(), Failure>);

pub(super) const RULES: &[PowerRule] = &[
    ("a header that was materialised survives a power cut", headers_survive),
    ("a fact survives a power cut with everything before it", facts_survive),
    ("what is left of the rest are whole appends, none missing between", the_rest_is_a_prefix),
    ("a closed session survives a power cut whole", closed_sessions_survive),
    ("a deleted session does not come back with the power", deletes_survive),
];

fn turn_end(at: u64) -> Record {
    Record::TurnEnd(TurnEnd::new("end_turn", at))
}

fn config(number: u64) -> Record {
    Record::Config(super::raw(&serde_json::json!({ "model": number })))
}

// D6
fn headers_survive(place: &Place<'_>, cut: &mut Cut<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    for id in ["a", "b"] {
        store.create(&header(id, 1))?;
        store.materialise(&id.into())?;
    }
    drop(store);
    cut(&place.dir);
    let mut store = place.open()?;
    same(&ids(&store.list(&everything())?), &vec!["b", "a"])?;
    same(&store.open(&"a".into())?, &header("a", 1))?;
    same(&read_all(&mut *store, "a", 1000)?, &vec![])
}

fn facts_survive(place: &Place<'_>, cut: &mut Cut<'_>) -> Result<(), Failure> {
    let mut expected = Vec::new();
    for (round, fact) in [turn_end(1), config(2), turn_end(3)].into_iter().enumerate() {
        let mut store = place.open()?;
        if round == 0 {
            store.create(&header("a", 1))?;
        } else {
            store.open(&"a".into())?;
        }
        store.append(&"a".into(), &[update(round)])?;
        store.append(&"a".into(), &[update(round + 10), fact.clone()])?;
        expected.extend([update(round), update(round + 10), fact]);
        drop(store);
        cut(&place.dir);
        same(&read_all(&mut *place.open()?, "a", 1000)?, &expected)?;
    }
    Ok(())
}

fn the_rest_is_a_prefix(place: &Place<'_>, cut: &mut Cut<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &[turn_end(1)])?;
    let mut all = vec![turn_end(1)];
    let mut whole = vec![all.len()];
    for number in 0..9 {
        let more: Vec<Record> = (0..=number % 5).map(|part| update(10 * number + part)).collect();
        store.append(&"a".into(), &more)?;
        all.extend(more);
        whole.push(all.len());
    }
    drop(store);
    cut(&place.dir);
    let mut store = place.open()?;
    // Repairs what the cut has torn.
    store.open(&"a".into())?;
    let found = read_all(&mut *store, "a", 1000)?;
    ensure(whole.contains(&found.len()) && all.starts_with(&found), || {
        format!("after {} records in appends that end at {whole:?}: {found:?}", all.len())
    })?;
    // What follows stands behind it.
    store.append(&"a".into(), &[turn_end(2)])?;
    drop(store);
    cut(&place.dir);
    let again = read_all(&mut *place.open()?, "a", 1000)?;
    same(&again, &found.into_iter().chain([turn_end(2)]).collect())
}

// D8
fn closed_sessions_survive(place: &Place<'_>, cut: &mut Cut<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &[update(1)])?;
    store.append(&"a".into(), &[update(2)])?;
    store.close(&"a".into())?;
    drop(store);
    cut(&place.dir);
    same(&read_all(&mut *place.open()?, "a", 1000)?, &vec![update(1), update(2)])
}

// ACPX-DELETE-002
fn deletes_survive(place: &Place<'_>, cut: &mut Cut<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    for id in ["open", "closed"] {
        store.create(&header(id, 1))?;
        store.append(&id.into(), &[turn_end(1)])?;
    }
    store.close(&"closed".into())?;
    for id in ["open", "closed"] {
        ensure(store.delete(&id.into())?, || format!("{id} was not deleted"))?;
    }
    drop(store);
    cut(&place.dir);
    let mut store = place.open()?;
    same(&ids(&store.list(&everything())?), &vec![])?;
    refused(store.open(&"closed".into()), |error| matches!(error, StoreError::Unknown(_)))
}
