//! A page of the list from the names in a directory.

use std::collections::BinaryHeap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::file::is_exhausted;
use super::super::{Key, Listed, Page, Query, StoreError, lock};
use super::name::{self, Name};
use super::read;

/// How much of the end of a file is read for its title and its last turn; the more only if the less has no turn's end in
/// it, as after a crash in a long turn.
const TAILS: [u64; 2] = [16 << 10, 1 << 20];

/// Reads the directory as often as it takes to fill the page; each time only as many names are kept as can be shown.
pub(super) fn page(dir: &Path, query: &Query) -> Result<Page, StoreError> {
    let mut entries = Vec::new();
    let mut after = query.after.clone();
    loop {
        // One more than is missing tells whether there is a next page.
        let wanted = query.limit - entries.len() + 1;
        let found = names(dir, query, after.as_ref(), wanted)?;
        let exhausted = found.len() < wanted;
        for (key, file) in found {
            if entries.len() == query.limit {
                let next = entries.last().map(|last: &Listed| Key::of(&last.header)).or(query.after.clone());
                return Ok(Page::new(entries, next));
            }
            entries.extend(entry(&dir.join(file), &key, query)?);
            after = Some(key);
        }
        if exhausted {
            return Ok(Page::new(entries, None));
        }
    }
}

/// The first names in the order of the list: a heap of so many entries, whatever the directory holds.
fn names(
    dir: &Path,
    query: &Query,
    after: Option<&Key>,
    wanted: usize,
) -> Result<Vec<(Key, PathBuf)>, StoreError> {
    let cwd = query.cwd.as_deref().map(name::hash);
    let mut first = BinaryHeap::with_capacity(wanted + 1);
    for entry in fs::read_dir(dir).map_err(StoreError::io_at("read", dir))? {
        let entry = entry.map_err(StoreError::io_at("read", dir))?;
        let file = entry.file_name();
        let Some(name) = Name::parse(&file) else { continue };
        let shown = name.child == query.parent.is_some()
            && cwd.is_none_or(|cwd| cwd == name.cwd)
            && after.is_none_or(|after| name.key > *after)
            // A link may lead anywhere, and a pipe may be waited for without end.
            && entry.file_type().is_ok_and(|kind| kind.is_file());
        if shown {
            first.push((name.key, PathBuf::from(file)));
            if first.len() > wanted {
                first.pop();
            }
        }
    }
    Ok(first.into_sorted_vec())
}

/// A session that is gone, damaged or not meant is left out: one of them must not hide the others. That there are no
/// descriptors left is no session's fault, and must not look like an empty list.
fn entry(path: &Path, key: &Key, query: &Query) -> Result<Option<Listed>, StoreError> {
    match glance(path, key, query) {
        Err(StoreError::Io { source, action, path }) if is_exhausted(&source) => {
            Err(StoreError::Io { source, action, path })
        }
        glanced => Ok(glanced.ok().flatten()),
    }
}

fn glance(path: &Path, key: &Key, query: &Query) -> Result<Option<Listed>, StoreError> {
    let header = read::header(path, key.id())?;
    if query.parent != header.parent || query.cwd.as_ref().is_some_and(|cwd| *cwd != header.cwd) {
        return Ok(None);
    }
    let mut file = File::open(path).map_err(StoreError::io_at("read", path))?;
    if !query.active && lock::is_claimed(&file).map_err(StoreError::io_at("locked", path))? {
        return Ok(None);
    }
    let length = file.metadata().map_err(StoreError::io_at("read", path))?.len();
    let mut listed = Listed::new(header);
    for tail in TAILS {
        let seen = recent(&read::tail(&mut file, tail).map_err(StoreError::io_at("read", path))?);
        let ended = seen.updated.is_some();
        listed.title = seen.title;
        listed.updated = seen.updated;
        listed.directories = seen.directories.unwrap_or(listed.directories);
        if ended || length <= tail {
            break;
        }
    }
    Ok(Some(listed))
}

/// What the last lines of a file say, newest first.
#[derive(Default)]
struct Recent {
    title: Option<String>,
    updated: Option<u64>,
    directories: Option<Vec<String>>,
}

fn recent(lines: &[Vec<u8>]) -> Recent {
    let mut seen = Recent::default();
    for line in lines {
        match serde_json::from_slice(line) {
            Ok(Glance::TurnEnd { at, title, directories }) => {
                seen.updated = Some(at);
                seen.directories = directories;
                seen.title = seen.title.or(title);
                break;
            }
            Ok(Glance::Update(Titled { session_update: "session_info_update", title })) => {
                seen.title = seen.title.or(title);
            }
            _ => {}
        }
    }
    seen
}

/// What the list wants of a record.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Glance<'a> {
    TurnEnd {
        at: u64,
        title: Option<String>,
        directories: Option<Vec<String>>,
    },
    #[serde(borrow)]
    Update(Titled<'a>),
}

#[derive(Deserialize)]
struct Titled<'a> {
    #[serde(rename = "sessionUpdate")]
    session_update: &'a str,
    title: Option<String>,
}
