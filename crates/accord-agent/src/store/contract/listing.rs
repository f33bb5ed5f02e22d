//! The list: order, pages, filters, titles.

use serde_json::json;

use super::{Failure, Place, Rule, ensure, everything, header, ids, raw, same, update};
use crate::store::{Header, Key, Page, Query, Record, SessionStore, TurnEnd};

pub(super) const RULES: &[Rule] = &[
    ("the list is ordered by creation and id, newest first", newest_first),
    ("pages visit every session once and end", pages_visit_every_session_once),
    ("pages of one session work, filters included", small_pages),
    ("what is created meanwhile does not disturb the later pages", pages_are_keyed),
    ("the list is filtered by working directory", filtered_by_cwd),
    ("children are listed only for their parent", children_are_listed_for_their_parent),
    ("a list shows the last title and the last turn's end", titles_and_times),
];

fn stored(store: &mut dyn SessionStore, header: &Header) -> Result<(), Failure> {
    store.create(header)?;
    store.materialise(&header.id)?;
    Ok(store.close(&header.id)?)
}

/// Every page to the end.
fn pages(store: &mut dyn SessionStore, query: &Query) -> Result<Vec<Page>, Failure> {
    let (mut pages, mut query) = (Vec::new(), query.clone());
    loop {
        let page = store.list(&query)?;
        ensure(page.entries.len() <= query.limit, || "a page over its limit".to_owned())?;
        ensure(pages.len() < 1000, || "pages without end".to_owned())?;
        query.after.clone_from(&page.next);
        pages.push(page);
        if query.after.is_none() {
            return Ok(pages);
        }
    }
}

fn all_ids(pages: &[Page]) -> Vec<&str> {
    pages.iter().flat_map(ids).collect()
}

// D5
fn newest_first(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    for (id, created) in [("b", 5), ("c", 5), ("old", 1), ("a", 5), ("new", 1 << 40)] {
        stored(&mut *store, &header(id, created))?;
    }
    let page = store.list(&Query::newest(10))?;
    same(&ids(&page), &vec!["new", "c", "b", "a", "old"])?;
    same(&page.next, &None)
}

// D5, ACPX-LIST-004
fn pages_visit_every_session_once(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    let names: Vec<String> = (0..45_u64).map(|number| format!("s{number:02}")).collect();
    for (number, id) in names.iter().enumerate() {
        stored(&mut *store, &header(id, number as u64 / 4))?;
    }
    let expected: Vec<&str> = names.iter().rev().map(String::as_str).collect();
    for limit in [1, 7, 15, 44, 45, 46] {
        let pages = pages(&mut *store, &Query::newest(limit))?;
        same(&all_ids(&pages), &expected)?;
        let full = pages.iter().rev().skip(1).all(|page| page.entries.len() == limit);
        ensure(full, || "a page with room before the last one".to_owned())?;
    }
    Ok(())
}

// B104
fn small_pages(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    for number in 0..30_u64 {
        let cwd = if number % 10 == 0 { "/rare" } else { "/dir" };
        stored(&mut *store, &Header::new(format!("s{number:02}"), cwd, number))?;
    }
    let pages = pages(&mut *store, &Query::newest(1).cwd("/rare"))?;
    same(&all_ids(&pages), &vec!["s20", "s10", "s00"])?;
    let full = pages.iter().rev().skip(1).all(|page| page.entries.len() == 1);
    ensure(full, || "a page with room before the last match".to_owned())
}

fn pages_are_keyed(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    for (id, created) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
        stored(&mut *store, &header(id, created))?;
    }
    let first = store.list(&Query::newest(2))?;
    same(&ids(&first), &vec!["d", "c"])?;
    stored(&mut *store, &header("e", 5))?;
    store.delete(&"c".into())?;
    let next = first.next.ok_or_else(|| Failure("no next page".to_owned()))?;
    same(&ids(&store.list(&Query::newest(2).after(next))?), &vec!["b", "a"])?;
    let end = Key::of(&header("a", 1));
    same(&store.list(&Query::newest(2).after(end))?, &Page::default())
}

// D5, ACPX-LIST-003
fn filtered_by_cwd(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    for (id, cwd) in [("a", "/dir"), ("b", "/home/me/"), ("c", "/dir/sub"), ("d", "/DIR"), ("e", "/dir")] {
        stored(&mut *store, &Header::new(id, cwd, 1))?;
    }
    same(&ids(&store.list(&Query::newest(10).cwd("/dir"))?), &vec!["e", "a"])?;
    same(&ids(&store.list(&Query::newest(10).cwd("/di"))?), &vec![])?;
    same(&ids(&store.list(&Query::newest(10).cwd("/di%"))?), &vec![])
}

// D5, D9
fn children_are_listed_for_their_parent(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    stored(&mut *store, &header("parent", 1))?;
    stored(&mut *store, &header("other", 2))?;
    for (id, parent) in [("x", "parent"), ("y", "parent"), ("z", "other")] {
        stored(&mut *store, &header(id, 3).parent(parent.into()))?;
    }
    same(&ids(&store.list(&everything())?), &vec!["other", "parent"])?;
    same(&ids(&store.list(&Query::newest(1).children_of("parent".into()))?), &vec!["y"])?;
    same(&ids(&store.list(&everything().children_of("parent".into()))?), &vec!["y", "x"])
}

fn titles_and_times(place: &Place<'_>) -> Result<(), Failure> {
    let mut store = place.open()?;
    let title =
        |title: &str| Record::Update(raw(&json!({"sessionUpdate": "session_info_update", "title": title})));
    store.create(&header("a", 1))?;
    store.append(&"a".into(), &[update(1), title("first")])?;
    let page = store.list(&everything())?;
    same(&page.entries.first().map(|entry| entry.title.as_deref()), &Some(Some("first")))?;
    store
        .append(&"a".into(), &[Record::TurnEnd(TurnEnd::new("end_turn", 77).title(Some("first".into())))])?;
    // A long turn that has not ended: what was told before it began still holds.
    let long: Vec<Record> = (0..600).map(update).collect();
    store.append(&"a".into(), &long)?;
    let page = store.list(&everything())?;
    let entry = page.entries.first().ok_or_else(|| Failure("nothing listed".to_owned()))?;
    same(&(entry.title.as_deref(), entry.updated), &(Some("first"), Some(77)))?;
    store.append(&"a".into(), &[update(2), title("second"), update(3)])?;
    let page = store.list(&everything())?;
    let entry = page.entries.first().ok_or_else(|| Failure("nothing listed".to_owned()))?;
    same(&entry.title.as_deref(), &Some("second"))?;
    same(&entry.updated, &Some(77))
}
