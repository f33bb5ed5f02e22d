//! Recorded wire traffic as JSON lines: what crossed, when, which way, byte for byte.
//!
//! A line is `{"t":seconds,"dir":">"|"<","line":"…"}`; bytes that are no UTF-8 stand as `"hex"` instead of `"line"`, a line that no
//! newline ended carries `"cut":true`, and `{"t":…,"note":"…"}` marks what else happened. Captures that keep the parsed JSON as
//! `"frame"` are read too.

use std::io::{self, BufRead};
use std::time::Duration;

use serde_json::{Value, json};

use super::frame::{Direction, Frame};

/// What one connection left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recording {
    /// The lines, in the order in which they crossed.
    pub frames: Vec<Frame>,
    /// What else happened, such as the start of the process and its end.
    pub notes: Vec<(Duration, String)>,
}

impl Recording {
    /// Reads a recording; lines that belong to neither form are skipped, so that a file cut off by a kill still reads.
    ///
    /// # Errors
    ///
    /// Whatever reading gives.
    pub fn read(source: impl BufRead) -> io::Result<Self> {
        let mut recording = Self::default();
        for line in source.split(b'\n') {
            if let Ok(entry) = serde_json::from_slice::<Value>(&line?) {
                recording.take(&entry);
            }
        }
        Ok(recording)
    }

    fn take(&mut self, entry: &Value) {
        let at = Duration::try_from_secs_f64(entry["t"].as_f64().unwrap_or_default()).unwrap_or_default();
        if let Some(note) = entry["note"].as_str() {
            self.notes.push((at, note.to_owned()));
        }
        let direction = match entry["dir"].as_str() {
            Some(">") => Direction::ToAgent,
            Some("<") => Direction::ToClient,
            _ => return,
        };
        let bytes = if let Some(line) = entry["line"].as_str().or(entry["raw"].as_str()) {
            line.as_bytes().to_vec()
        } else if let Some(hex) = entry["hex"].as_str() {
            from_hex(hex)
        } else if entry["frame"].is_null() {
            return;
        } else {
            entry["frame"].to_string().into_bytes()
        };
        self.frames.push(Frame { at, direction, bytes, terminated: entry["cut"] != json!(true) });
    }
}

/// The line that records `frame`, newline included.
pub fn line(frame: &Frame) -> String {
    let mut entry = json!({"t": frame.at.as_secs_f64(), "dir": frame.direction.mark()});
    match std::str::from_utf8(&frame.bytes) {
        Ok(text) => entry["line"] = json!(text),
        Err(_) => entry["hex"] = json!(to_hex(&frame.bytes)),
    }
    if !frame.terminated {
        entry["cut"] = json!(true);
    }
    format!("{entry}\n")
}

/// The line that records `note`, newline included.
pub fn note(at: Duration, note: &str) -> String {
    format!("{}\n", json!({"t": at.as_secs_f64(), "note": note}))
}

fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_reads_back_byte_for_byte() {
        let mut cut = Frame::new(Duration::from_millis(3), Direction::ToClient, b"{\"half".as_slice());
        cut.terminated = false;
        let frames = vec![
            Frame::new(Duration::ZERO, Direction::ToAgent, b"{\"id\":1, \"x\":\"\\u2028\"}".as_slice()),
            Frame::new(Duration::from_millis(2), Direction::ToClient, b"\xff\x00 no UTF-8".as_slice()),
            cut,
        ];
        let file: String = frames.iter().map(line).chain([note(Duration::ZERO, "start")]).collect();
        let read = Recording::read(file.as_bytes()).unwrap();
        assert_eq!(read.frames, frames);
        assert_eq!(read.notes, [(Duration::ZERO, "start".to_owned())]);
    }
}
