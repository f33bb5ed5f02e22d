//! When the work is over: the end of the input, a process that has exited, a pipe that broke, a wish to close.
//!
//! Whatever the reason, what the peer said before it counts: it is still read and handed over, however long a slow
//! consumer takes. Only this side's own wish to close cuts that short.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use accord_protocol::method::Side;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Sleep;

use super::Driver;
use crate::{Cause, End, Service};

/// How long a process that has exited may leave its output open: a grandchild may hold it, and write to it.
const AFTER_EXIT: Duration = Duration::from_millis(250);
/// A pipe holds no more than this. What comes beyond was written after the end, by a grandchild that never stops.
const PIPE: usize = 1 << 20;

/// Whether the peer is still listened to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearing {
    Open,
    /// Only what it said before the end, which is no more than so many bytes.
    LastWords(usize),
    Deaf,
}

/// Something that happens unless something else comes first.
pub(super) struct Timer {
    pub(super) cause: Cause,
    sleep: Pin<Box<Sleep>>,
}

impl Timer {
    pub(super) fn new(cause: Cause, after: Duration) -> Self {
        Self { cause, sleep: Box::pin(tokio::time::sleep(after)) }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Cause> {
        self.sleep.as_mut().poll(cx).map(|()| self.cause.clone())
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin, S: Service> Driver<R, W, S> {
    /// The cause, once nothing is left to do.
    pub(super) fn ended(&mut self, all_written: bool) -> Option<Cause> {
        let cause = self.ending.as_ref()?;
        let waits = match cause {
            Cause::Closed => !all_written,
            Cause::EndOfInput if self.side == Side::Agent => {
                !self.writer.has_given_up() && (!all_written || self.shared.lock().peer.owes())
            }
            Cause::Write(_) | Cause::Exited => !self.is_deaf(),
            _ => false,
        };
        (!waits).then(|| cause.clone())
    }

    /// Whether the timer has run out.
    pub(super) fn poll_timer(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(Poll::Ready(cause)) = self.timer.as_mut().map(|timer| timer.poll(cx)) else { return false };
        self.timer = None;
        // What could not be written until now is given up.
        self.writer.give_up();
        match cause {
            Cause::Exited => self.hear_last_words(),
            _ => self.hearing = Hearing::Deaf,
        }
        self.ending.get_or_insert(cause);
        true
    }

    pub(super) fn is_deaf(&self) -> bool {
        self.hearing == Hearing::Deaf
    }

    fn hear_last_words(&mut self) {
        if self.hearing == Hearing::Open {
            self.hearing = Hearing::LastWords(PIPE);
        }
    }

    /// The other end is a process and is gone. The end of its output should follow.
    pub(super) fn process_exited(&mut self) {
        self.exited = true;
        if !self.is_deaf() {
            self.timer = Some(Timer::new(Cause::Exited, AFTER_EXIT));
        }
    }

    /// Writing failed: the peer no longer reads.
    pub(super) fn peer_stopped_reading(&mut self, error: io::Error) {
        self.hear_last_words();
        self.ending.get_or_insert(Cause::Write(Arc::new(error)));
    }

    /// The input has ended, and all of it was handed over.
    pub(super) fn input_ended(&mut self) {
        self.hearing = Hearing::Deaf;
        let cause = if self.exited { Cause::Exited } else { Cause::EndOfInput };
        if self.side == Side::Agent && self.ending.is_none() {
            self.timer = Some(Timer::new(cause.clone(), self.linger));
            self.shared.deafen(&End::new(cause.clone(), None));
            self.service.flush();
        }
        self.ending.get_or_insert(cause);
    }

    /// This side wants to go: nothing more is read, what is queued is written, what is pending fails now.
    pub(super) fn close(&mut self) {
        self.hearing = Hearing::Deaf;
        self.ending.get_or_insert(Cause::Closed);
        self.timer = Some(Timer::new(Cause::Closed, self.linger));
        self.shared.lose(&End::new(Cause::Closed, None));
        self.service.flush();
    }
}
