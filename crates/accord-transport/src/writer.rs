//! The writing half of the loop: everything that has gathered goes out in one system call.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use accord_peer::Shrink;
use tokio::io::AsyncWrite;

use crate::Tap;
use crate::shared::Shared;
use crate::tap::Direction;

#[derive(Debug)]
pub(crate) struct Writer<W> {
    write: W,
    /// What is being written, and how far that has come.
    writing: Vec<u8>,
    written: usize,
    shrink: Shrink,
    unflushed: bool,
    /// Nothing can be written any more: what comes is thrown away.
    mute: bool,
    tap: Option<Tap>,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    pub(crate) fn new(write: W, tap: Option<Tap>) -> Self {
        Self {
            write,
            writing: Vec::new(),
            written: 0,
            shrink: Shrink::default(),
            unflushed: false,
            mute: false,
            tap,
        }
    }

    pub(crate) fn into_inner(self) -> W {
        self.write
    }

    /// Whether nothing that was taken waits to be written.
    pub(crate) fn is_idle(&self) -> bool {
        self.writing.is_empty()
    }

    pub(crate) fn has_given_up(&self) -> bool {
        self.mute
    }

    /// Throws away what is queued, and whatever still comes.
    pub(crate) fn give_up(&mut self) {
        self.mute = true;
        self.writing.clear();
        self.written = 0;
    }

    /// Writes what has gathered; whether nothing is left. After an error it has given up.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, shared: &Shared) -> io::Result<bool> {
        let polled = self.try_poll(cx, shared);
        if polled.is_err() {
            self.give_up();
        }
        polled
    }

    fn try_poll(&mut self, cx: &mut Context<'_>, shared: &Shared) -> io::Result<bool> {
        loop {
            if self.writing.is_empty() && !self.take_output(shared) {
                return self.poll_flush(cx);
            }
            match Pin::new(&mut self.write).poll_write(cx, &self.writing[self.written..]) {
                Poll::Pending => return Ok(false),
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Ready(Ok(count)) => {
                    self.written += count;
                    self.unflushed = true;
                    if self.written == self.writing.len() {
                        self.writing.clear();
                        self.shrink.used(&mut self.writing, self.written);
                        self.written = 0;
                    }
                }
            }
        }
    }

    /// Takes what callers have serialised since the last time; whether there was anything to write.
    fn take_output(&mut self, shared: &Shared) -> bool {
        if self.mute {
            shared.discard_output();
            return false;
        }
        self.writing = shared.take_output(std::mem::take(&mut self.writing));
        if let Some(tap) = &self.tap {
            tap.record_lines(Direction::Out, &self.writing);
        }
        !self.writing.is_empty()
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        if self.mute || !self.unflushed {
            return Ok(true);
        }
        match Pin::new(&mut self.write).poll_flush(cx) {
            Poll::Pending => Ok(false),
            Poll::Ready(flushed) => {
                self.unflushed = false;
                flushed.map(|()| true)
            }
        }
    }
}
