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

fn signed(milliseconds: u64) -> i64 {
    i64::try_from(milliseconds).unwrap_or(i64::MAX)
}
