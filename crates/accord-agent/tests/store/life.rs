//! A process that lives with a store: it says what it is about to do, does it, and says that it was acknowledged.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::str::FromStr;

use accord_agent::store::jsonl::JsonlStore;
#[cfg(feature = "sqlite")]
use accord_agent::store::sqlite::SqliteStore;
use accord_agent::store::{Header, Position, Query, Record, SessionStore, StoreError, TurnEnd};
use serde_json::json;

/// The variables by which a life is told what it is.
pub(super) const DIR: &str = "ACCORD_LIFE_DIR";
pub(super) const KIND: &str = "ACCORD_LIFE_KIND";
pub(super) const NAME: &str = "ACCORD_LIFE_NAME";
pub(super) const SEED: &str = "ACCORD_LIFE_SEED";
/// How many deeds it does by itself; without it, it does what it reads.
pub(super) const DEEDS: &str = "ACCORD_LIFE_DEEDS";
/// The kinds of store there are.
#[cfg(feature = "sqlite")]
pub(super) const KINDS: &[&str] = &["jsonl", "sqlite"];
#[cfg(not(feature = "sqlite"))]
pub(super) const KINDS: &[&str] = &["jsonl"];

/// More sessions than this are not kept: the oldest is deleted.
const MOST: usize = 6;

pub(super) fn open(kind: &str, dir: &Path) -> Result<Box<dyn SessionStore>, StoreError> {
    match kind {
        "jsonl" => Ok(Box::new(JsonlStore::open(dir)?)),
        #[cfg(feature = "sqlite")]
        "sqlite" => Ok(Box::new(SqliteStore::open(dir)?)),
        _ => panic!("{kind} is no store"),
    }
}

/// What is done to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Created, with its header on the disk.
    New(String),
    /// Created and nothing more.
    Lazy(String),
    /// So many records are appended in one go, numbered from a number on.
    Append(String, usize, usize),
    Open(String),
    Close(String),
    Delete(String),
}

impl Deed {
    pub(super) fn session(&self) -> &str {
        match self {
            Self::New(id)
            | Self::Lazy(id)
            | Self::Append(id, ..)
            | Self::Open(id)
            | Self::Close(id)
            | Self::Delete(id) => id,
        }
    }

    pub(super) fn run(&self, store: &mut dyn SessionStore) -> Result<(), StoreError> {
        let id = self.session().into();
        match self {
            Self::New(name) => store.create(&header(name)).and_then(|()| store.materialise(&id)),
            Self::Lazy(name) => store.create(&header(name)),
            Self::Append(_, first, count) => store.append(&id, &records(*first, *count)),
            Self::Open(_) => store.open(&id).map(drop),
            Self::Close(_) => store.close(&id),
            Self::Delete(_) => store.delete(&id).map(drop),
        }
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New(id) => write!(f, "new {id}"),
            Self::Lazy(id) => write!(f, "lazy {id}"),
            Self::Append(id, first, count) => write!(f, "append {id} {first} {count}"),
            Self::Open(id) => write!(f, "open {id}"),
            Self::Close(id) => write!(f, "close {id}"),
            Self::Delete(id) => write!(f, "delete {id}"),
        }
    }
}

impl FromStr for Deed {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let number = |word: &str| word.parse().map_err(|_| line.to_owned());
        match *line.split(' ').collect::<Vec<_>>() {
            ["new", id] => Ok(Self::New(id.into())),
            ["lazy", id] => Ok(Self::Lazy(id.into())),
            ["append", id, first, count] => Ok(Self::Append(id.into(), number(first)?, number(count)?)),
            ["open", id] => Ok(Self::Open(id.into())),
            ["close", id] => Ok(Self::Close(id.into())),
            ["delete", id] => Ok(Self::Delete(id.into())),
            _ => Err(line.to_owned()),
        }
    }
}

pub(super) fn header(id: &str) -> Header {
    Header::new(id, "/dir", 1)
}

/// Records that tell by their number what they must be: every third batch ends a turn, some are long.
pub(super) fn records(first: usize, count: usize) -> Vec<Record> {
    let raw = |value: &serde_json::Value| serde_json::value::to_raw_value(value).expect("valid JSON");
    (first..first + count)
        .map(|number| match number {
            _ if number % 3 == 0 && number + 1 == first + count => {
                Record::TurnEnd(TurnEnd::new("end_turn", number as u64).title(Some(format!("Turn {number}"))))
            }
            _ if number % 11 == 5 => Record::Config(raw(&json!({ "model": number }))),
            _ => {
                let long = if number % 7 == 1 { 30_000 } else { 30 };
                Record::Backend(raw(&json!({ "number": number, "text": "é".repeat(long) })))
            }
        })
        .collect()
}

pub(super) fn read_all(store: &mut dyn SessionStore, id: &str) -> Result<Vec<Record>, StoreError> {
    let (mut all, mut next) = (Vec::new(), Some(Position::START));
    while let Some(from) = next {
        let slice = store.read(&id.into(), from, 100_000)?;
        all.extend(slice.records);
        next = slice.next;
    }
    Ok(all)
}

/// Numbers that look random and are the same for the same seed.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("48 bits") % limit
    }
}

#[test]
#[ignore = "a process for other tests"]
fn a_life() {
    let Some(dir) = env::var_os(DIR) else { return };
    let [kind, name, seed, deeds] = [KIND, NAME, SEED, DEEDS].map(|key| env::var(key).unwrap_or_default());
    let mut store = match open(&kind, Path::new(&dir)) {
        Ok(store) => store,
        Err(error) => return say(&format!("@ {error:?}")),
    };
    say("@ up");
    if deeds.is_empty() {
        obey(&mut *store);
    } else {
        let dice = Dice::new(seed.parse().expect("a seed"));
        live(&mut *store, &name, dice, deeds.parse().expect("a number"));
    }
}

/// One whole line at once: a kill never leaves half of one.
fn say(line: &str) {
    io::stdout().lock().write_all(format!("{line}\n").as_bytes()).expect("somebody listens");
    io::stdout().flush().expect("somebody listens");
}

fn obey(store: &mut dyn SessionStore) {
    for line in io::stdin().lock().lines() {
        let line = line.expect("UTF-8");
        if line == "list" {
            let page = store.list(&Query::newest(1000)).expect("listed");
            let ids: Vec<_> = page.entries.iter().map(|entry| entry.header.id.as_str()).collect();
            say(&format!("@ {}", ids.join(" ")));
            continue;
        }
        let deed: Deed = line.parse().expect("a deed");
        match deed.run(store) {
            Ok(()) => say("@ ok"),
            Err(error) => say(&format!("@ {error:?}")),
        }
    }
}

/// Does what the dice say, with sessions that begin with its name; looks at the others and leaves them alone.
fn live(store: &mut dyn SessionStore, name: &str, mut dice: Dice, deeds: usize) {
    let mut next = 0;
    let mut closed: Vec<String> = Vec::new();
    let page = store.list(&Query::newest(1000).with_active()).expect("listed");
    for id in page.entries.iter().map(|entry| entry.header.id.as_str()) {
        if let Some(number) = id.strip_prefix(name).and_then(|number| number.parse::<usize>().ok()) {
            next = next.max(number + 1);
            closed.push(id.to_owned());
        }
    }
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..deeds {
        let any = |dice: &mut Dice, open: &BTreeMap<String, usize>| {
            open.keys().nth(dice.below(open.len().max(1))).cloned()
        };
        let deed = match (dice.below(12), any(&mut dice, &open)) {
            _ if open.len() + closed.len() > MOST => {
                Deed::Delete(closed.first().or(open.keys().next()).expect("too many").clone())
            }
            (0, _) if !closed.is_empty() => Deed::Open(closed[dice.below(closed.len())].clone()),
            (1, Some(id)) => Deed::Close(id),
            (2, Some(id)) => Deed::Delete(id),
            (3, _) => Deed::Lazy(format!("{name}{next}")),
            (4, _) | (_, None) => Deed::New(format!("{name}{next}")),
            (_, Some(id)) => Deed::Append(id.clone(), open[&id], 1 + dice.below(9)),
        };
        say(&format!("> {deed}"));
        deed.run(store).unwrap_or_else(|error| panic!("{deed}: {error:?}"));
        say("<");
        let id = deed.session().to_owned();
        closed.retain(|closed| *closed != id);
        match deed {
            Deed::New(_) | Deed::Lazy(_) => {
                next += 1;
                open.insert(id, 0);
            }
            Deed::Append(_, first, count) => drop(open.insert(id, first + count)),
            Deed::Open(_) => drop(open.insert(id.clone(), read_all(store, &id).expect("readable").len())),
            Deed::Close(_) => {
                // A session that nothing was written of is gone.
                if store.header(&id.as_str().into()).is_ok() {
                    closed.push(id.clone());
                }
                open.remove(&id);
            }
            Deed::Delete(_) => drop(open.remove(&id)),
        }
        // What somebody else has open stays theirs, and lists stay whole.
        if dice.below(4) == 0 {
            let others = store.list(&Query::newest(1000).with_active()).expect("listed");
            let other = others.entries.iter().find(|entry| entry.header.id.as_str().ends_with("-held"));
            if let Some(other) = other.filter(|other| !other.header.id.as_str().starts_with(name)) {
                let opened = store.open(&other.header.id);
                assert!(matches!(opened, Err(StoreError::Active(_))), "{opened:?}");
            }
        }
    }
}
