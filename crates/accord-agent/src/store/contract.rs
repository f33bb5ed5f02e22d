//! The contract of [`SessionStore`] as a test anybody can run on a store of their own.
//!
//! ```
//! use std::collections::{BTreeMap, HashMap};
//! use std::path::{Path, PathBuf};
//! use std::sync::{Arc, Mutex, MutexGuard};
//!
//! use accord_agent::protocol::v1::SessionId;
//! use accord_agent::store::{
//!     Header, Key, Listed, Page, Position, Query, Record, SessionStore, Slice, StoreError, contract,
//! };
//! use serde_json::Value;
//!
//! /// What outlives a store: a file, a server, or, here, nothing but this test.
//! #[derive(Default)]
//! struct Disk {
//!     sessions: BTreeMap<Key, (Header, Vec<Record>)>,
//!     open: Vec<SessionId>,
//! }
//!
//! /// A store: what it has open, and the disk it shares with others.
//! struct Memory {
//!     disk: Arc<Mutex<Disk>>,
//!     own: HashMap<SessionId, Header>,
//! }
//!
//! impl Memory {
//!     fn disk(&self) -> MutexGuard<'_, Disk> {
//!         self.disk.lock().expect("nobody panics with the lock held")
//!     }
//!
//!     /// The place of a session in the list.
//!     fn key(&self, id: &SessionId) -> Result<Key, StoreError> {
//!         let disk = self.disk();
//!         disk.sessions.keys().find(|key| key.id() == id).cloned().ok_or_else(|| StoreError::Unknown(id.clone()))
//!     }
//! }
//!
//! impl SessionStore for Memory {
//!     fn create(&mut self, header: &Header) -> Result<(), StoreError> {
//!         if self.disk().open.contains(&header.id) || self.key(&header.id).is_ok() {
//!             return Err(StoreError::Exists(header.id.clone()));
//!         }
//!         self.disk().open.push(header.id.clone());
//!         self.own.insert(header.id.clone(), header.clone());
//!         Ok(())
//!     }
//!
//!     fn materialise(&mut self, id: &SessionId) -> Result<(), StoreError> {
//!         self.append(id, &[])
//!     }
//!
//!     fn append(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
//!         let header = self.own.get(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?.clone();
//!         let mut disk = self.disk();
//!         let session = disk.sessions.entry(Key::of(&header)).or_insert((header, Vec::new()));
//!         session.1.extend_from_slice(records);
//!         Ok(())
//!     }
//!
//!     fn header(&mut self, id: &SessionId) -> Result<Header, StoreError> {
//!         let key = self.key(id)?;
//!         Ok(self.disk().sessions[&key].0.clone())
//!     }
//!
//!     fn open(&mut self, id: &SessionId) -> Result<Header, StoreError> {
//!         let header = self.header(id)?;
//!         if self.disk().open.contains(id) {
//!             return Err(StoreError::Active(id.clone()));
//!         }
//!         self.disk().open.push(id.clone());
//!         self.own.insert(id.clone(), header.clone());
//!         Ok(header)
//!     }
//!
//!     fn read(&mut self, id: &SessionId, from: Position, limit: usize) -> Result<Slice, StoreError> {
//!         let key = match self.key(id) {
//!             Err(_) if self.own.contains_key(id) => return Ok(Slice::default()),
//!             key => key?,
//!         };
//!         let disk = self.disk();
//!         let (from, mut bytes) = (usize::try_from(from.get()).unwrap_or(usize::MAX), 0);
//!         let rest = disk.sessions[&key].1.iter().skip(from);
//!         let records: Vec<Record> = rest
//!             .take_while(|record| {
//!                 let fits = bytes <= limit;
//!                 bytes += serde_json::to_vec(record).map_or(0, |record| record.len());
//!                 fits
//!             })
//!             .cloned()
//!             .collect();
//!         let next = (!records.is_empty()).then(|| Position::new((from + records.len()) as u64));
//!         Ok(Slice::new(records, next))
//!     }
//!
//!     fn close(&mut self, id: &SessionId) -> Result<(), StoreError> {
//!         if self.own.remove(id).is_some() {
//!             self.disk().open.retain(|open| open != id);
//!         }
//!         Ok(())
//!     }
//!
//!     fn delete(&mut self, id: &SessionId) -> Result<bool, StoreError> {
//!         self.close(id)?;
//!         let Ok(key) = self.key(id) else { return Ok(false) };
//!         if self.disk().open.contains(id) {
//!             return Err(StoreError::Active(id.clone()));
//!         }
//!         Ok(self.disk().sessions.remove(&key).is_some())
//!     }
//!
//!     fn list(&mut self, query: &Query) -> Result<Page, StoreError> {
//!         let disk = self.disk();
//!         let mut found = disk.sessions.iter().filter(|(key, (header, _))| {
//!             query.after.as_ref().is_none_or(|after| *key > after)
//!                 && query.cwd.as_ref().is_none_or(|cwd| *cwd == header.cwd)
//!                 && query.parent == header.parent
//!                 && (query.active || !disk.open.contains(&header.id))
//!         });
//!         let page: Vec<Listed> = found.by_ref().take(query.limit).map(|(_, stored)| listed(stored)).collect();
//!         let last = page.last().map(|last| Key::of(&last.header));
//!         let next = found.next().and(last);
//!         Ok(Page::new(page, next))
//!     }
//! }
//!
//! /// With the last title, and the time of the last turn's end.
//! fn listed((header, records): &(Header, Vec<Record>)) -> Listed {
//!     let mut listed = Listed::new(header.clone());
//!     for record in records {
//!         match record {
//!             Record::TurnEnd(end) => listed.updated = Some(end.at),
//!             Record::Update(update) => {
//!                 let update: Value = serde_json::from_str(update.get()).unwrap_or_default();
//!                 if update["sessionUpdate"] == "session_info_update" {
//!                     listed.title = update["title"].as_str().map(str::to_owned);
//!                 }
//!             }
//!             _ => {}
//!         }
//!     }
//!     listed
//! }
//!
//! /// A claim ends with the store that holds it.
//! impl Drop for Memory {
//!     fn drop(&mut self) {
//!         let own = std::mem::take(&mut self.own);
//!         self.disk().open.retain(|open| !own.contains_key(open));
//!     }
//! }
//!
//! # fn main() -> Result<(), contract::Violation> {
//! let disks: Mutex<HashMap<PathBuf, Arc<Mutex<Disk>>>> = Mutex::default();
//! let open = |place: &Path| {
//!     let disk = disks.lock().expect("unpoisoned").entry(place.to_owned()).or_default().clone();
//!     Ok(Memory { disk, own: HashMap::new() })
//! };
//! let dir = std::env::temp_dir().join(format!("memory-store-{}", std::process::id()));
//! contract::check(&dir, open)?;
//! // This disk loses nothing. A test of a real one takes away what was not synced.
//! contract::check_power(&dir.join("power"), open, |_| ())?;
//! # std::fs::remove_dir_all(&dir).ok();
//! # Ok(())
//! # }
//! ```

mod claims;
mod listing;
mod power;
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
        tried(name, Place::make(dir, number, open).and_then(|place| rule(&place)))?;
    }
    Ok(())
}

/// Runs the rules of what survives a power cut, each in an empty directory of its own below `dir`.
///
/// `cut` makes of the files in a directory what a power cut would leave at worst: takes away what was not synced, or
/// part of it. Nothing has the store open then; `open` is as for [`check`].
///
/// # Errors
/// The first rule that does not hold.
pub fn check_power<S: SessionStore>(
    dir: &Path,
    open: impl Fn(&Path) -> Result<S, StoreError>,
    mut cut: impl FnMut(&Path),
) -> Result<(), Violation> {
    let open: &Opener<'_> = &|place| Ok(Box::new(open(place)?));
    for (number, (name, rule)) in power::RULES.iter().enumerate() {
        tried(name, Place::make(dir, number, open).and_then(|place| rule(&place, &mut cut)))?;
    }
    Ok(())
}

fn tried(rule: &'static str, found: Result<(), Failure>) -> Result<(), Violation> {
    found.map_err(|failure| Violation { rule, what: failure.0 })
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

impl<'a> Place<'a> {
    fn make(above: &Path, number: usize, open: &'a Opener<'a>) -> Result<Self, Failure> {
        let dir = above.join(format!("rule-{number}"));
        fs::create_dir_all(&dir).map_err(StoreError::io_at("created", &dir))?;
        Ok(Self { dir, open })
    }

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
