//! Which turn of a session is open and how far its cancelling has come: a plain state machine.

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionStatus {
    /// No turn is open: a prompt is accepted.
    Idle,
    /// A turn is open.
    Running,
    /// The open turn was cancelled, and its answer is awaited. A prompt waits for it.
    Cancelling,
    /// The open turn was cancelled, and the grace passed without an answer. Close the session or end the process.
    Unresponsive,
    /// The session is being closed.
    Closing,
    /// The session is closed, or the connection ended.
    Closed,
}

/// One turn of one session. Never reused, so that what is late can be told from what is current.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TurnKey(u64);

/// The one turn a session can have open, and whether the session still takes turns.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    open: Option<Open>,
    life: Life,
    last: u64,
}

#[derive(Debug)]
struct Open {
    key: TurnKey,
    stage: Stage,
    /// Whether `session/prompt` has been handed to the connection: before that there is nothing to cancel there.
    sent: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    Cancelling,
    Unresponsive,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Life {
    #[default]
    Open,
    Closing,
    Closed,
}

/// What a cancel has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cancel {
    /// No turn is open, or this one was cancelled before: nothing is sent.
    Nothing,
    /// The prompt is not on the wire yet: it must not be sent at all.
    Withhold(TurnKey),
    /// Tell the agent, once.
    Send(TurnKey),
}

impl Turns {
    /// Opens a turn.
    ///
    /// Refused with the session's status unless that is idle.
    pub(crate) fn begin(&mut self) -> Result<TurnKey, SessionStatus> {
        match self.status() {
            SessionStatus::Idle => {
                self.last += 1;
                let key = TurnKey(self.last);
                self.open = Some(Open { key, stage: Stage::Running, sent: false });
                Ok(key)
            }
            busy => Err(busy),
        }
    }

    /// The prompt was handed to the connection. True if a cancel came first and must now be sent after it.
    pub(crate) fn sent(&mut self, key: TurnKey) -> bool {
        match self.open_as(key) {
            Some(open) => {
                open.sent = true;
                open.stage != Stage::Running
            }
            None => false,
        }
    }

    /// Cancels the open turn; if `only` says which, no other.
    pub(crate) fn cancel(&mut self, only: Option<TurnKey>) -> Cancel {
        match &mut self.open {
            Some(open) if open.stage == Stage::Running && only.is_none_or(|key| key == open.key) => {
                open.stage = Stage::Cancelling;
                if open.sent { Cancel::Send(open.key) } else { Cancel::Withhold(open.key) }
            }
            _ => Cancel::Nothing,
        }
    }

    /// The grace after a cancel is over. True if the turn was still waiting for its answer.
    pub(crate) fn overdue(&mut self, key: TurnKey) -> bool {
        match self.open_as(key) {
            Some(open) if open.stage == Stage::Cancelling => {
                open.stage = Stage::Unresponsive;
                true
            }
            _ => false,
        }
    }

    /// The turn was answered, or was never sent. Says whether it had been cancelled here; nothing if it is not the open
    /// one: then nothing changes.
    pub(crate) fn end(&mut self, key: TurnKey) -> Option<bool> {
        let cancelled = self.open_as(key)?.stage != Stage::Running;
        self.open = None;
        Some(cancelled)
    }

    /// The session is being closed; refused if it is already closed or closing.
    pub(crate) fn closing(&mut self) -> bool {
        let may = self.life == Life::Open;
        if may {
            self.life = Life::Closing;
        }
        may
    }

    /// The agent refused to close the session: it goes on.
    pub(crate) fn close_refused(&mut self) {
        if self.life == Life::Closing {
            self.life = Life::Open;
        }
    }

    pub(crate) fn closed(&mut self) {
        self.life = Life::Closed;
        self.open = None;
    }

    /// The open turn, if there is one.
    pub(crate) fn key(&self) -> Option<TurnKey> {
        self.open.as_ref().map(|open| open.key)
    }

    /// Whether the open turn was cancelled: questions that come now are answered `cancelled` without asking anyone.
    pub(crate) fn is_cancelling(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.stage != Stage::Running)
    }

    pub(crate) fn status(&self) -> SessionStatus {
        match (self.life, self.open.as_ref().map(|open| open.stage)) {
            (Life::Closed, _) => SessionStatus::Closed,
            (Life::Closing, _) => SessionStatus::Closing,
            (Life::Open, None) => SessionStatus::Idle,
            (Life::Open, Some(Stage::Running)) => SessionStatus::Running,
            (Life::Open, Some(Stage::Cancelling)) => SessionStatus::Cancelling,
            (Life::Open, Some(Stage::Unresponsive)) => SessionStatus::Unresponsive,
        }
    }

    fn open_as(&mut self, key: TurnKey) -> Option<&mut Open> {
        self.open.as_mut().filter(|open| open.key == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // E12: one turn at a time; after a cancel the wire turn stays open until it is answered or overdue.
    #[test]
    fn a_second_turn_waits_for_the_first_ones_answer() {
        let mut turns = Turns::default();
        let first = turns.begin().unwrap();
        assert_eq!(turns.begin(), Err(SessionStatus::Running));
        assert!(!turns.sent(first));
        assert_eq!(turns.cancel(None), Cancel::Send(first));
        assert_eq!(turns.begin(), Err(SessionStatus::Cancelling));
        assert!(turns.overdue(first));
        assert_eq!(turns.begin(), Err(SessionStatus::Unresponsive));
        assert_eq!(turns.end(first), Some(true));
        assert_ne!(turns.begin().unwrap(), first);
    }

    // T10: idle, repeated and late cancels touch nothing.
    #[test]
    fn cancels_are_fenced_to_their_turn() {
        let mut turns = Turns::default();
        assert_eq!(turns.cancel(None), Cancel::Nothing);
        let first = turns.begin().unwrap();
        turns.sent(first);
        assert_eq!(turns.cancel(None), Cancel::Send(first));
        assert_eq!(turns.cancel(None), Cancel::Nothing);
        assert_eq!(turns.end(first), Some(true));
        let second = turns.begin().unwrap();
        assert!(!turns.overdue(first));
        assert_eq!(turns.cancel(Some(first)), Cancel::Nothing);
        assert_eq!(turns.end(first), None);
        assert!(!turns.is_cancelling());
        assert_eq!(turns.key(), Some(second));
    }

    // E20: a prompt that was cancelled before it was sent is withheld; one that slipped through is cancelled after it.
    #[test]
    fn a_cancel_may_come_before_the_prompt_is_sent() {
        let mut turns = Turns::default();
        let key = turns.begin().unwrap();
        assert_eq!(turns.cancel(None), Cancel::Withhold(key));
        assert!(turns.sent(key));
    }

    // E13
    #[test]
    fn closing_wins_over_what_the_turn_does() {
        let mut turns = Turns::default();
        turns.begin().unwrap();
        assert!(turns.closing());
        assert!(!turns.closing());
        assert_eq!(turns.status(), SessionStatus::Closing);
        turns.close_refused();
        assert_eq!(turns.status(), SessionStatus::Running);
        turns.closed();
        assert_eq!(turns.begin(), Err(SessionStatus::Closed));
    }
}
