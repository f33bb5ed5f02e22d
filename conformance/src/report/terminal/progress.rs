//! How far a run has come, on stderr: a moving line where a person watches, now and then a line of its own elsewhere.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::say;
use crate::wire::run::Outcome;
use crate::wire::verdict::Verdict;

/// How often a log that nobody watches hears of the run.
const PAUSE: Duration = Duration::from_secs(10);

/// The progress of one run.
#[derive(Debug)]
pub(crate) struct Progress {
    way: Way,
    began: Instant,
    told: Mutex<Told>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Silent,
    Moving,
    Lines,
}

#[derive(Debug)]
struct Told {
    counts: BTreeMap<Verdict, usize>,
    last: Instant,
}

impl Progress {
    pub(crate) fn new(wanted: bool) -> Self {
        let way = match (wanted, say::lively()) {
            (false, _) => Way::Silent,
            (true, true) => Way::Moving,
            (true, false) => Way::Lines,
        };
        let began = Instant::now();
        Self { way, began, told: Mutex::new(Told { counts: BTreeMap::new(), last: began }) }
    }

    /// Hears of one outcome in a run of `all` checks.
    pub(crate) fn told(&self, outcome: &Outcome, all: usize) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        *told.counts.entry(outcome.verdict).or_default() += 1;
        let tally: Vec<String> =
            told.counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        let tally = format!("{} of {all}: {}", told.counts.values().sum::<usize>(), tally.join(", "));
        match self.way {
            Way::Moving => say::err(&format!("\r\x1b[2K{tally} · {}", outcome.requirement.id)),
            Way::Lines if told.last.elapsed() >= PAUSE => {
                told.last = Instant::now();
                say::err(&format!("  {tally} ({:.0} s)\n", self.began.elapsed().as_secs_f64()));
            }
            Way::Lines | Way::Silent => {}
        }
    }

    /// Takes the moving line away.
    pub(crate) fn done(&self) {
        if self.way == Way::Moving {
            say::err("\r\x1b[2K");
        }
    }
}
