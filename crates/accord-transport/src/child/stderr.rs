//! The child's stderr: always drained, the last lines kept.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::command::StderrSink;

/// So many of the last bytes are kept.
const KEPT: usize = 8 << 10;
/// A line that is longer is handed on in pieces.
const LONGEST_LINE: usize = 64 << 10;
/// How long the last words of a process that is gone are waited for: a grandchild may hold the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// The last words of a process.
pub(crate) struct Tail {
    kept: Arc<Mutex<Vec<u8>>>,
    drained: JoinHandle<()>,
    done: Arc<Notify>,
}

impl Tail {
    /// Reads `stderr` to its end in a task of its own: a full pipe would stop the child.
    pub(crate) fn drain(stderr: impl AsyncRead + Unpin + Send + 'static, sink: Option<StderrSink>) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let done = Arc::new(Notify::new());
        let (keep, tell) = (Arc::clone(&kept), Arc::clone(&done));
        let drained = tokio::spawn(async move {
            drain(stderr, keep, sink).await;
            tell.notify_one();
        });
        Self { kept, drained, done }
    }

    /// What is known by now, after a moment for what is still in the pipe.
    pub(crate) async fn last_words(&self) -> String {
        if !self.drained.is_finished() {
            // Reading may go on for ever; what was kept is all there is.
            let _ = tokio::time::timeout(LAST_WORDS, self.done.notified()).await;
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.drained.abort();
    }
}

async fn drain(mut stderr: impl AsyncRead + Unpin, kept: Arc<Mutex<Vec<u8>>>, sink: Option<StderrSink>) {
    let mut chunk = Vec::with_capacity(4 << 10);
    let mut line = Vec::new();
    while let Ok(1..) = stderr.read_buf(&mut chunk).await {
        keep(&mut kept.lock().unwrap_or_else(PoisonError::into_inner), &chunk);
        if let Some(sink) = &sink {
            line.extend_from_slice(&chunk);
            hand_on(&mut line, sink);
        }
        chunk.clear();
    }
    if let (Some(sink), false) = (&sink, line.is_empty()) {
        sink(&String::from_utf8_lossy(&line));
    }
}

fn keep(kept: &mut Vec<u8>, chunk: &[u8]) {
    let chunk = &chunk[chunk.len().saturating_sub(KEPT)..];
    let excess = (kept.len() + chunk.len()).saturating_sub(KEPT);
    kept.drain(..excess);
    kept.extend_from_slice(chunk);
}

fn hand_on(gathered: &mut Vec<u8>, sink: &StderrSink) {
    let mut start = 0;
    while let Some(length) = gathered[start..].iter().position(|byte| *byte == b'\n') {
        sink(&String::from_utf8_lossy(gathered[start..start + length].trim_ascii_end()));
        start += length + 1;
    }
    gathered.drain(..start);
    if gathered.len() > LONGEST_LINE {
        sink(&String::from_utf8_lossy(gathered));
        gathered.clear();
    }
}
