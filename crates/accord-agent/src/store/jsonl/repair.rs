//! What a crash leaves: files without a header, and ends that are not whole records.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::de::IgnoredAny;

use super::super::{file, lock};
use super::name::UNFINISHED;
use super::read::CONTINUED;

/// How much of a file is read at a time on the way back from its end.
const STEP: u64 = 16 * 1024;

/// Removes files that a crash left without a header.
pub(super) fn clear_unfinished(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        if path.extension() == Some(OsStr::new(UNFINISHED))
            && entry.file_type().is_ok_and(|kind| kind.is_file())
        {
            // One that cannot be looked at is not ours to judge.
            drop(clear_if_unowned(&path));
        }
    }
    Ok(())
}

/// Removes a file unless somebody has claimed it: a process that is about to name it.
pub(super) fn clear_if_unowned(path: &Path) -> io::Result<()> {
    match File::open(path) {
        Ok(open) => {
            // Between opening and locking it may have been named, or removed and made anew.
            if lock::claim(&open)? && file::is_still(path, &open) {
                fs::remove_file(path)?;
            }
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Where the last record ends that is whole, and whole with all that was appended with it.
///
/// A power cut can leave zeros or half a line behind what was synced, never before it.
pub(super) fn whole_length(file: &File, length: u64) -> io::Result<u64> {
    let mut end = length;
    while let Some(line_end) = line_end_before(file, end)? {
        let start = line_end_before(file, line_end)?.map_or(0, |before| before + 1);
        if is_last_record(file, start, line_end)? {
            return Ok(line_end + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The last line end before a place.
fn line_end_before(mut file: &File, mut place: u64) -> io::Result<Option<u64>> {
    let mut step = Vec::new();
    while place > 0 {
        let start = place.saturating_sub(STEP);
        step.clear();
        file.seek(SeekFrom::Start(start))?;
        file.take(place - start).read_to_end(&mut step)?;
        if let Some(at) = step.iter().rposition(|byte| *byte == b'\n') {
            return Ok(Some(start + at as u64));
        }
        place = start;
    }
    Ok(None)
}

/// Whether a line is JSON, and the last one of those that were appended with it. It is not held in memory.
fn is_last_record(mut file: &File, start: u64, end: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(start))?;
    let mut line = BufReader::new(file.take(end - start));
    let mut first = [0];
    if line.read(&mut first)? == 0 || first[0] == CONTINUED {
        return Ok(false);
    }
    match serde_json::from_reader::<_, IgnoredAny>((&first[..]).chain(line)) {
        Ok(_) => Ok(true),
        Err(error) if error.is_io() => Err(error.into()),
        Err(_) => Ok(false),
    }
}
