//! Bytes into lines, with a limit on how long a line may be.

use memchr::memchr;

use crate::Shrink;

/// Room that is made before each read: more than a Linux pipe holds, so that one read empties it and the runtime
/// can tell from the short read that nothing is left.
const READ: usize = 68 << 10;
/// So much of a line that is too long is shown.
const GLIMPSE: usize = 512;

/// Splits what was read into lines.
///
/// Fill [`Frames::space`], then take [`Frames::next`] until it is `None`. Blank lines, a byte order mark and the
/// carriage return of a foreign line end are left out. A line longer than the limit is skipped without being
/// kept, and reported once.
#[derive(Debug)]
pub struct Frames {
    buffer: Vec<u8>,
    /// Where the first byte is that was not handed out.
    start: usize,
    /// Up to where there is no line end.
    scanned: usize,
    limit: usize,
    /// Whether the rest of a line that was too long is still to come.
    skipping: bool,
    shrink: Shrink,
}

/// One line, or the news of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a line fits or it does not")]
pub enum Frame<'a> {
    /// A line without its end, with at least one byte that is no white space.
    Line(&'a [u8]),
    /// How a line longer than the limit begins; the rest is gone.
    TooLong(&'a [u8]),
}

impl Frames {
    /// A splitter for lines of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, scanned: 0, limit, skipping: false, shrink: Shrink::default() }
    }

    /// Where the next read goes: append to it, and only to it.
    pub fn space(&mut self) -> &mut Vec<u8> {
        self.compact();
        self.buffer.reserve(READ);
        &mut self.buffer
    }

    /// Bytes kept for a line that is not complete.
    pub fn pending(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// The next complete line.
    #[expect(clippy::should_implement_trait, reason = "a lending iterator, which the trait cannot express")]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        loop {
            let Some(found) = memchr(b'\n', &self.buffer[self.scanned..]) else {
                return self.incomplete();
            };
            let (start, end) = (self.start, self.scanned + found);
            self.start = end + 1;
            self.scanned = end + 1;
            if std::mem::take(&mut self.skipping) {
                continue;
            }
            if end - start > self.limit {
                return Some(Frame::TooLong(self.glimpse(start)));
            }
            if !trimmed(&self.buffer[start..end]).is_empty() {
                return Some(Frame::Line(trimmed(&self.buffer[start..end])));
            }
        }
    }

    /// The last line, when the input ended without a line end.
    pub fn finish(&mut self) -> Option<Frame<'_>> {
        let start = std::mem::replace(&mut self.start, self.buffer.len());
        self.scanned = self.start;
        let line = trimmed(&self.buffer[start..]);
        (!std::mem::take(&mut self.skipping) && !line.is_empty()).then_some(Frame::Line(line))
    }

    fn incomplete(&mut self) -> Option<Frame<'_>> {
        self.scanned = self.buffer.len();
        if !self.skipping && self.pending() <= self.limit {
            return None;
        }
        let start = std::mem::replace(&mut self.start, self.scanned);
        let news = !std::mem::replace(&mut self.skipping, true);
        news.then(|| Frame::TooLong(self.glimpse(start)))
    }

    fn glimpse(&self, start: usize) -> &[u8] {
        let line = trimmed(&self.buffer[start..self.scanned]);
        &line[..line.len().min(GLIMPSE)]
    }

    /// Moves what is left to the front, and gives a large buffer back when it was not needed for a while.
    fn compact(&mut self) {
        let needed = self.buffer.len();
        self.buffer.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        self.shrink.used(&mut self.buffer, needed);
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
}
