//! The lines of a server over stdio, watched for one that is too long: the library drops such a line and goes on, and
//! whoever waits for the answer in it would wait without end.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use rmcp::transport::async_rw::DEFAULT_MAX_LINE_LENGTH;
use tokio::{
    io::{AsyncRead, ReadBuf},
    sync::watch,
};

/// The longest line a server may say, in bytes.
pub(super) const LONGEST: usize = DEFAULT_MAX_LINE_LENGTH;

/// What a server says, as it is.
#[derive(Debug)]
pub(super) struct Lines<R> {
    read: R,
    length: usize,
    too_long: watch::Sender<usize>,
}

impl<R> Lines<R> {
    /// Also counts how many lines were too long so far.
    pub(super) fn watch(read: R, too_long: watch::Sender<usize>) -> Self {
        Self { read, length: 0, too_long }
    }

    fn see(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let before = self.length;
            self.length += piece.len();
            // Told while it comes: its end may never do.
            if before <= LONGEST && self.length > LONGEST {
                self.too_long.send_modify(|count| *count += 1);
            }
            if piece.ends_with(b"\n") {
                self.length = 0;
            }
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.read).poll_read(cx, buffer))?;
        this.see(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_once_and_only_if_it_is_too_long() {
        let (too_long, seen) = watch::channel(0);
        let mut lines = Lines::watch(tokio::io::empty(), too_long);
        let mut full = vec![b'x'; LONGEST - 1];
        full.push(b'\n');
        lines.see(&full);
        lines.see(b"short\n");
        assert_eq!(*seen.borrow(), 0);
        lines.see(&full[..LONGEST - 1]);
        lines.see(b"xx");
        assert_eq!(*seen.borrow(), 1, "before its end");
        lines.see(&full);
        lines.see(b"short\n");
        assert_eq!(*seen.borrow(), 1);
    }
}
