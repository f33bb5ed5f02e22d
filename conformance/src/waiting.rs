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

/// The one thing at a time that is waited for.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    wait: Option<Wait>,
    /// A moving line is on the terminal.
    shown: bool,
    over: bool,
}

#[derive(Debug)]
struct Wait {
    what: String,
    since: Instant,
    limit: Duration,
    /// When it is told next.
    due: Instant,
}

impl Waiting {
    /// Nothing is waited for yet; nothing is ever said unless `wanted`.
    pub(crate) fn new(wanted: bool) -> Self {
        let waiting = Self::default();
        if wanted {
            let shared = Arc::clone(&waiting.0);
            thread::spawn(move || shared.tell());
        }
        waiting
    }

    /// From now on it is `what` that is waited for, no longer than `limit`.
    pub(crate) fn on(&self, what: impl Into<String>, limit: Duration) {
        let since = Instant::now();
        self.set(Some(Wait { what: what.into(), since, limit, due: since + MOMENT }));
    }

    /// It came, or will not come.
    pub(crate) fn over(&self) {
        self.set(None);
    }

    fn set(&self, wait: Option<Wait>) {
        let mut state = self.0.lock();
        if std::mem::take(&mut state.shown) {
            say::err("\r\x1b[2K");
        }
        state.wait = wait;
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
            let rest = state.wait.as_ref().map(|wait| wait.due.saturating_duration_since(now));
            state = match rest {
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
    fn say(&mut self, now: Instant) {
        let Some(wait) = &mut self.wait else { return };
        let text = format!(
            "  waiting for {}: {:.0} s, of at most {:.0} s",
            wait.what,
            wait.since.elapsed().as_secs_f64(),
            wait.limit.as_secs_f64()
        );
        self.shown = say::lively();
        if self.shown {
            wait.due = now + TICK;
            say::err(&format!("\r\x1b[2K{text}"));
        } else {
            wait.due = now + PAUSE;
            say::err(&format!("{text}\n"));
        }
    }
}
