//! The loop: reads, correlates, dispatches, writes. Nothing else in the workspace waits for the wire.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use accord_peer::{Event, Frame, Frames};
use accord_protocol::method::Side;
use accord_protocol::rpc::{self, Malformed, Message};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};
use tokio_util::io::poll_read_buf;

use crate::pending::Waiter;
use crate::shared::{Shared, State};
use crate::tap::Direction;
use crate::writer::Writer;
use crate::{Call, CallError, Cause, End, Notification, Options, Service, Tap, Update, WeakHandle};

/// What may be left in the pipe is read for so long after the process has exited: a grandchild may hold it open.
const AFTER_EXIT: Duration = Duration::from_millis(250);
/// A peer that asks and asks and does not read its answers is not read from either.
const UNREAD_ANSWERS: usize = 1024;
/// So many violations are told one by one, then each time their count has doubled.
const TOLD_VIOLATIONS: u32 = 32;

pub(crate) struct Driver<R, W, S> {
    shared: Arc<Shared>,
    handle: WeakHandle,
    read: R,
    writer: Writer<W>,
    tap: Option<Tap>,
    service: S,
    side: Side,
    frames: Frames,
    /// What one read brought that has to go through the peer.
    batch: Vec<Received>,
    /// Kept for its memory.
    steps: Vec<Step>,
    /// Bytes read while the service was not ready.
    ahead: usize,
    /// Whether updates need not ask the peer: no opening call is needed.
    open: bool,
    keep_raw: bool,
    frame_limit: usize,
    hard_limit: usize,
    high_water: usize,
    linger: Duration,
    /// The input has ended, or writing has failed.
    ending: Option<Cause>,
    deaf: bool,
    deadline: Option<(Cause, Pin<Box<Sleep>>)>,
    exit: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// What the peer should not have sent, counted.
    violations: u32,
}

/// A decoded line.
struct Received {
    message: Result<Message, Malformed>,
    bytes: usize,
    raw: Option<Box<RawValue>>,
}

/// What a line means, and what it takes to hand it over once the lock is released.
enum Step {
    Event(Event<Waiter>, usize, Option<Box<RawValue>>),
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
            writer: Writer::new(write, options.tap.clone()),
            tap: options.tap.clone(),
            service,
            side: options.side,
            frames: Frames::new(options.frame_limit),
            batch: Vec::new(),
            steps: Vec::new(),
            ahead: 0,
            open: options.opening.is_none(),
            keep_raw: options.keep_raw,
            frame_limit: options.frame_limit,
            hard_limit: options.hard_limit,
            high_water: options.high_water,
            linger: options.linger,
            ending: None,
            deaf: false,
            deadline: None,
            exit: None,
            violations: 0,
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
        (self.read, self.writer.into_inner(), self.service)
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
            let more = self.writer.is_idle() && state.peer.output_len() > 0;
            let held = state.peer.releases();
            if !closing && !more && !held {
                state.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            drop(state);
            if closing {
                self.close();
            } else if held {
                self.dispatch();
                self.service.flush();
            }
        }
    }

    /// The cause, once nothing is left to do.
    fn ended(&mut self, all_written: bool) -> Option<Cause> {
        let cause = self.ending.clone()?;
        let waits = match cause {
            Cause::Closed => !all_written,
            Cause::EndOfInput if self.side == Side::Agent => {
                !self.writer.has_given_up() && (!all_written || self.shared.lock().peer.owes())
            }
            Cause::Write(_) => !self.deaf,
            _ => false,
        };
        (!waits).then_some(cause)
    }

    /// The peer no longer reads. What it said before that still counts, so reading goes on until it runs dry.
    fn write_gathered(&mut self, cx: &mut Context<'_>) -> bool {
        self.writer.poll(cx, &self.shared).unwrap_or_else(|error| {
            self.ending.get_or_insert(Cause::Write(Arc::new(error)));
            true
        })
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
        self.writer.give_up();
        self.ending.get_or_insert(cause);
        true
    }

    /// Reads once and dispatches what came; whether there was anything.
    fn read_some(&mut self, cx: &mut Context<'_>) -> bool {
        if self.deaf {
            return false;
        }
        let Poll::Ready(read) = self.poll_read(cx) else {
            let dry = matches!(self.ending, Some(Cause::Write(_)));
            self.deaf |= dry;
            return dry;
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
        if ready {
            self.ahead = 0;
        }
        if !(ready && self.writer.is_idle()) {
            let state = self.shared.lock();
            let unread =
                state.peer.output_answers() > UNREAD_ANSWERS && state.peer.output_len() > self.high_water;
            if unread || !(ready || state.pressing > 0) {
                return Poll::Pending;
            }
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
        let mut heard = false;
        let mut update = None;
        while let Some(frame) = self.frames.next() {
            heard = true;
            let line = match frame {
                Frame::Line(line) => line,
                Frame::TooLong(start) => {
                    self.batch.push(Received::new(Err(Malformed::too_long(start)), start.len()));
                    continue;
                }
            };
            if let Some(tap) = &self.tap {
                tap.record(Direction::In, line);
            }
            let message = match rpc::decode_into(line, &mut update) {
                Ok(None) if self.open && self.batch.is_empty() => {
                    let raw = keep(line, self.keep_raw);
                    if let Some(notification) = update.take() {
                        self.service.update(Update { notification, bytes: line.len(), raw });
                    }
                    continue;
                }
                Ok(None) => update.take().map(Box::new).map(Message::Update).map(Ok),
                Ok(Some(message)) => Some(Ok(message)),
                Err(malformed) => Some(Err(malformed)),
            };
            self.batch.extend(message.map(|message| Received::of(message, line, self.keep_raw)));
        }
        if heard {
            // Only the first frame has a deadline.
            self.deadline.take_if(|(cause, _)| matches!(cause, Cause::Silent(_)));
            if !self.batch.is_empty() {
                self.dispatch();
            }
            self.service.flush();
        }
    }

    /// The last line counts without a line end, if it is a whole message.
    fn input_ended(&mut self) {
        if let Some(Frame::Line(line)) = self.frames.finish() {
            if let Some(tap) = &self.tap {
                tap.record(Direction::In, line);
            }
            self.batch.push(Received::of(rpc::decode(line), line, self.keep_raw));
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

    /// Correlates what was received, then hands it over in order.
    fn dispatch(&mut self) {
        let mut state = self.shared.lock();
        let mut steps = std::mem::take(&mut self.steps);
        while let Some(event) = state.peer.receive_held() {
            note(&mut state, event, 0, None, &mut steps);
        }
        for Received { message, bytes, raw } in self.batch.drain(..) {
            let event = match message {
                Ok(message) => state.peer.receive(message, bytes),
                Err(malformed) => Some(state.peer.receive_malformed(&malformed)),
            };
            if let Some(event) = event {
                note(&mut state, event, bytes, raw, &mut steps);
            }
        }
        drop(state);
        for step in steps.drain(..) {
            self.hand_over(step);
        }
        self.steps = steps;
    }

    fn hand_over(&mut self, step: Step) {
        match step {
            Step::Cancelled(watcher) => watcher.notify_waiters(),
            Step::Event(Event::Call { key, id, method, params }, bytes, _) => {
                self.service.call(Call::new(self.handle.clone(), key, id, method, params, bytes));
            }
            Step::Event(Event::Update(notification), bytes, raw) => {
                self.service.update(Update { notification: *notification, bytes, raw });
            }
            Step::Event(Event::Notification { method, params }, bytes, _) => {
                self.service.notification(Notification { method, raw_params: params, bytes });
            }
            Step::Event(Event::Outcome { waiter, outcome }, ..) => {
                waiter.settle(outcome.map_err(|failed| CallError::failed(failed, self.frame_limit)));
            }
            Step::Event(Event::Violation(violation), ..) => {
                self.violations = self.violations.saturating_add(1);
                if self.violations <= TOLD_VIOLATIONS || self.violations.is_power_of_two() {
                    tracing::warn!(target: "accord::wire", %violation, "the peer broke the protocol");
                }
            }
            Step::Event(..) => {}
        }
    }
}

impl Received {
    fn new(message: Result<Message, Malformed>, bytes: usize) -> Self {
        Self { message, bytes, raw: None }
    }

    fn of(message: Result<Message, Malformed>, line: &[u8], keep_raw: bool) -> Self {
        let update = matches!(message, Ok(Message::Update(_)));
        Self { message, bytes: line.len(), raw: keep(line, keep_raw && update) }
    }
}

fn keep(line: &[u8], keep_raw: bool) -> Option<Box<RawValue>> {
    if keep_raw { serde_json::from_slice(line).ok() } else { None }
}

/// What has to be done about an event while the lock is held.
fn note(
    state: &mut State,
    event: Event<Waiter>,
    bytes: usize,
    raw: Option<Box<RawValue>>,
    steps: &mut Vec<Step>,
) {
    match event {
        Event::Cancelled { key } => steps.extend(state.watcher(key).map(Step::Cancelled)),
        event => {
            if let Event::Outcome { waiter, .. } = &event {
                state.settled(Some(waiter));
            }
            steps.push(Step::Event(event, bytes, raw));
        }
    }
}

fn timer(cause: Cause, after: Duration) -> (Cause, Pin<Box<Sleep>>) {
    (cause, Box::pin(tokio::time::sleep_until(Instant::now() + after)))
}
