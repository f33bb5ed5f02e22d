//! A record of what goes over the wire, one JSON object a line.

mod redact;

use std::fmt;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::value::RawValue;

/// Records every frame of a connection, in both directions, with the time.
///
/// ```text
/// {"at":1764514212.731520,"direction":"in","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{…}}}
/// {"at":1764514212.731688,"direction":"in","malformed":42}
/// ```
///
/// A frame is recorded byte for byte, except that the values in any member called `env` or `headers` are replaced. A line
/// that is no JSON is recorded by its length alone, since nobody can tell where its secrets are. Clones record to the
/// same place.
#[derive(Clone)]
pub struct Tap(Arc<Mutex<dyn Write + Send>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    In,
    Out,
}

#[derive(Serialize)]
struct Entry<'a> {
    at: f64,
    direction: Direction,
    #[serde(skip_serializing_if = "Option::is_none")]
    frame: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    malformed: Option<usize>,
}

impl Tap {
    /// Records to `writer`, which is written to on the task that drives the connection: give it a file or a buffer, not
    /// something that waits. What cannot be written is lost, and the connection goes on.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(writer)))
    }

    /// Records lines that end with a line end.
    pub(crate) fn record_lines(&self, direction: Direction, lines: &[u8]) {
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.record(direction, line);
        }
    }

    pub(crate) fn record(&self, direction: Direction, line: &[u8]) {
        let at = SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |time| time.as_secs_f64());
        let frame = redact::redacted(line);
        let malformed = frame.is_none().then_some(line.len());
        let entry = Entry { at, direction, frame: frame.as_deref(), malformed };
        let Ok(mut bytes) = serde_json::to_vec(&entry) else { return };
        bytes.push(b'\n');
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writer.write_all(&bytes).and_then(|()| writer.flush()) {
            tracing::debug!(target: "accord::wire", %error, "a frame could not be recorded");
        }
    }
}

impl fmt::Debug for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tap")
    }
}
