//! Sessions in one SQLite database: pages of the list cost the same wherever they are, however many sessions there are.
//!
//! The database is in WAL mode. A commit with a fact in it waits for the disk, another one does not: it may be lost with
//! the machine, never with the process, and never out of order. Who owns an open session is told by a lock file beside
//! the database, whose lock dies with its process.

mod claim;
mod draft;
mod list;
mod schema;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use accord_protocol::v1::SessionId;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, Transaction, TransactionBehavior, params};
use serde::Deserialize;

use self::claim::{Claim, Claims};
use super::file::{Identity, lost, make_dir, room_for_one_more, sync_dir};
use super::{Header, Page, Position, Query, Record, SessionStore, Slice, StoreError};

/// How the database numbers the level at which each commit waits for the disk.
const FULL: i64 = 2;

/// Sessions in a database; see the [module](self).
#[derive(Debug)]
pub struct SqliteStore {
    db: Connection,
    claims: Claims,
    open: HashMap<SessionId, Open>,
    relaxed: bool,
    /// Where the database is, and which file it was.
    path: PathBuf,
    file: Identity,
    /// Whether a commit waits for the disk as the database is set now.
    waits: bool,
    /// Something was committed that did not wait for the disk. The next durable commit brings it along.
    unsynced: bool,
}

/// A session this store has claimed.
#[derive(Debug)]
struct Open {
    header: Header,
    /// Its row, once there is one.
    row: Option<i64>,
    /// The row is of a session that is being prepared.
    draft: bool,
    claim: Claim,
}

impl SqliteStore {
    /// The store in this directory, which is made if it is not there; the database is `sessions.db`.
    ///
    /// # Errors
    /// The directory or the database cannot be made or read; [`StoreError::Newer`] for one of a later version.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, StoreError> {
        let dir = dir.as_ref();
        make_dir(dir, &mut sync_dir).map_err(StoreError::io_at("created", dir))?;
        let path = dir.join("sessions.db");
        let db = schema::open(&path)?;
        let file = Identity::of_path(&path).map_err(StoreError::io_at("opened", &path))?;
        let locks = dir.join("locks");
        let claims =
            Claims::beside(&locks, || draft::clear(&db)).map_err(StoreError::io_at("locked", &locks))?;
        sync_dir(dir).map_err(StoreError::io_at("synced", dir))?;
        Ok(Self {
            db,
            claims,
            open: HashMap::new(),
            relaxed: false,
            path,
            file,
            waits: true,
            unsynced: false,
        })
    }

    /// Acknowledges facts before they are on the disk: they survive the end of the process, not a power cut.
    #[must_use]
    pub fn relaxed(mut self) -> Self {
        self.relaxed = true;
        self
    }

    /// Runs changes as one: all of them happen, or none. With `durable`, they are on the disk afterwards.
    fn change<T>(
        &mut self,
        durable: bool,
        change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let durable = durable && !self.relaxed;
        // The database itself would go on writing into a file that nobody finds any more.
        if durable && Identity::of_path(&self.path).ok() != Some(self.file) {
            return Err(lost(&self.path));
        }
        let waits = (self.waits != durable).then_some(if durable { "FULL" } else { "NORMAL" });
        let run = |db: &mut Connection| {
            if let Some(level) = waits {
                db.pragma_update(None, "synchronous", level)?;
            }
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = change(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        let result = run(&mut self.db);
        self.waits = match &result {
            Ok(_) => durable,
            Err(_) => self.waits_for_the_disk(),
        };
        let result = result.map_err(failed("written", &self.path))?;
        self.unsynced = !durable;
        Ok(result)
    }

    /// Whether the database's next commit would wait for the disk.
    fn waits_for_the_disk(&self) -> bool {
        let level = self.db.pragma_query_value(None, "synchronous", |row| row.get(0));
        // What cannot be asked is set anew by the next change that has to wait.
        level.is_ok_and(|level: i64| level == FULL)
    }

    /// The session has this row now.
    fn is_stored(&mut self, id: &SessionId, row: i64, draft: bool) {
        // It was open a moment ago, and nobody else has this store.
        let open = self.open.get_mut(id).expect("the session is open");
        (open.row, open.draft) = (Some(row), draft);
    }

    fn row(&self, id: &SessionId) -> Result<(i64, Header), StoreError> {
        let found = self
            .db
            .prepare_cached("SELECT row, parent, cwd, created, directories FROM sessions WHERE id = ?1 AND parent IS NOT id")
            .and_then(|mut query| query.query_row([id.as_str()], |row| header(id, row)).optional());
        found.map_err(failed("read", &self.path))?.ok_or_else(|| StoreError::Unknown(id.clone()))
    }
}

impl SessionStore for SqliteStore {
    fn create(&mut self, header: &Header) -> Result<(), StoreError> {
        let exists = || StoreError::Exists(header.id.clone());
        if self.open.contains_key(&header.id) {
            return Err(exists());
        }
        match self.row(&header.id) {
            Ok(_) => return Err(exists()),
            Err(StoreError::Unknown(_)) => {}
            Err(error) => return Err(error),
        }
        room_for_one_more(self.open.len(), self.claims.dir())?;
        let claim = self.claims.claim(&header.id)?.ok_or_else(exists)?;
        self.open.insert(header.id.clone(), Open { header: header.clone(), row: None, draft: false, claim });
        Ok(())
    }

    fn prepare(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        let open = self.open.get(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?;
        if open.row.is_some() && !open.draft {
            return self.append(id, records);
        }
        let (header, row) = (draft::header(&open.header), open.row);
        let row = self.change(false, |db| {
            let row = row.map_or_else(|| insert(db, &header), Ok)?;
            append(db, row, records)?;
            Ok(row)
        })?;
        self.is_stored(id, row, true);
        Ok(())
    }

    fn materialise(&mut self, id: &SessionId) -> Result<(), StoreError> {
        let open = self.open.get(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?;
        if open.row.is_none() || open.draft {
            let (header, row) = (open.header.clone(), open.row);
            let row = self.change(true, |db| first(db, &header, row))?;
            self.is_stored(id, row, false);
        }
        Ok(())
    }

    fn append(&mut self, id: &SessionId, records: &[Record]) -> Result<(), StoreError> {
        let open = self.open.get(id).ok_or_else(|| StoreError::NotOpen(id.clone()))?;
        let (header, row) = (open.header.clone(), open.row);
        let new = row.is_none() || open.draft;
        // A new row is a header, and headers are durable.
        let row = self.change(new || records.iter().any(Record::is_fact), |db| {
            let row = match row {
                Some(row) if !new => row,
                row => first(db, &header, row)?,
            };
            append(db, row, records)?;
            Ok(row)
        })?;
        self.is_stored(id, row, false);
        Ok(())
    }

    fn header(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        match self.open.get(id) {
            Some(open) => Ok(open.header.clone()),
            None => self.row(id).map(|(_, header)| header),
        }
    }

    fn open(&mut self, id: &SessionId) -> Result<Header, StoreError> {
        if self.open.contains_key(id) {
            return Err(StoreError::Active(id.clone()));
        }
        self.row(id)?;
        room_for_one_more(self.open.len(), self.claims.dir())?;
        let claim = self.claims.claim(id)?.ok_or_else(|| StoreError::Active(id.clone()))?;
        // Whoever had the claim before may have deleted the session.
        let (row, header) = self.row(id)?;
        self.open.insert(id.clone(), Open { header: header.clone(), row: Some(row), draft: false, claim });
        Ok(header)
    }

    fn read(&mut self, id: &SessionId, from: Position, limit: usize) -> Result<Slice, StoreError> {
        let row = match self.open.get(id) {
            Some(Open { row: None, .. }) => return Ok(Slice::default()),
            Some(Open { row: Some(row), .. }) => *row,
            None => self.row(id)?.0,
        };
        self.records(row, from, limit).map_err(failed("read", &self.path))
    }

    fn close(&mut self, id: &SessionId) -> Result<(), StoreError> {
        let Some(open) = self.open.remove(id) else { return Ok(()) };
        if let (Some(row), true) = (open.row, open.draft) {
            return self.change(false, |db| draft::remove(db, row));
        }
        match open.row {
            // An empty commit does not wait for the disk: touching the row does, and brings what was written before.
            Some(row) if self.unsynced && !self.relaxed => self
                .change(true, |db| db.execute("UPDATE sessions SET row = row WHERE row = ?1", [row]))
                .map(drop),
            _ => Ok(()),
        }
    }

    fn delete(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        let row = match self.open.get(id) {
            Some(open) => open.row,
            None => self.row(id).map(|(row, _)| Some(row)).or_else(|error| match error {
                StoreError::Unknown(_) => Ok(None),
                error => Err(error),
            })?,
        };
        let (claim, draft) = match self.open.remove(id) {
            Some(open) => (open.claim, open.draft),
            None if row.is_none() => return Ok(false),
            None => (self.claims.claim(id)?.ok_or_else(|| StoreError::Active(id.clone()))?, false),
        };
        let deleted = match row {
            Some(row) => self.change(true, |db| draft::remove(db, row)).map(|()| !draft)?,
            None => false,
        };
        drop(claim);
        Ok(deleted)
    }

    fn list(&mut self, query: &Query) -> Result<Page, StoreError> {
        list::page(&self.db, &self.claims, query).map_err(|error| match error {
            list::Error::Database(error) => failed("read", &self.path)(error),
            list::Error::Claims(error) => StoreError::io_at("locked", self.claims.dir())(error),
        })
    }
}

impl SqliteStore {
    fn records(&self, session: i64, from: Position, limit: usize) -> rusqlite::Result<Slice> {
        let mut query = self.db.prepare_cached(
            "SELECT number, record FROM records WHERE session = ?1 AND number > ?2 ORDER BY number",
        )?;
        let mut rows = query.query(params![session, i64::try_from(from.get()).unwrap_or(i64::MAX)])?;
        let (mut records, mut taken) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            let text = row.get_ref(1)?.as_bytes()?;
            taken += text.len();
            if let Ok(record) = serde_json::from_slice(text) {
                records.push(record);
            } else {
                tracing::warn!(session, number, "a damaged record was left out");
            }
            if taken > limit {
                return Ok(Slice::new(records, Some(Position::new(number.unsigned_abs()))));
            }
        }
        Ok(Slice::new(records, None))
    }
}

fn insert(db: &Connection, header: &Header) -> rusqlite::Result<i64> {
    let parent = header.parent.as_ref().map(SessionId::as_str);
    let created = i64::try_from(header.created).unwrap_or(i64::MAX);
    let directories = as_text(&header.directories)?;
    let insert = "INSERT INTO sessions (id, parent, cwd, created, directories) VALUES (?1, ?2, ?3, ?4, ?5)";
    db.prepare_cached(insert)?.insert(params![header.id.as_str(), parent, header.cwd, created, directories])
}

/// The row of a session that is one from here on.
fn first(db: &Connection, header: &Header, draft: Option<i64>) -> rusqlite::Result<i64> {
    match draft {
        Some(row) => draft::finish(db, row, header).map(|()| row),
        None => insert(db, header),
    }
}

fn append(db: &Connection, session: i64, records: &[Record]) -> rusqlite::Result<()> {
    let mut last: i64 = db
        .prepare_cached("SELECT coalesce(max(number), 0) FROM records WHERE session = ?1")?
        .query_row([session], |row| row.get(0))?;
    let mut insert =
        db.prepare_cached("INSERT INTO records (session, number, record) VALUES (?1, ?2, ?3)")?;
    for record in records {
        last += 1;
        let text = serde_json::to_string(record)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        insert.execute(params![session, last, text])?;
        glance(db, session, record)?;
    }
    Ok(())
}

/// Keeps what the list shows of a session beside its header.
fn glance(db: &Connection, session: i64, record: &Record) -> rusqlite::Result<()> {
    match record {
        Record::TurnEnd(end) => {
            let at = i64::try_from(end.at).unwrap_or(i64::MAX);
            let directories = end.directories.as_deref().map(as_text).transpose()?;
            let update =
                "UPDATE sessions SET updated = ?2, title = ?3, current_directories = ?4 WHERE row = ?1";
            db.prepare_cached(update)?.execute(params![session, at, end.title, directories])?;
        }
        Record::Update(update) if update.get().contains("session_info_update") => {
            if let Ok(Info { session_update: "session_info_update", title: Some(title) }) =
                serde_json::from_str(update.get())
            {
                db.prepare_cached("UPDATE sessions SET title = ?2 WHERE row = ?1")?
                    .execute(params![session, title])?;
            }
        }
        _ => {}
    }
    Ok(())
}

#[derive(Deserialize)]
struct Info<'a> {
    #[serde(rename = "sessionUpdate")]
    session_update: &'a str,
    title: Option<String>,
}

fn header(id: &SessionId, row: &rusqlite::Row<'_>) -> rusqlite::Result<(i64, Header)> {
    let mut header = Header::new(id.clone(), row.get::<_, String>(2)?, row.get::<_, i64>(3)?.unsigned_abs());
    header.parent = row.get::<_, Option<String>>(1)?.map(SessionId::from);
    header.directories = directories_of_text(row.get(4)?).unwrap_or_default();
    Ok((row.get(0)?, header))
}

/// A list of paths in a column.
fn as_text(directories: &[String]) -> rusqlite::Result<String> {
    serde_json::to_string(directories)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn directories_of_text(text: Option<String>) -> Option<Vec<String>> {
    serde_json::from_str(&text?).ok()
}

/// The refusal of a database as that of a disk: its kind tells a full disk, a missing permission and damage apart.
fn failed(action: &'static str, path: &Path) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |error| {
        let kind = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => io::ErrorKind::StorageFull,
            Some(ErrorCode::ReadOnly) => io::ErrorKind::ReadOnlyFilesystem,
            Some(ErrorCode::PermissionDenied) => io::ErrorKind::PermissionDenied,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => io::ErrorKind::ResourceBusy,
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => io::ErrorKind::InvalidData,
            _ => io::ErrorKind::Other,
        };
        StoreError::io_at(action, path)(io::Error::new(kind, error))
    }
}
