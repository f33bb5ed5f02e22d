//! File names that say all the list asks: when, of which directory, whose child, which session.

use std::ffi::OsStr;
use std::fmt::{self, Write as _};

use accord_protocol::v1::SessionId;

use super::super::key::checksum;
use super::super::{Header, Key, StoreError};

/// Longest name a session id may need; file systems stop at 255 bytes.
const LONGEST_ID: usize = 200;
const TOP: &str = ".jsonl";
const CHILD: &str = ".child.jsonl";
/// The ending of a file that has no header yet; the next start clears it away if nobody owns it.
pub(super) const UNFINISHED: &str = "new";

/// `0192f3c4a5b6-4fd1e0aa-SESSION.jsonl`, or `….child.jsonl`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) key: Key,
    /// A hash of the working directory: equal directories have equal ones, the header decides about the rest.
    pub(super) cwd: u32,
    pub(super) child: bool,
}

impl Name {
    pub(super) fn of(header: &Header) -> Result<Self, StoreError> {
        let length = header.id.as_str().len();
        if length == 0 || escape(header.id.as_str()).len() > LONGEST_ID {
            return Err(StoreError::UnusableId(length));
        }
        Ok(Self { key: Key::of(header), cwd: hash(&header.cwd), child: header.parent.is_some() })
    }

    /// Whether a file may be this session's, as far as the end of its name tells: a look at names without reading them.
    pub(super) fn may_be_of(file: &OsStr, escaped: &str) -> bool {
        let Some(file) = file.to_str() else { return false };
        let stem = file.strip_suffix(CHILD).or_else(|| file.strip_suffix(TOP));
        stem.and_then(|stem| stem.strip_suffix(escaped)).is_some_and(|before| before.ends_with('-'))
    }

    pub(super) fn parse(file: &OsStr) -> Option<Self> {
        let file = file.to_str()?;
        let (stem, child) = match file.strip_suffix(CHILD) {
            Some(stem) => (stem, true),
            None => (file.strip_suffix(TOP)?, false),
        };
        let (created, rest) = stem.split_once('-')?;
        let (cwd, id) = rest.split_once('-')?;
        Some(Self {
            key: Key::new(u64::from_str_radix(created, 16).ok()?, SessionId::from(unescape(id)?)),
            cwd: u32::from_str_radix(cwd, 16).ok()?,
            child,
        })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = escape(self.key.id().as_str());
        let end = if self.child { CHILD } else { TOP };
        write!(f, "{:012x}-{:08x}-{id}{end}", self.key.created(), self.cwd)
    }
}

pub(super) fn hash(cwd: &str) -> u32 {
    checksum(cwd.as_bytes())
}

/// The name of a session's file as long as it has no header.
pub(super) fn unfinished(id: &SessionId) -> String {
    format!("{}.{UNFINISHED}", escape(id.as_str()))
}

/// A file name for a session, if its id is not too long for one.
#[cfg(feature = "sqlite")]
pub(in super::super) fn file_name_of(id: &SessionId) -> Option<String> {
    let name = escape(id.as_str());
    (1..=LONGEST_ID).contains(&name.len()).then_some(name)
}

/// Letters, digits, `-` and `_` stand for themselves, every other byte as `%` and two digits: also on file systems
/// that fold case nothing else could be told apart reliably, so capitals are written out too.
pub(super) fn escape(id: &str) -> String {
    id.bytes().fold(String::with_capacity(id.len()), |mut name, byte| {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(byte)),
            // Writing to a `String` cannot fail.
            _ => drop(write!(name, "%{byte:02x}")),
        }
        name
    })
}

fn unescape(name: &str) -> Option<String> {
    let mut id = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let pair = [rest.next()?, rest.next()?];
                id.push(u8::from_str_radix(std::str::from_utf8(&pair).ok()?, 16).ok()?);
            }
            _ => id.push(byte),
        }
    }
    String::from_utf8(id).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_whatever_the_id_is_made_of() {
        for id in ["0192f3c4-a5b6-7000-8000-000000000000", "../../etc/passwd", "A", "ä.jsonl", "%", "a b\n"]
        {
            let header = Header::new(id, "/dir", 1_700_000_000_000);
            let name = Name::of(&header).unwrap();
            let file = name.to_string();
            assert!(!file.contains('/') && file == file.to_lowercase(), "{file}");
            assert_eq!(Name::parse(OsStr::new(&file)), Some(name));
        }
    }

    #[test]
    fn ids_that_no_file_can_be_named_after_are_refused() {
        for id in ["", &"x".repeat(LONGEST_ID + 1), &"/".repeat(LONGEST_ID)] {
            let refused = Name::of(&Header::new(id, "/dir", 0));
            assert!(matches!(refused, Err(StoreError::UnusableId(_))), "{id}");
        }
    }
}
