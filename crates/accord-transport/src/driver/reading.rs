//! From bytes on the wire to messages.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use accord_peer::Frame;
use accord_protocol::rpc::{self, Malformed, Message};
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::io::poll_read_buf;

use super::Driver;
use super::ending::Hearing;
use crate::tap::Direction;
use crate::{Cause, Service, Update};

/// A peer that asks and asks and does not read its answers is not read from either.
const UNREAD_ANSWERS: usize = 1024;

/// What a look at the input gave.
enum Input {
    Read(io::Result<usize>),
    /// Nothing is there.
    Dry,
    /// There is no room for what would come.
    Stalled,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin, S: Service> Driver<R, W, S> {
    /// Reads once and dispatches what came; whether there was anything.
    pub(super) fn read_some(&mut self, cx: &mut Context<'_>) -> bool {
        if self.is_deaf() {
            return false;
        }
        match self.poll_input(cx) {
            Input::Read(Ok(0)) => self.last_line(),
            Input::Read(Ok(count)) => {
                self.receive();
                if let Hearing::LastWords(left) = self.hearing {
                    self.hearing = match left.saturating_sub(count) {
                        0 => Hearing::Deaf,
                        left => Hearing::LastWords(left),
                    };
                }
            }
            Input::Read(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Input::Read(Err(error)) => {
                self.hearing = Hearing::Deaf;
                self.ending = Some(Cause::Read(Arc::new(error)));
            }
            // All that was said before the end has been read.
            Input::Dry if matches!(self.hearing, Hearing::LastWords(_)) => self.hearing = Hearing::Deaf,
            Input::Dry | Input::Stalled => return false,
        }
        true
    }

    fn poll_input(&mut self, cx: &mut Context<'_>) -> Input {
        let ready = self.service.poll_ready(cx).is_ready();
        if ready {
            self.ahead = 0;
        }
        if !(ready && self.writer.is_idle()) {
            let state = self.shared.lock();
            let unread =
                state.peer.output_answers() > UNREAD_ANSWERS && state.peer.output_len() > self.high_water;
            if unread || !(ready || state.pressing > 0) {
                return Input::Stalled;
            }
        }
        let Poll::Ready(read) = poll_read_buf(Pin::new(&mut self.read), cx, self.frames.space()) else {
            return Input::Dry;
        };
        if let (false, Ok(count)) = (ready, &read) {
            self.ahead += count;
        }
        if self.ahead > self.hard_limit {
            self.hearing = Hearing::Deaf;
            self.ending = Some(Cause::Flooded(self.hard_limit));
        }
        Input::Read(read)
    }

    /// Decodes what one read completed, and dispatches it line by line.
    fn receive(&mut self) {
        let mut heard = false;
        let mut update = None;
        while let Some(frame) = self.frames.next() {
            heard = true;
            let line = match frame {
                Frame::Line(line) => line,
                Frame::TooLong(start) => {
                    let (malformed, bytes) = (Malformed::too_long(start), start.len());
                    self.dispatch(Err(malformed), bytes, None);
                    continue;
                }
            };
            if let Some(tap) = &self.tap {
                tap.record(Direction::In, line);
            }
            let bytes = line.len();
            match rpc::decode_into(line, &mut update) {
                Ok(None) if self.open => {
                    let raw = keep(line, self.keep_raw);
                    if let Some(notification) = update.take() {
                        self.service.update(Update { notification, bytes, raw });
                    }
                }
                Ok(None) => {
                    let raw = keep(line, self.keep_raw);
                    if let Some(notification) = update.take() {
                        self.dispatch(Ok(Message::Update(Box::new(notification))), bytes, raw);
                    }
                }
                Ok(Some(message)) => {
                    let raw = keep(line, self.keep_raw && matches!(message, Message::Update(_)));
                    self.dispatch(Ok(message), bytes, raw);
                }
                Err(malformed) => self.dispatch(Err(malformed), bytes, None),
            }
        }
        if heard {
            // Only the first frame has a deadline.
            self.timer.take_if(|timer| matches!(timer.cause, Cause::Silent(_)));
            self.service.flush();
        }
    }

    /// The last line counts without a line end, if it is a whole message.
    fn last_line(&mut self) {
        if let Some(Frame::Line(line)) = self.frames.finish() {
            if let Some(tap) = &self.tap {
                tap.record(Direction::In, line);
            }
            let (message, bytes) = (rpc::decode(line), line.len());
            let raw = keep(line, self.keep_raw && matches!(message, Ok(Message::Update(_))));
            self.dispatch(message, bytes, raw);
        }
        self.service.flush();
        self.input_ended();
    }
}

fn keep(line: &[u8], wanted: bool) -> Option<Box<RawValue>> {
    if wanted { serde_json::from_slice(line).ok() } else { None }
}
