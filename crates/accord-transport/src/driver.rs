//! The loop: reads, correlates, dispatches, writes. Nothing else in the workspace waits for the wire.
//!
//! A line becomes a call of the [`Service`] in two steps: `driver/reading.rs` makes messages of bytes, and
//! `driver/dispatch.rs` asks the peer what a message means and hands it over. `driver/ending.rs` says when it is over.

mod dispatch;
mod ending;
mod reading;

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use accord_peer::Frames;
use accord_protocol::method::Side;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::shared::Shared;
use crate::writer::Writer;
use crate::{Cause, Options, Service, Tap, WeakHandle};
use ending::{Hearing, Timer};

pub(crate) struct Driver<R, W, S> {
    shared: Arc<Shared>,
    handle: WeakHandle,
    read: R,
    writer: Writer<W>,
    tap: Option<Tap>,
    service: S,
    side: Side,
    frames: Frames,
    /// Bytes read while the service was not ready.
    ahead: usize,
    /// Whether updates need not ask the peer: no opening call is needed.
    open: bool,
    keep_raw: bool,
    frame_limit: usize,
    hard_limit: usize,
    high_water: usize,
    linger: Duration,
    /// What ended the connection, or is about to.
    ending: Option<Cause>,
    hearing: Hearing,
    timer: Option<Timer>,
    /// Whether the other end is a process that has exited.
    exited: bool,
    /// What the peer should not have sent, counted.
    violations: u32,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin, S: Service> Driver<R, W, S> {
    pub(crate) fn new(
        shared: Arc<Shared>,
        handle: WeakHandle,
        options: &Options,
        read: R,
        write: W,
        service: S,
    ) -> Self {
        Self {
            shared,
            handle,
            read,
            writer: Writer::new(write, options.tap.clone()),
            tap: options.tap.clone(),
            service,
            side: options.side,
            frames: Frames::new(options.frame_limit),
            ahead: 0,
            open: options.opening.is_none(),
            keep_raw: options.keep_raw,
            frame_limit: options.frame_limit,
            hard_limit: options.hard_limit,
            high_water: options.high_water,
            linger: options.linger,
            ending: None,
            hearing: Hearing::Open,
            timer: None,
            exited: false,
            violations: 0,
        }
    }

    /// The first frame has to come within `after`.
    pub(crate) fn expect_frame(&mut self, after: Duration) {
        self.timer = Some(Timer::new(Cause::Silent(after), after));
    }

    pub(crate) fn into_parts(self) -> (R, W, S) {
        (self.read, self.writer.into_inner(), self.service)
    }

    /// Works until the connection has ended, and says what ended it.
    ///
    /// Writing comes before reading, and neither waits for the other: two ends that both write more than the pipe
    /// holds would hang for ever.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Cause> {
        loop {
            let all_written = self.write_gathered(cx);
            if let Some(cause) = self.ended(all_written) {
                return Poll::Ready(cause);
            }
            if self.poll_timer(cx) || self.read_some(cx) {
                continue;
            }
            let mut state = self.shared.lock();
            let closing = state.closing && !self.is_deaf();
            let exited = std::mem::take(&mut state.exited);
            let more = self.writer.is_idle() && state.peer.output_len() > 0;
            let held = state.peer.releases();
            if !(closing || exited || more || held) {
                state.sleep(cx.waker());
                return Poll::Pending;
            }
            drop(state);
            if closing {
                self.close();
            } else if exited {
                self.process_exited();
            } else if held {
                self.release_held();
            }
        }
    }

    /// Writes what has gathered; whether nothing is left.
    fn write_gathered(&mut self, cx: &mut Context<'_>) -> bool {
        match self.writer.poll(cx, &self.shared) {
            Ok(all_written) => all_written,
            Err(error) => {
                self.peer_stopped_reading(error);
                true
            }
        }
    }
}
