//! Sessions that are being prepared: rows that are their own parents, which no session is, and so nobody finds them.

use accord_protocol::v1::SessionId;
use rusqlite::{Connection, params};

use crate::store::Header;

/// The header of a session, as it is while the session is prepared.
pub(super) fn header(header: &Header) -> Header {
    Header { parent: Some(header.id.clone()), ..header.clone() }
}

/// Makes a session of what was prepared.
pub(super) fn finish(db: &Connection, row: i64, header: &Header) -> rusqlite::Result<()> {
    let parent = header.parent.as_ref().map(SessionId::as_str);
    db.execute("UPDATE sessions SET parent = ?2 WHERE row = ?1", params![row, parent]).map(drop)
}

/// Removes a session with all its records.
pub(super) fn remove(db: &Connection, row: i64) -> rusqlite::Result<()> {
    db.execute("DELETE FROM records WHERE session = ?1", [row])?;
    db.execute("DELETE FROM sessions WHERE row = ?1", [row]).map(drop)
}

/// Removes what processes that were killed had prepared. Only for a store that is alone.
pub(super) fn clear(db: &Connection) {
    let cleared = db.execute_batch(
        "BEGIN IMMEDIATE;
        DELETE FROM records WHERE session IN (SELECT row FROM sessions WHERE parent IS id);
        DELETE FROM sessions WHERE parent IS id;
        COMMIT;",
    );
    if let Err(error) = cleared {
        // Nobody finds it; it only takes room.
        tracing::warn!(%error, "what was prepared and never finished was not cleared away");
        if !db.is_autocommit() {
            drop(db.execute_batch("ROLLBACK"));
        }
    }
}
