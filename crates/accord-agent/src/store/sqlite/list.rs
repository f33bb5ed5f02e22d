//! A page of the list by its key: an index leads to the first row, wherever that is.

use std::io;

use accord_protocol::v1::SessionId;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::claim::Claims;
use super::directories_of_text;
use crate::store::{Header, Key, Listed, Page, Query};

/// What did not work.
pub(super) enum Error {
    Database(rusqlite::Error),
    Claims(io::Error),
}

pub(super) fn page(db: &Connection, claims: &Claims, query: &Query) -> Result<Page, Error> {
    let mut entries: Vec<Listed> = Vec::new();
    let mut after = query.after.clone();
    loop {
        // One more than is missing tells whether there is a next page.
        let wanted = query.limit - entries.len() + 1;
        let found = rows(db, query, after.as_ref(), wanted).map_err(Error::Database)?;
        let exhausted = found.len() < wanted;
        for listed in found {
            if entries.len() == query.limit {
                let next = entries.last().map(|last| Key::of(&last.header)).or(query.after.clone());
                return Ok(Page::new(entries, next));
            }
            after = Some(Key::of(&listed.header));
            if query.active || !claims.is_claimed(&listed.header.id).map_err(Error::Claims)? {
                entries.push(listed);
            }
        }
        if exhausted {
            return Ok(Page::new(entries, None));
        }
    }
}

fn rows(db: &Connection, query: &Query, after: Option<&Key>, wanted: usize) -> rusqlite::Result<Vec<Listed>> {
    let (text, values) = statement(query, after, wanted);
    let mut statement = db.prepare_cached(&text)?;
    let rows = statement.query_map(params_from_iter(values), |row| {
        let id = SessionId::from(row.get::<_, String>(0)?);
        let mut header = Header::new(id, row.get::<_, String>(2)?, row.get::<_, i64>(3)?.unsigned_abs());
        header.parent = row.get::<_, Option<String>>(1)?.map(SessionId::from);
        header.directories = directories_of_text(row.get(6)?).unwrap_or_default();
        let mut listed = Listed::new(header);
        listed.title = row.get(4)?;
        listed.updated = row.get::<_, Option<i64>>(5)?.map(i64::unsigned_abs);
        listed.directories = directories_of_text(row.get(7)?).unwrap_or(listed.directories);
        Ok(listed)
    })?;
    rows.collect()
}

/// Spelt so that an index has both the filter and the order, and leads to the first row that is wanted.
fn statement(query: &Query, after: Option<&Key>, wanted: usize) -> (String, Vec<Value>) {
    let mut text = String::from(
        "SELECT id, parent, cwd, created, title, updated, directories, current_directories FROM sessions WHERE ",
    );
    let mut values: Vec<Value> = Vec::new();
    match &query.parent {
        None => text.push_str("parent IS NULL"),
        Some(parent) => {
            text.push_str("parent = ?");
            values.push(Value::Text(parent.to_string()));
        }
    }
    if let Some(cwd) = &query.cwd {
        text.push_str(" AND cwd = ?");
        values.push(Value::Text(cwd.clone()));
    }
    if let Some(after) = after {
        text.push_str(" AND (created, id) < (?, ?)");
        values.push(Value::Integer(signed(after.created())));
        values.push(Value::Text(after.id().to_string()));
    }
    text.push_str(" ORDER BY created DESC, id DESC LIMIT ?");
    values.push(Value::Integer(i64::try_from(wanted).unwrap_or(i64::MAX)));
    (text, values)
}

fn signed(milliseconds: u64) -> i64 {
    i64::try_from(milliseconds).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::store::SessionStore as _;
    use crate::store::sqlite::SqliteStore;

    /// The plan of a page, and how many steps the database's machine takes for it.
    fn cost(db: &Connection, query: &Query, after: Option<&Key>) -> (String, i32) {
        let (text, values) = statement(query, after, query.limit + 1);
        let explain = format!("EXPLAIN QUERY PLAN {text}");
        let plan = db.query_row(&explain, params_from_iter(values.clone()), |row| row.get(3)).unwrap();
        let mut statement = db.prepare(&text).unwrap();
        let mut rows = statement.query(params_from_iter(values)).unwrap();
        let mut found = 0;
        while rows.next().unwrap().is_some() {
            found += 1;
        }
        drop(rows);
        assert_eq!(found, query.limit + 1, "{text}");
        // The first page is the beginning of the index; what is behind it is not looked at.
        assert!(statement.get_status(StatementStatus::FullscanStep) <= 51, "{text}");
        assert_eq!(statement.get_status(StatementStatus::Sort), 0, "{text}");
        (plan, statement.get_status(StatementStatus::VmStep))
    }

    // D5: by counting, not by the clock
    #[test]
    fn the_last_page_costs_what_the_first_one_does() {
        let dir = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(dir.path()).unwrap();
        store
            .db
            .execute_batch(
                "INSERT INTO sessions (id, parent, cwd, created)
                 SELECT printf('s%05d', value), CASE value % 5 WHEN 4 THEN 'p' END, '/dir', value
                 FROM (WITH RECURSIVE n(value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM n LIMIT 5000)
                       SELECT value FROM n)",
            )
            .unwrap();
        let everywhere = Query::newest(50);
        let here = Query::newest(50).cwd("/dir");
        let children = Query::newest(50).children_of("p".into());
        for (query, index) in
            [(everywhere, "sessions_listed"), (here, "sessions_of_cwd"), (children, "sessions_of_parent")]
        {
            let place = |number: u64| Key::new(number, format!("s{number:05}").into());
            cost(&store.db, &query, None);
            let (_, early) = cost(&store.db, &query, Some(&place(4900)));
            let (plan, late) = cost(&store.db, &query, Some(&place(300)));
            assert!(plan.contains(index) && plan.starts_with("SEARCH"), "{plan}");
            assert!(late.abs_diff(early) < 40, "{query:?}: {early} steps, then {late}");
        }
    }

    #[test]
    fn a_page_skips_what_is_active_and_is_full_nevertheless() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = SqliteStore::open(dir.path()).unwrap();
        for number in 0..40_u64 {
            let header = Header::new(format!("s{number:02}"), "/dir", number);
            store.create(&header).unwrap();
            store.materialise(&header.id).unwrap();
            if number % 2 == 0 {
                store.close(&header.id).unwrap();
            }
        }
        let page = store.list(&Query::newest(15)).unwrap();
        assert_eq!((page.entries.len(), page.next.is_some()), (15, true));
    }
}
