//! The tables, their version, and how an older database becomes a present one.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::failed;
use crate::store::StoreError;

/// How long another process may hold up a write.
const BUSY: Duration = Duration::from_secs(10);

/// Each makes the version of its place in the list out of the one before.
const MIGRATIONS: &[&str] = &["
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
"];

/// The database, brought to the present version.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    let mut db = Connection::open(path).map_err(failed("opened"))?;
    db.busy_timeout(BUSY).map_err(failed("opened"))?;
    db.pragma_update(None, "journal_mode", "WAL").map_err(failed("opened"))?;
    db.pragma_update(None, "synchronous", "FULL").map_err(failed("opened"))?;
    db.pragma_update(None, "foreign_keys", true).map_err(failed("opened"))?;
    migrate(&mut db)?;
    Ok(db)
}

/// In one transaction, so that two processes that start together do not both do it, and no crash leaves half of it.
fn migrate(db: &mut Connection) -> Result<(), StoreError> {
    // There will not be four thousand million of them.
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    let transaction =
        db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed("opened"))?;
    let found: u32 =
        transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed("read"))?;
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(usize::MAX)) {
        transaction.execute_batch(migration).map_err(failed("written"))?;
    }
    if found < known {
        transaction.pragma_update(None, "user_version", known).map_err(failed("written"))?;
    }
    transaction.commit().map_err(failed("written"))
}
