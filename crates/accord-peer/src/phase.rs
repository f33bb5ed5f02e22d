//! Before the connection is opened: nothing but the opening call is served.

use std::collections::VecDeque;

use accord_protocol::rpc::Message;

use crate::CallKey;

/// What came behind an opening call that is not answered yet is held up to this many bytes.
const HELD: usize = 1 << 20;

/// How far the opening of the connection has come, as the serving side sees it.
#[derive(Debug)]
pub(crate) struct Phase {
    opening: Option<&'static str>,
    state: State,
    held: VecDeque<(Message, usize)>,
    held_bytes: usize,
}

#[derive(Debug, PartialEq)]
enum State {
    /// The opening call has not come.
    Closed,
    /// It came and is being served.
    Opening(CallKey),
    /// It succeeded, or none is needed.
    Open,
}

/// What to do with a request or notification now.
pub(crate) enum Gate {
    Serve,
    /// It waits until the opening call was answered.
    Hold,
    Refuse,
}

impl Phase {
    pub(crate) fn new(opening: Option<&'static str>) -> Self {
        let state = if opening.is_some() { State::Closed } else { State::Open };
        Self { opening, state, held: VecDeque::new(), held_bytes: 0 }
    }

    pub(crate) fn gate(&self, method: &str, request: bool, bytes: usize) -> Gate {
        match self.state {
            State::Open => Gate::Serve,
            State::Closed if request && self.opening == Some(method) => Gate::Serve,
            // A peer may send its next messages right behind the opening call.
            State::Opening(_) if self.held_bytes + bytes <= HELD => Gate::Hold,
            State::Closed | State::Opening(_) => Gate::Refuse,
        }
    }

    pub(crate) fn holds(&self) -> bool {
        !self.held.is_empty()
    }

    pub(crate) fn hold(&mut self, message: Message, bytes: usize) {
        self.held_bytes += bytes;
        self.held.push_back((message, bytes));
    }

    /// Whether a message need not wait any longer.
    pub(crate) fn releases(&self) -> bool {
        self.holds() && !matches!(self.state, State::Opening(_))
    }

    /// The next message that need not wait any longer.
    pub(crate) fn release(&mut self) -> Option<(Message, usize)> {
        if !self.releases() {
            return None;
        }
        let (message, bytes) = self.held.pop_front()?;
        self.held_bytes -= bytes;
        Some((message, bytes))
    }

    pub(crate) fn called(&mut self, key: CallKey, method: &str) {
        if self.state == State::Closed && self.opening == Some(method) {
            self.state = State::Opening(key);
        }
    }

    pub(crate) fn answered(&mut self, key: CallKey, success: bool) {
        if self.state == State::Opening(key) {
            self.state = if success { State::Open } else { State::Closed };
        }
    }
}
