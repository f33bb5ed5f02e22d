//! Which ids may be taken, so that a new session needs no look at the names of all others.
//!
//! A process reads the names once, when it opens the store. From then on each says in one file which ids it gives, before
//! the session has its name: who holds the unfinished file of an id, and finds the id neither there nor among the names it
//! has read, is the first. The file is nothing that has to survive: who is alone with a store begins it anew.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use accord_protocol::v1::SessionId;

use super::super::{StoreError, file};
use super::name::Name;

/// What the file is called; no session's is.
const GIVEN: &str = "ids";

/// What this process knows of the ids in a directory: eight bytes for each.
#[derive(Debug)]
pub(super) struct Ids {
    dir: PathBuf,
    known: HashSet<u64>,
    /// Where all of them say what they give, and how far it has been read.
    given: Option<(File, u64)>,
}

impl Ids {
    pub(super) fn read(dir: &Path) -> Result<Self, StoreError> {
        let mut ids = Self { dir: dir.to_owned(), known: HashSet::new(), given: None };
        ids.read_all(true)?;
        Ok(ids)
    }

    /// Whether a session of this id may be stored. `false` is certain for whoever holds the unfinished file of the id, and
    /// was so a moment ago for others.
    pub(super) fn may_hold(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        self.catch_up()?;
        Ok(self.known.contains(&hash(id)))
    }

    /// Says that the id is given, to every process with this store.
    pub(super) fn give(&mut self, id: &SessionId) -> Result<(), StoreError> {
        let path = self.dir.join(GIVEN);
        let hash = hash(id);
        let given = match self.given.take() {
            Some(given) => Ok(given),
            None => open(OpenOptions::new().create(true), &path, false).map(|file| (file, 0)),
        };
        let written = given.and_then(|(mut file, read)| {
            // A line end before it as well: what a full disk left of an earlier entry is a line of its own then.
            file.write_all(format!("\n{hash:016x}\n").as_bytes())?;
            self.given = Some((file, read));
            Ok(())
        });
        self.known.insert(hash);
        written.map_err(StoreError::io_at("written", &path))
    }

    fn catch_up(&mut self) -> Result<(), StoreError> {
        let path = self.dir.join(GIVEN);
        match &mut self.given {
            Some((open, read)) if file::is_still(&path, open) => {
                take(open, read, &mut self.known).map_err(StoreError::io_at("read", &path))
            }
            // Another process has begun it, or somebody has replaced it.
            None if !path.exists() => Ok(()),
            _ => self.read_all(false),
        }
    }

    fn read_all(&mut self, anew: bool) -> Result<(), StoreError> {
        let path = self.dir.join(GIVEN);
        self.given = match open(&mut OpenOptions::new(), &path, anew) {
            Ok(mut file) => {
                let mut read = 0;
                take(&mut file, &mut read, &mut self.known).map_err(StoreError::io_at("read", &path))?;
                Some((file, read))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(StoreError::io_at("opened", &path)(error)),
        };
        for entry in fs::read_dir(&self.dir).map_err(StoreError::io_at("read", &self.dir))? {
            let entry = entry.map_err(StoreError::io_at("read", &self.dir))?;
            if let Some(name) = Name::parse(&entry.file_name()) {
                self.known.insert(hash(name.key.id()));
            }
        }
        Ok(())
    }
}

/// Opens the file for as long as the store is open: a shared lock says so. Who gets it alone can begin it anew.
fn open(options: &mut OpenOptions, path: &Path, anew: bool) -> io::Result<File> {
    let file = options.read(true).append(true).open(path)?;
    if anew && file.try_lock().is_ok() {
        file.set_len(0)?;
        file.unlock()?;
    }
    file.lock_shared()?;
    Ok(file)
}

/// Reads on where reading has ended before.
fn take(file: &mut File, read: &mut u64, known: &mut HashSet<u64>) -> io::Result<()> {
    file.seek(SeekFrom::Start(*read))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    // Half an entry may be on its way.
    let Some(end) = text.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
    let entries = text[..end].split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok());
    known.extend(
        entries.filter(|entry| entry.len() == 16).filter_map(|entry| u64::from_str_radix(entry, 16).ok()),
    );
    *read += end as u64;
    Ok(())
}

/// FNV-1a: the same in every process, whatever it was built with.
fn hash(id: &SessionId) -> u64 {
    id.as_str()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Header;

    // two processes on one store, as far as ids go
    #[test]
    fn what_one_gives_the_others_see() {
        let dir = tempfile::tempdir().unwrap();
        let (mut one, mut two) = (Ids::read(dir.path()).unwrap(), Ids::read(dir.path()).unwrap());
        let [a, b, c] = ["a", "b", "c"].map(SessionId::from);
        assert!(!one.may_hold(&a).unwrap() && !two.may_hold(&a).unwrap());
        one.give(&a).unwrap();
        assert!(one.may_hold(&a).unwrap());
        assert!(!two.may_hold(&b).unwrap());
        assert!(two.may_hold(&a).unwrap());
        two.give(&b).unwrap();
        assert!(one.may_hold(&b).unwrap() && !one.may_hold(&c).unwrap());
        // Whoever starts reads the names, and from then on the file.
        fs::write(dir.path().join(Name::of(&Header::new("named", "/", 1)).unwrap().to_string()), "").unwrap();
        let mut three = Ids::read(dir.path()).unwrap();
        assert!(three.may_hold(&"named".into()).unwrap() && !three.may_hold(&c).unwrap());
        one.give(&c).unwrap();
        assert!(three.may_hold(&c).unwrap());
        // Who is alone begins the file anew, and knows the names.
        drop((one, two, three));
        let mut one = Ids::read(dir.path()).unwrap();
        assert_eq!(fs::metadata(dir.path().join(GIVEN)).unwrap().len(), 0);
        assert!(one.may_hold(&"named".into()).unwrap() && !one.may_hold(&a).unwrap());
        one.give(&a).unwrap();
        // A disk was full for a moment, and has half an entry.
        let mut half = OpenOptions::new().append(true).open(dir.path().join(GIVEN)).unwrap();
        half.write_all(b"\n0123").unwrap();
        let mut two = Ids::read(dir.path()).unwrap();
        one.give(&b).unwrap();
        assert!(two.may_hold(&b).unwrap() && two.may_hold(&a).unwrap());
        // Somebody tidies up.
        fs::remove_file(dir.path().join(GIVEN)).unwrap();
        assert!(one.may_hold(&"named".into()).unwrap());
        assert!(one.may_hold(&a).unwrap(), "what was given stays given");
    }
}
