//! Lines from a pipe, found in one buffer that is kept from read to read.

use std::io::{self, Read};

const FIRST_CAPACITY: usize = 256 * 1024;

/// Splits what a reader gives at newlines.
#[derive(Debug)]
pub struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Everything before this was searched for a newline.
    searched: usize,
    /// Where the bytes that were read end.
    end: usize,
}

impl<R: Read> Lines<R> {
    /// Reads lines from `source`.
    pub fn new(source: R) -> Self {
        Self { source, buffer: vec![0; FIRST_CAPACITY], start: 0, searched: 0, end: 0 }
    }

    /// The next line without its newline; `None` at the end of input, where an unfinished line is dropped.
    ///
    /// # Errors
    ///
    /// Fails when the source cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        loop {
            let unsearched = &self.buffer[self.searched..self.end];
            if let Some(offset) = memchr::memchr(b'\n', unsearched) {
                let line = self.start..self.searched + offset;
                self.start = line.end + 1;
                self.searched = self.start;
                return Ok(Some(&self.buffer[line]));
            }
            self.searched = self.end;
            self.make_room();
            let count = self.source.read(&mut self.buffer[self.end..])?;
            if count == 0 {
                return Ok(None);
            }
            self.end += count;
        }
    }

    /// Reads and drops what is left.
    ///
    /// # Errors
    ///
    /// Fails when the source cannot be read.
    pub fn drain(&mut self) -> io::Result<()> {
        while self.source.read(&mut self.buffer)? > 0 {}
        Ok(())
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.searched, self.end) = (0, 0, 0);
        } else if self.end == self.buffer.len() && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.searched -= self.start;
            self.start = 0;
        } else if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn long_lines_and_short_lines_come_out_whole() {
        let long = "x".repeat(1_000_000);
        let input = format!("a\n{long}\n\nb\nunfinished");
        let mut lines = Lines::new(input.as_bytes());
        for expected in ["a", &long, "", "b"] {
            assert_eq!(lines.next_line().unwrap(), Some(expected.as_bytes()));
        }
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
