//! The loop: reads, correlates, dispatches, writes. Nothing else in the workspace waits for the wire.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use accord_peer::{Event, Frame, Frames};
use accord_protocol::method::Side;
use accord_protocol::rpc::{self, Fault, Malformed, Message};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};
use tokio_util::io::poll_read_buf;

use crate::pending::{Outcome, Waiter};
use crate::shared::{Shared, State};
use crate::{Call, CallError, Cause, End, Notification, Options, Service, WeakHandle};

/// What may be left in the pipe is read for so long after the process has exited: a grandchild may hold it open.
const AFTER_EXIT: Duration = Duration::from_millis(250);
/// A peer that asks and asks and does not read its answers is not read from either.
const UNREAD_ANSWERS: usize = 1024;
/// The write buffer is given back when it grew beyond this for one large message.
const KEEP: usize = 512 << 10;

pub(crate) struct Driver<R, W, S> {
    shared: Arc<Shared>,
    handle: WeakHandle,
    read: R,
    write: W,
    service: S,
    side: Side,
    frames: Frames,
    /// What is being written, and how far that has come.
    writing: Vec<u8>,
    written: usize,
    unflushed: bool,
    /// What one read brought that has to go through the peer.
    batch: Vec<(Result<Message, Malformed>, usize)>,
    /// Bytes read while the service was not ready.
    ahead: usize,
    hard_limit: usize,
    high_water: usize,
    linger: Duration,
    /// The input has ended, or writing has failed.
    ending: Option<Cause>,
    deaf: bool,
    mute: bool,
    deadline: Option<(Cause, Pin<Box<Sleep>>)>,
    exit: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

/// What an event becomes once the lock is released.
enum Step {
    Event(Event<Waiter>, usize),
    Cancelled(Arc<Notify>),
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
            write,
            service,
            side: options.side,
            frames: Frames::new(options.frame_limit),
            writing: Vec::new(),
            written: 0,
            unflushed: false,
            batch: Vec::new(),
            ahead: 0,
            hard_limit: options.hard_limit,
            high_water: options.high_water,
            linger: options.linger,
            ending: None,
            deaf: false,
            mute: false,
            deadline: None,
            exit: None,
        }
    }

    /// The other end is a process: `exit` resolves when it is gone, and its first frame may have a deadline.
    pub(crate) fn watch_child(
        &mut self,
        exit: impl Future<Output = ()> + Send + 'static,
        first_frame: Option<Duration>,
    ) {
        self.exit = Some(Box::pin(exit));
        self.deadline = first_frame.map(|after| timer(Cause::Silent(after), after));
    }

    pub(crate) fn into_parts(self) -> (R, W, S) {
        (self.read, self.write, self.service)
    }

    /// Works until the connection has ended, and says what ended it.
    ///
    /// Writing comes before reading, and neither waits for the other: two ends that both write more than the pipe
    /// holds would hang for ever.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Cause> {
        loop {
            let done = self.write_gathered(cx);
            if let Some(cause) = self.ended(done) {
                return Poll::Ready(cause);
            }
            if self.poll_timers(cx) || self.read_some(cx) {
                continue;
            }
            let mut state = self.shared.lock();
            let closing = state.closing && self.ending.is_none();
            let more = self.writing.is_empty() && state.peer.output_len() > 0;
            if !closing && !more {
                state.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            drop(state);
            if closing {
                self.close();
            }
        }
    }

    /// The cause, once nothing is left to do.
    fn ended(&mut self, all_written: bool) -> Option<Cause> {
        let cause = self.ending.clone()?;
        let waits = match cause {
            Cause::Closed => !all_written,
            Cause::EndOfInput if self.side == Side::Agent => {
                !self.mute && (!all_written || self.shared.lock().peer.owes())
            }
            Cause::Write(_) => !self.deaf,
            _ => false,
        };
        (!waits).then_some(cause)
    }

    /// Writes what has gathered; whether nothing is left.
    fn write_gathered(&mut self, cx: &mut Context<'_>) -> bool {
        loop {
            if self.writing.is_empty() && !self.take_output() {
                return self.mute || !self.unflushed || self.poll_flush(cx);
            }
            match Pin::new(&mut self.write).poll_write(cx, &self.writing[self.written..]) {
                Poll::Pending => return false,
                Poll::Ready(Ok(0)) => self.write_failed(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Err(error)) => self.write_failed(error),
                Poll::Ready(Ok(count)) => {
                    self.written += count;
                    self.unflushed = true;
                    if self.written == self.writing.len() {
                        self.writing.clear();
                        self.written = 0;
                    }
                }
            }
        }
    }

    /// Takes what callers have serialised since the last time; whether there was anything.
    fn take_output(&mut self) -> bool {
        if self.writing.capacity() > KEEP {
            self.writing.shrink_to(self.high_water);
        }
        let mut state = self.shared.lock();
        let some = state.peer.output_len() > 0;
        if some {
            let spare = std::mem::take(&mut self.writing);
            self.writing = state.peer.take_output(spare);
            if self.mute {
                self.writing.clear();
            }
        }
        state.writing = !self.writing.is_empty();
        let idle = !state.writing;
        drop(state);
        if some {
            self.shared.made_room();
        }
        if idle {
            self.shared.all_written();
        }
        !idle
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> bool {
        match Pin::new(&mut self.write).poll_flush(cx) {
            Poll::Pending => false,
            Poll::Ready(flushed) => {
                self.unflushed = false;
                if let Err(error) = flushed {
                    self.write_failed(error);
                }
                true
            }
        }
    }

    /// The peer no longer reads. What it said before that still counts, so reading goes on until it runs dry.
    fn write_failed(&mut self, error: io::Error) {
        self.mute = true;
        self.unflushed = false;
        self.writing.clear();
        self.written = 0;
        self.ending.get_or_insert(Cause::Write(Arc::new(error)));
    }

    /// Whether a timer or the end of the process changed anything.
    fn poll_timers(&mut self, cx: &mut Context<'_>) -> bool {
        if self.exit.as_mut().is_some_and(|exit| exit.as_mut().poll(cx).is_ready()) {
            self.exit = None;
            self.deadline = Some(timer(Cause::Exited, AFTER_EXIT));
        }
        let Some((cause, sleep)) = &mut self.deadline else { return false };
        if sleep.as_mut().poll(cx).is_pending() {
            return false;
        }
        let cause = cause.clone();
        self.deadline = None;
        self.deaf = true;
        // What could not be written until now is given up.
        self.mute = true;
        self.ending.get_or_insert(cause);
        true
    }

    /// Reads once and dispatches what came; whether there was anything.
    fn read_some(&mut self, cx: &mut Context<'_>) -> bool {
        let released = self.dispatch();
        if self.deaf {
            return released;
        }
        let Poll::Ready(read) = self.poll_read(cx) else {
            if matches!(self.ending, Some(Cause::Write(_))) {
                self.deaf = true;
                return true;
            }
            return released;
        };
        match read {
            Ok(0) => self.input_ended(),
            Ok(_) => self.receive(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.deaf = true;
                self.ending = Some(Cause::Read(Arc::new(error)));
            }
        }
        true
    }

    /// Pending also while there is no room for what would come.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let ready = self.service.poll_ready(cx).is_ready();
        let state = self.shared.lock();
        let unread =
            state.peer.output_answers() > UNREAD_ANSWERS && state.peer.output_len() > self.high_water;
        let pressing = state.pressing > 0;
        drop(state);
        if unread || !(ready || pressing) {
            return Poll::Pending;
        }
        if ready {
            self.ahead = 0;
        }
        let read = ready!(poll_read_buf(Pin::new(&mut self.read), cx, self.frames.space()));
        if let (false, Ok(count)) = (ready, &read) {
            self.ahead += count;
        }
        if self.ahead > self.hard_limit {
            self.deaf = true;
            self.ending = Some(Cause::Flooded(self.hard_limit));
        }
        Poll::Ready(read)
    }

    /// Decodes what one read completed. Updates are handed over at once as long as nothing before them has to go
    /// through the peer; the rest is correlated under one lock.
    fn receive(&mut self) {
        while let Some(frame) = self.frames.next() {
            self.batch.push(match frame {
                Frame::Line(line) => (rpc::decode(line), line.len()),
                Frame::TooLong => (Err(Malformed::new(Fault::TooLong)), 0),
            });
        }
        if !self.batch.is_empty() {
            // Only the first frame has a deadline.
            self.deadline.take_if(|(cause, _)| matches!(cause, Cause::Silent(_)));
            self.dispatch();
            self.service.flush();
        }
    }

    /// The last line counts without a line end, if it is a whole message.
    fn input_ended(&mut self) {
        if let Some(Frame::Line(line)) = self.frames.finish() {
            self.batch.push((rpc::decode(line), line.len()));
            self.dispatch();
        }
        self.service.flush();
        self.deaf = true;
        let cause =
            if self.exit.is_none() && self.deadline.is_some() { Cause::Exited } else { Cause::EndOfInput };
        if self.side == Side::Agent && self.ending.is_none() {
            self.deadline = Some(timer(cause.clone(), self.linger));
            self.shared.deafen(&End::new(cause.clone(), None));
            self.service.flush();
        }
        self.ending.get_or_insert(cause);
    }

    /// This side wants to go: nothing more is read, what is queued is written, what is pending fails now.
    fn close(&mut self) {
        self.ending = Some(Cause::Closed);
        self.deaf = true;
        self.deadline = Some(timer(Cause::Closed, self.linger));
        self.shared.lose(&End::new(Cause::Closed, None));
        self.service.flush();
    }

    /// Correlates what was received, then hands it over in order; whether there was anything.
    fn dispatch(&mut self) -> bool {
        let mut state = self.shared.lock();
        let mut steps = Vec::new();
        while let Some(event) = state.peer.receive_held() {
            note(&mut state, event, 0, &mut steps);
        }
        for (message, bytes) in self.batch.drain(..) {
            let event = match message {
                Ok(message) => state.peer.receive(message, bytes),
                Err(malformed) => Some(state.peer.receive_malformed(&malformed)),
            };
            if let Some(event) = event {
                note(&mut state, event, bytes, &mut steps);
            }
        }
        drop(state);
        let any = !steps.is_empty();
        for step in steps {
            self.hand_over(step);
        }
        any
    }

    fn hand_over(&mut self, step: Step) {
        match step {
            Step::Cancelled(watcher) => watcher.notify_waiters(),
            Step::Event(Event::Call { key, id, method, params }, bytes) => {
                self.service.call(Call::new(self.handle.clone(), key, id, method, params, bytes));
            }
            Step::Event(Event::Notification { method, params }, bytes) => {
                self.service.notification(Notification { method, raw_params: params, bytes });
            }
            Step::Event(Event::Outcome { waiter, outcome }, _) => {
                let outcome: Outcome = outcome.map_err(CallError::failed);
                waiter.settle(outcome);
            }
            Step::Event(Event::Violation(violation), _) => {
                tracing::warn!(target: "accord::wire", %violation, "the peer broke the protocol");
            }
            Step::Event(..) => {}
        }
    }
}

/// What has to be done about an event while the lock is held.
fn note(state: &mut State, event: Event<Waiter>, bytes: usize, steps: &mut Vec<Step>) {
    match event {
        Event::Cancelled { key } => steps.extend(state.watcher(key).map(Step::Cancelled)),
        event => {
            if let Event::Outcome { waiter, .. } = &event {
                state.settled(Some(waiter));
            }
            steps.push(Step::Event(event, bytes));
        }
    }
}

fn timer(cause: Cause, after: Duration) -> (Cause, Pin<Box<Sleep>>) {
    (cause, Box::pin(tokio::time::sleep_until(Instant::now() + after)))
}
