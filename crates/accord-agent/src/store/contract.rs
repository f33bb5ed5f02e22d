//! The contract of [`SessionStore`] as a test anybody can run on a store of their own.
//!
//! ```no_run
//! # use accord_agent::store::{contract, jsonl::JsonlStore};
//! # fn a_test(dir: &std::path::Path) -> Result<(), contract::Violation> {
//! contract::check(dir, |place| JsonlStore::open(place))
//! # }
//! ```

mod claims;
mod listing;
mod records;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Header, Listed, Page, Position, Query, Record, SessionStore, StoreError};

/// Runs every rule, each in an empty directory of its own below `dir`.
///
/// `open` opens a store in a directory. It is called several times for the same one: before the earlier store is
/// dropped, which stands for another process, and after, which stands for a restart.
///
/// # Errors
/// The first rule that does not hold.
pub fn check<S: SessionStore>(
    dir: &Path,
    open: impl Fn(&Path) -> Result<S, StoreError>,
) -> Result<(), Violation> {
    let open: &Opener<'_> = &|place| Ok(Box::new(open(place)?));
    let rules = claims::RULES.iter().chain(records::RULES).chain(listing::RULES);
    for (number, (name, rule)) in rules.enumerate() {
        let place = dir.join(format!("rule-{number}"));
        let place = fs::create_dir_all(&place)
            .map_err(StoreError::io("created"))
            .map_err(Failure::from)
            .and_then(|()| rule(&Place { dir: place, open }));
        place.map_err(|failure| Violation { rule: name, what: failure.0 })?;
    }
    Ok(())
}

/// A rule that a store broke.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule, as a sentence.
    pub rule: &'static str,
    /// What happened instead.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.what)
    }
}

impl std::error::Error for Violation {}

type Opener<'a> = dyn Fn(&Path) -> Result<Box<dyn SessionStore>, StoreError> + 'a;
type Rule = (&'static str, fn(&Place<'_>) -> Result<(), Failure>);

/// Where one rule is tried.
struct Place<'a> {
    dir: PathBuf,
    open: &'a Opener<'a>,
}

impl Place<'_> {
    fn open(&self) -> Result<Box<dyn SessionStore>, Failure> {
        Ok((self.open)(&self.dir)?)
    }
}

/// Why a rule does not hold.
struct Failure(String);

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Self(format!("unexpected error: {error}{cause}"))
    }
}

/// Fails the rule with what was found, unless it was expected.
fn ensure(holds: bool, found: impl FnOnce() -> String) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(Failure(found())) }
}

fn same<T: PartialEq + fmt::Debug>(found: &T, expected: &T) -> Result<(), Failure> {
    ensure(found == expected, || format!("expected {expected:?}, found {found:?}"))
}

/// Fails unless the store refused in this way.
fn refused<T: fmt::Debug>(found: Result<T, StoreError>, way: fn(&StoreError) -> bool) -> Result<(), Failure> {
    match found {
        Err(error) if way(&error) => Ok(()),
        other => Err(Failure(format!("expected a refusal, found {other:?}"))),
    }
}

fn header(id: &str, created: u64) -> Header {
    Header::new(id, "/dir", created)
}

fn update(number: usize) -> Record {
    let update = serde_json::json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": format!("número {number}\n")}});
    Record::Update(raw(&update))
}

fn raw(value: &serde_json::Value) -> Box<serde_json::value::RawValue> {
    // A JSON value always has a text.
    serde_json::value::to_raw_value(value).expect("a value is valid JSON")
}

fn ids(page: &Page) -> Vec<&str> {
    page.entries.iter().map(|entry: &Listed| entry.header.id.as_str()).collect()
}

/// All records of a session, read in slices of this many bytes.
fn read_all(store: &mut dyn SessionStore, id: &str, limit: usize) -> Result<Vec<Record>, Failure> {
    let (mut records, mut at) = (Vec::new(), Some(Position::START));
    while let Some(from) = at {
        let slice = store.read(&id.into(), from, limit)?;
        ensure(slice.next != at, || "a slice that leads nowhere".to_owned())?;
        records.extend(slice.records);
        at = slice.next;
    }
    Ok(records)
}

fn everything() -> Query {
    Query::newest(100).with_active()
}
