//! The tables, their version, and how an older database becomes a present one.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::failed;
use crate::store::StoreError;

/// How long another process may hold up a write.
const BUSY: Duration = Duration::from_secs(10);

/// The write-ahead log is cut to so many bytes when it has been written back.
const LOG_BYTES: u32 = 8 << 20;

/// Each makes the version of its place in the list out of the one before.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE sessions (
        row INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        parent TEXT,
        cwd TEXT NOT NULL,
        created INTEGER NOT NULL,
        title TEXT,
        updated INTEGER
    ) STRICT;
    CREATE INDEX sessions_listed ON sessions (created DESC, id DESC) WHERE parent IS NULL;
    CREATE INDEX sessions_of_cwd ON sessions (cwd, created DESC, id DESC) WHERE parent IS NULL;
    CREATE INDEX sessions_of_parent ON sessions (parent, created DESC, id DESC) WHERE parent IS NOT NULL;
    CREATE TABLE records (
        session INTEGER NOT NULL REFERENCES sessions (row),
        number INTEGER NOT NULL,
        record TEXT NOT NULL,
        PRIMARY KEY (session, number)
    ) STRICT, WITHOUT ROWID;
",
    "
    ALTER TABLE sessions ADD COLUMN directories TEXT;
    ALTER TABLE sessions ADD COLUMN current_directories TEXT;
",
];

/// The database, brought to the present version.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let mut db = Connection::open(path).map_err(failed("opened", path))?;
    settle(&db).map_err(failed("opened", path))?;
    migrate(&mut db, path)?;
    Ok(db)
}

fn settle(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(BUSY)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    // Where a sync alone leaves it in the drive's cache.
    db.pragma_update(None, "fullfsync", true)?;
    // A long transaction makes a long log; afterwards it is cut to this, and never grows past it in ordinary use.
    db.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
    db.pragma_update(None, "foreign_keys", true)
}

/// In one transaction, so that two processes that start together do not both do it, and no crash leaves half of it.
fn migrate(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    // There will not be four thousand million of them.
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    let transaction =
        db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed("opened", path))?;
    let found: u32 = transaction
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(failed("read", path))?;
    if found > known {
        return Err(StoreError::Newer { path: path.to_owned(), found, known });
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        transaction.execute_batch(migration).map_err(failed("written", path))?;
    }
    if found < known {
        transaction.pragma_update(None, "user_version", known).map_err(failed("written", path))?;
    }
    transaction.commit().map_err(failed("written", path))
}
