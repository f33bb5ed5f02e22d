//! Reading a session's file, whoever writes it: its header, its records a slice at a time, its last lines.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use accord_protocol::v1::SessionId;
use serde::{Deserialize, Serialize};

use super::super::{Header, Position, Slice, StoreError};
use super::name::Name;

/// The version of the format, in the header's line.
pub(super) const VERSION: u32 = 1;
/// What the line of a record begins with when the next one was appended with it: white space, to a reader of JSON.
pub(super) const CONTINUED: u8 = b' ';
/// A header's line is never longer; it holds paths, as many as a client sends.
pub(super) const LONGEST_HEADER: usize = 4 << 20;

/// The first line of a file.
#[derive(Serialize, Deserialize)]
pub(super) struct HeaderLine<H> {
    pub(super) version: u32,
    pub(super) header: H,
}

/// The header of a file. One whose first line is none, or another session's, is no session.
pub(super) fn header(path: &Path, id: &SessionId) -> Result<Header, StoreError> {
    let mut line = Vec::new();
    File::open(path)
        .and_then(|file| BufReader::new(file.take(LONGEST_HEADER as u64)).read_until(b'\n', &mut line))
        .map_err(not_found("read", path, id))?;
    let header = line.strip_suffix(b"\n").and_then(|line| serde_json::from_slice(line).ok());
    let Some(HeaderLine { version, header }) = header else {
        tracing::warn!(file = ?path.file_name(), "a stored session has no readable header");
        return Err(StoreError::Unknown(id.clone()));
    };
    if version > VERSION {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known: VERSION });
    }
    // A copy under another name would be listed in one place and found in another.
    let named = path.file_name().and_then(Name::parse);
    if named.is_none() || Name::of(&header).ok() != named {
        tracing::warn!(file = ?path.file_name(), "a stored session has another one's name");
        return Err(StoreError::Unknown(id.clone()));
    }
    Ok(header)
}

/// Records from a byte position on.
pub(super) fn records(path: &Path, from: Position, limit: usize) -> io::Result<Slice> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from.get()))?;
    let mut lines = BufReader::with_capacity(64 * 1024, file);
    let (mut at, mut taken, mut records, mut line) = (from.get(), 0, Vec::new(), Vec::new());
    while taken <= limit {
        line.clear();
        let read = lines.read_until(b'\n', &mut line)?;
        // An unfinished last line is being written, or torn: not a record either way.
        if read == 0 || line.last() != Some(&b'\n') {
            return Ok(Slice::new(records, None));
        }
        let header = at == 0;
        at += read as u64;
        if header {
            continue;
        }
        taken += read;
        if let Ok(record) = serde_json::from_slice(&line) {
            records.push(record);
        } else {
            tracing::warn!(file = ?path.file_name(), at, "a damaged record was left out");
        }
    }
    Ok(Slice::new(records, Some(Position::new(at))))
}

/// The whole lines at the end of a file, newest first, as far as a tail of this many bytes goes.
pub(super) fn tail(file: &mut File, bytes: u64) -> io::Result<Vec<Vec<u8>>> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(bytes);
    file.seek(SeekFrom::Start(start))?;
    let mut end = Vec::new();
    file.take(bytes).read_to_end(&mut end)?;
    let mut lines: Vec<Vec<u8>> = end.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    // What follows the last line end is not a line yet, and what precedes the first one is not a whole line.
    lines.pop();
    if start > 0 && !lines.is_empty() {
        lines.remove(0);
    }
    lines.reverse();
    Ok(lines)
}

/// A file that vanished since its name was read is a session that was deleted.
pub(super) fn not_found(
    action: &'static str,
    path: &Path,
    id: &SessionId,
) -> impl FnOnce(io::Error) -> StoreError {
    let failed = StoreError::io_at(action, path);
    let id = id.clone();
    move |error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::Unknown(id),
        _ => failed(error),
    }
}
