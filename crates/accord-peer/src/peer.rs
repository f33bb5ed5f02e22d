//! The state machine: ids, what is pending, what is open, what is to be written.

use std::io;

use accord_protocol::method::{Notification as _, Side};
use accord_protocol::rpc::{self, Answer, Error, ErrorCode, Fault, Id, Malformed, Message, Params, Shape};
use accord_protocol::v1::SessionNotification;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::append::append;
use crate::incoming::Incoming;
use crate::outgoing::{Asked, Outgoing};
use crate::phase::{Gate, Phase};
use crate::{CallKey, Event, Failed, RequestKey, SendError, Violation};

/// The notification that asks for a request to be cancelled.
pub const CANCEL_REQUEST: &str = "$/cancel_request";

/// So many bad lines in a row are answered; then silence until a good one comes.
const BAD_LINES: u32 = 32;
/// An estimate for a message that is held, beyond its params.
const ENVELOPE: usize = 128;

/// What a [`Peer`] must know about its side.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// An agent answers bad lines, a client never does.
    pub side: Side,
    /// The method that opens the connection: until a call of it succeeded, nothing else is served.
    pub opening: Option<&'static str>,
    /// The longest line that is written, in bytes, its end included.
    pub frame_limit: usize,
    /// How many calls of the peer may be open at once.
    pub max_calls: usize,
    /// How long the lines of open calls may be together, in bytes. A call is served however long, if it is alone.
    pub max_call_bytes: usize,
}

impl Config {
    /// The defaults for `side`: no opening method, 32 MiB a line, 4,096 calls of 64 MiB together.
    pub fn new(side: Side) -> Self {
        Self { side, opening: None, frame_limit: 32 << 20, max_calls: 4096, max_call_bytes: 64 << 20 }
    }
}

/// One end of a connection. `W` is whatever the application wants back with the outcome of a request.
///
/// *`receive*`* is for what the wire brought, verbs are for what the application wants, and
/// [`take_output`](Self::take_output) is what is to be written afterwards.
#[derive(Debug)]
pub struct Peer<W> {
    config: Config,
    phase: Phase,
    outgoing: Outgoing<W>,
    incoming: Incoming,
    output: Vec<u8>,
    /// Answers in the output: what a peer that floods us with requests makes us say.
    answers: usize,
    bad_lines: u32,
    life: Life,
}

/// "They are gone" and "we are going" are different ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    Open,
    /// Nothing more comes in, so nothing can be asked; what was asked of us can still be answered.
    Deaf,
    Ended,
}

impl<W> Peer<W> {
    /// A peer with nothing sent and nothing received.
    pub fn new(config: Config) -> Self {
        Self {
            phase: Phase::new(config.opening),
            config,
            outgoing: Outgoing::new(),
            incoming: Incoming::new(),
            output: Vec::new(),
            answers: 0,
            bad_lines: 0,
            life: Life::Open,
        }
    }

    /// Requests of ours without an outcome.
    pub fn pending(&self) -> usize {
        self.outgoing.len()
    }

    /// Calls of theirs without an answer.
    pub fn open_calls(&self) -> usize {
        self.incoming.len()
    }

    /// Whether something of the peer waits for an answer, or for the connection to be opened.
    pub fn owes(&self) -> bool {
        self.open_calls() > 0 || self.phase.holds()
    }

    /// Whether [`receive_held`](Self::receive_held) has something to give.
    pub fn releases(&self) -> bool {
        self.phase.releases()
    }

    /// Bytes that wait to be written.
    pub fn output_len(&self) -> usize {
        self.output.len()
    }

    /// Answers among what waits to be written.
    pub fn output_answers(&self) -> usize {
        self.answers
    }

    /// Whether the peer no longer wants the answer to this call: it said so, or it is gone.
    pub fn is_cancelled(&self, key: CallKey) -> bool {
        self.life != Life::Open || self.incoming.is_cancelled(key)
    }

    /// Hands over what is to be written, and takes `spare` (which must be empty) to gather the next in.
    pub fn take_output(&mut self, spare: Vec<u8>) -> Vec<u8> {
        debug_assert!(spare.is_empty(), "what is in the spare buffer would be written");
        self.answers = 0;
        std::mem::replace(&mut self.output, spare)
    }

    /// Sends a request; its outcome comes back with `waiter`.
    ///
    /// # Errors
    /// Nothing was sent, and the waiter is dropped.
    pub fn request(
        &mut self,
        method: &str,
        params: &impl Serialize,
        waiter: W,
    ) -> Result<RequestKey, SendError> {
        if self.life != Life::Open {
            return Err(SendError::Ended);
        }
        let key = self.outgoing.next_key();
        self.write(|out| rpc::write_request(out, &key.id(), method, params))?;
        self.outgoing.insert(key, waiter);
        Ok(key)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// Nothing was sent.
    pub fn notify(&mut self, method: &str, params: &impl Serialize) -> Result<(), SendError> {
        self.write(|out| rpc::write_notification(out, method, params))
    }

    /// Asks the peer to cancel a request that is still wanted; whether that was sent now.
    pub fn cancel(&mut self, key: RequestKey) -> bool {
        self.outgoing.cancel(key) && self.send_cancel(key)
    }

    /// Gives a request up: the peer is asked to cancel it, its answer will be ignored, and the waiter comes back.
    pub fn abandon(&mut self, key: RequestKey) -> Option<W> {
        let (waiter, news) = self.outgoing.abandon(key)?;
        if news {
            self.send_cancel(key);
        }
        Some(waiter)
    }

    /// Answers a call; whether it was still open.
    ///
    /// An answer that does not serialise or is over the limit is replaced by an error, so that there is one.
    pub fn answer(&mut self, key: CallKey, outcome: Result<&impl Serialize, &Error>) -> bool {
        let Some(id) = self.incoming.close(key) else { return false };
        let sent = self.write(|out| rpc::write_answer(out, &id, outcome));
        self.phase.answered(key, outcome.is_ok() && sent.is_ok());
        self.answers += 1;
        match sent {
            Ok(()) | Err(SendError::Ended) => {}
            Err(error @ SendError::TooLarge { .. }) => self.refuse(&id, &Error::internal(error.to_string())),
            Err(SendError::Unserialisable(_)) => {
                self.refuse(&id, &Error::internal("the answer does not serialise"));
            }
        }
        true
    }

    /// What a message of `bytes` bytes means, or nothing if it means nothing now.
    pub fn receive(&mut self, message: Message, bytes: usize) -> Option<Event<W>> {
        if self.life == Life::Ended {
            return None;
        }
        self.bad_lines = 0;
        match message {
            Message::Response { id, outcome } => {
                Some(self.receive_response(&id, outcome.map_err(Failed::Refused)))
            }
            Message::Request { id, method, params } => self.receive_request(id, method, params, bytes),
            Message::Notification { method, params } => self.receive_notification(method, params, bytes),
            Message::Update(update) => self.receive_update(update, bytes),
            _ => None,
        }
    }

    /// The next message that waited for the connection to be opened. Ask before anything newer is received.
    pub fn receive_held(&mut self) -> Option<Event<W>> {
        while let Some((message, bytes)) = self.phase.release() {
            if let Some(event) = self.receive(message, bytes) {
                return Some(event);
            }
        }
        None
    }

    /// A line that is no message.
    ///
    /// What may have been the answer to a pending request ends that request. Anything else is answered by an agent,
    /// within reason, and never by a client; what looks like a response or a notification is answered by nobody.
    pub fn receive_malformed(&mut self, malformed: &Malformed) -> Event<W> {
        let outcome = |waiter| Event::Outcome { waiter, outcome: Err(Failed::Malformed(malformed.fault)) };
        match (malformed.shape, &malformed.id) {
            (Shape::Response | Shape::Unknown, Some(id)) => {
                if let Asked::Pending(waiter) = self.outgoing.take(id) {
                    return outcome(waiter);
                }
            }
            (Shape::Response, None) => {
                if let Some(waiter) = self.outgoing.take_only() {
                    return outcome(waiter);
                }
            }
            _ => {}
        }
        let answerable = matches!(malformed.shape, Shape::Unknown | Shape::Request);
        if self.config.side == Side::Agent && answerable && self.bad_lines < BAD_LINES {
            let (id, mut error) = malformed.answer();
            let id = self.answerable(id);
            if malformed.fault == Fault::TooLong {
                error.message = format!("{} of {} bytes", error.message, self.config.frame_limit);
            }
            self.refuse(&id, &error);
        }
        self.bad_lines = self.bad_lines.saturating_add(1);
        Event::Violation(Violation::Malformed(malformed.fault))
    }

    /// The input has ended. The waiters of what was pending come back, oldest first. Open calls count as cancelled
    /// and can still be answered: a peer may send its last request and close its output at once.
    pub fn receive_eof(&mut self) -> impl Iterator<Item = W> + use<W> {
        if self.life == Life::Open {
            self.life = Life::Deaf;
        }
        self.outgoing.drain()
    }

    /// The connection ends here: nothing more is sent or received, open calls are forgotten. The waiters of what
    /// was pending come back, oldest first. What waits to be written stays.
    pub fn end(&mut self) -> impl Iterator<Item = W> + use<W> {
        self.life = Life::Ended;
        self.incoming.clear();
        self.outgoing.drain()
    }

    fn receive_response(&mut self, id: &Id, outcome: Result<Answer, Failed>) -> Event<W> {
        match (self.outgoing.take(id), outcome) {
            (Asked::Pending(waiter), outcome) => Event::Outcome { waiter, outcome },
            (_, Err(Failed::Refused(error))) if *id == Id::Null => {
                Event::Violation(Violation::Complaint(error))
            }
            (Asked::Before | Asked::Never, _) => Event::Violation(Violation::UnknownResponse(id.clone())),
        }
    }

    fn receive_request(
        &mut self,
        id: Id,
        method: Box<str>,
        params: Params,
        bytes: usize,
    ) -> Option<Event<W>> {
        let bytes = bytes + ENVELOPE;
        match self.phase.gate(&method, true, bytes) {
            Gate::Serve => {}
            Gate::Hold => {
                self.phase.hold(Message::Request { id, method, params }, bytes);
                return None;
            }
            Gate::Refuse => {
                self.refuse(&id, &Error::invalid_request("the connection is not initialized"));
                return Some(Event::Violation(Violation::TooEarly(method)));
            }
        }
        if !self.incoming.is_free(&id) {
            self.refuse(&Id::Null, &Error::invalid_request("the request id is in use"));
            return Some(Event::Violation(Violation::DuplicateId(id)));
        }
        if !self.has_room_for(bytes) {
            self.refuse(&id, &Error::new(ErrorCode::INTERNAL_ERROR, "too many requests at once"));
            return Some(Event::Violation(Violation::TooMany(id)));
        }
        let key = self.incoming.open(id.clone(), bytes);
        self.phase.called(key, &method);
        Some(Event::Call { key, id, method, params })
    }

    fn receive_notification(
        &mut self,
        method: Box<str>,
        params: Option<Box<RawValue>>,
        bytes: usize,
    ) -> Option<Event<W>> {
        let bytes = bytes + ENVELOPE;
        match self.phase.gate(&method, false, bytes) {
            Gate::Serve if &*method == CANCEL_REQUEST => self.receive_cancel(params.as_deref()),
            Gate::Serve => Some(Event::Notification { method, params }),
            Gate::Hold => {
                self.phase.hold(Message::Notification { method, params }, bytes);
                None
            }
            Gate::Refuse => Some(Event::Violation(Violation::TooEarly(method))),
        }
    }

    fn receive_update(&mut self, update: Box<SessionNotification>, bytes: usize) -> Option<Event<W>> {
        match self.phase.gate(SessionNotification::METHOD, false, bytes) {
            Gate::Serve => Some(Event::Update(update)),
            Gate::Hold => {
                self.phase.hold(Message::Update(update), bytes);
                None
            }
            Gate::Refuse => Some(Event::Violation(Violation::TooEarly(SessionNotification::METHOD.into()))),
        }
    }

    fn receive_cancel(&mut self, params: Option<&RawValue>) -> Option<Event<W>> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cancel {
            request_id: Id,
        }
        match rpc::params(params) {
            Ok(Cancel { request_id }) => {
                self.incoming.cancel(&request_id).map(|key| Event::Cancelled { key })
            }
            Err(_) => Some(Event::Violation(Violation::BadCancel)),
        }
    }

    fn send_cancel(&mut self, key: RequestKey) -> bool {
        let params = serde_json::json!({ "requestId": key.id() });
        self.notify(CANCEL_REQUEST, &params).is_ok()
    }

    /// Whether one more call, in a line of `bytes` bytes, is within what may be open at once.
    fn has_room_for(&self, bytes: usize) -> bool {
        let open = self.incoming.len();
        let fits = self.incoming.bytes() + bytes <= self.config.max_call_bytes;
        open < self.config.max_calls && (fits || open == 0)
    }

    /// Answered under the id of an open call, a refusal would be taken for that call's answer.
    fn answerable(&self, id: Id) -> Id {
        if self.incoming.is_free(&id) { id } else { Id::Null }
    }

    /// Answers what was not handed to the application.
    fn refuse(&mut self, id: &Id, error: &Error) {
        // An error of ours is small and serialises, so only an ended connection can refuse it.
        let _ = self.write(|out| rpc::write_answer(out, id, Err::<&(), _>(error)));
        self.answers += 1;
    }

    /// Appends one line, or nothing: also when `line` fails or panics half way.
    fn write(&mut self, line: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Result<(), SendError> {
        if self.life == Life::Ended {
            return Err(SendError::Ended);
        }
        append(&mut self.output, self.config.frame_limit, line)
    }
}
