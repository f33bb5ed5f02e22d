//! What is being waited for, told on stderr once it takes more than a moment.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::say;

/// How long nothing is said.
const MOMENT: Duration = Duration::from_secs(3);
/// How often a line that moves is drawn anew, for a person who watches.
const TICK: Duration = Duration::from_secs(1);
/// How often a log that nobody watches hears of the same wait again.
const PAUSE: Duration = Duration::from_secs(10);

/// What is waited for.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The oldest stands first; it is the one that is told.
    waits: Vec<Wait>,
    /// When something was said last.
    said: Option<Instant>,
    /// Somebody is to hear of it.
    told: bool,
    /// A moving line is on the terminal.
    shown: bool,
    over: bool,
}

#[derive(Debug)]
struct Wait {
    what: String,
    since: Instant,
    limit: Option<Duration>,
    /// How long nothing is said of it.
    moment: Duration,
}

impl Waiting {
    /// Nothing is waited for yet; nothing is ever said unless `wanted`.
    pub(crate) fn new(wanted: bool) -> Self {
        let waiting = Self::default();
        if wanted {
            waiting.0.lock().told = true;
            let shared = Arc::clone(&waiting.0);
            thread::spawn(move || shared.tell());
        }
        waiting
    }

    /// From now on it is `what` that is waited for, no longer than `limit`.
    pub(crate) fn on(&self, what: impl Into<String>, limit: Duration) {
        let wait = Wait { what: what.into(), since: Instant::now(), limit: Some(limit), moment: MOMENT };
        self.change(|waits| *waits = vec![wait]);
    }

    /// It came, or will not come.
    pub(crate) fn over(&self) {
        self.change(Vec::clear);
    }

    /// A check runs, beside others perhaps, until `ended`.
    pub(crate) fn begun(&self, check: &str) {
        let moment = if say::lively() { MOMENT } else { PAUSE };
        let wait = Wait { what: check.to_owned(), since: Instant::now(), limit: None, moment };
        self.change(|waits| waits.push(wait));
    }

    /// The check has come to its end.
    pub(crate) fn ended(&self, check: &str) {
        self.change(|waits| waits.retain(|wait| wait.what != check));
    }

    /// Something that explains what follows, told at once if anything is.
    pub(crate) fn remark(&self, text: &str) {
        if self.0.lock().told {
            say::err(text);
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Wait>)) {
        let mut state = self.0.lock();
        if std::mem::take(&mut state.shown) {
            say::err("\r\x1b[2K");
        }
        change(&mut state.waits);
        self.0.changed.notify_all();
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.over();
        self.0.lock().over = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        let mut state = self.lock();
        while !state.over {
            let now = Instant::now();
            state = match state.due().map(|due| due.saturating_duration_since(now)) {
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    state.say(now);
                    state
                }
                Some(rest) => {
                    self.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }
}

impl State {
    /// When the oldest wait is told next.
    fn due(&self) -> Option<Instant> {
        let pause = if self.shown { TICK } else { PAUSE };
        let oldest = self.waits.first()?;
        let first = oldest.since + oldest.moment;
        Some(self.said.filter(|said| *said >= first).map_or(first, |said| said + pause))
    }

    fn say(&mut self, now: Instant) {
        let Some(wait) = self.waits.first() else { return };
        let limit = wait.limit.map(|limit| format!(", of at most {} s", limit.as_secs_f32().round()));
        let waited = now.saturating_duration_since(wait.since).as_secs();
        let text = format!("  waiting for {}: {waited} s{}", wait.what, limit.unwrap_or_default());
        self.said = Some(now);
        self.shown = say::lively();
        if self.shown {
            say::err(&format!("\r\x1b[2K{text}"));
        } else {
            say::err(&format!("{text}\n"));
        }
    }
}
