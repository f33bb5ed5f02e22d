//! One turn's cancel: a flag that wakes whoever waits, and the hooks that reach what blocks.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

type Hook = Box<dyn FnOnce() + Send>;

/// Whether the client has cancelled the running turn.
///
/// Each turn has its own: a cancel that comes late or while nothing runs touches no other turn.
#[derive(Clone, Default)]
pub struct Cancel {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Beside the state, so that a hook may look at it.
    cancelled: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The turn is over: from here on nothing is run any more.
    over: bool,
    next_hook: u64,
    hooks: Vec<(u64, Hook)>,
}

impl Cancel {
    /// Whether the turn is cancelled.
    pub fn is_set(&self) -> bool {
        self.shared.cancelled.load(Ordering::Acquire)
    }

    /// Waits for `duration`, or less when the turn is cancelled or ends meanwhile; says whether it is cancelled.
    pub fn wait(&self, duration: Duration) -> bool {
        // The clock does not reach as far as a duration may.
        let until = Instant::now().checked_add(duration);
        let mut state = self.state();
        while !self.is_set() && !state.over {
            let changed = &self.shared.changed;
            let Some(until) = until else {
                state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        self.is_set()
    }

    /// Runs `hook` when the turn is cancelled, at once if it already is; dropping what is returned takes it back.
    ///
    /// This is how a tool lets itself be reached: kill the process group, shut the socket down. A hook must not block,
    /// nor wait for this turn's `Cancel` or set hooks on it. Once the returned value is dropped it neither runs nor will
    /// run, and it never runs after the turn's end.
    pub fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) -> CancelHook {
        let mut state = self.state();
        let key = state.next_hook;
        state.next_hook += 1;
        if self.is_set() && !state.over {
            run(Box::new(hook));
        } else if !state.over {
            state.hooks.push((key, Box::new(hook)));
        }
        CancelHook { cancel: self.clone(), key }
    }

    /// Cancels the turn: wakes the waiting and runs the hooks, once, and only while the turn runs.
    ///
    /// The hooks run under the lock, so that the turn's end waits for them: an interrupt can't slip into the next turn.
    pub(super) fn set(&self) {
        if self.is_set() {
            return;
        }
        let mut state = self.state();
        if self.is_set() || state.over {
            return;
        }
        self.shared.cancelled.store(true, Ordering::Release);
        self.shared.changed.notify_all();
        for (_, hook) in std::mem::take(&mut state.hooks) {
            run(hook);
        }
    }

    /// Ends the turn: no hook runs from here on.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.over = true;
        state.hooks.clear();
        self.shared.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cancel").field("is_set", &self.is_set()).finish_non_exhaustive()
    }
}

/// A hook that waits for a cancel; dropping it takes the hook back.
#[derive(Debug)]
#[must_use = "dropping it takes the hook back"]
pub struct CancelHook {
    cancel: Cancel,
    key: u64,
}

impl Drop for CancelHook {
    fn drop(&mut self) {
        self.cancel.state().hooks.retain(|(key, _)| *key != self.key);
    }
}

/// A hook that panics must not take the others, or the connection, with it.
fn run(hook: Hook) {
    if catch_unwind(AssertUnwindSafe(hook)).is_err() {
        tracing::warn!("a cancel hook panicked");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    // H9
    #[test]
    fn hooks_run_once_and_only_while_the_turn_runs() {
        let ran = Arc::new(AtomicUsize::new(0));
        let hook = |ran: &Arc<AtomicUsize>| {
            let ran = ran.clone();
            move || {
                ran.fetch_add(1, Ordering::SeqCst);
            }
        };
        let cancel = Cancel::default();
        drop(cancel.on_cancel(hook(&ran)));
        let _kept = cancel.on_cancel(hook(&ran));
        cancel.set();
        cancel.set();
        assert_eq!(ran.load(Ordering::SeqCst), 1, "one was taken back, the other runs once");
        let _late = cancel.on_cancel(hook(&ran));
        assert_eq!(ran.load(Ordering::SeqCst), 2, "a hook set after the cancel runs at once");
        cancel.end();
        let _over = cancel.on_cancel(hook(&ran));
        assert_eq!(ran.load(Ordering::SeqCst), 2);

        let ended = Cancel::default();
        let _hook = ended.on_cancel(hook(&ran));
        ended.end();
        ended.set();
        assert!(!ended.is_set(), "a late cancel touches nothing");
        assert_eq!(ran.load(Ordering::SeqCst), 2);
    }

    // H9
    #[test]
    fn whoever_waits_is_woken_by_the_turns_end_as_by_its_cancel() {
        for (end, cancelled) in [(Cancel::set as fn(&Cancel), true), (Cancel::end, false)] {
            let cancel = Cancel::default();
            let waiting = cancel.clone();
            let waited = std::thread::spawn(move || waiting.wait(Duration::MAX));
            end(&cancel);
            assert_eq!(waited.join().expect("no panic"), cancelled);
        }
        assert!(!Cancel::default().wait(Duration::ZERO));
    }

    #[test]
    fn a_panicking_hook_does_not_stop_the_others() {
        let cancel = Cancel::default();
        let _bad = cancel.on_cancel(|| panic!("on purpose"));
        let (said, heard) = std::sync::mpsc::channel();
        let _good = cancel.on_cancel(move || said.send(()).expect("the test listens"));
        cancel.set();
        heard.recv().expect("the second hook runs");
        assert!(cancel.wait(Duration::from_secs(3600)), "the flag outlives the panic");
    }
}
