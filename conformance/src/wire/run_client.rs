//! Runs the client's checks, several at a time, and lets the witness judge all they recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::frame::Direction;
use super::requirement;
use super::run::{Exhibit, Outcome, Ran, excuse};
use super::scripts::{self, MARKER, PLAIN, Script};
use super::seen::{Plain, Seen};
use super::verdict::{Judged, Stop, Verdict};
use super::visit::Visitor;
use super::witness::{CLIENT_RULES, judge};
use crate::stop;
use crate::waiting::Waiting;

/// Watches one ordinary session, by which all others are measured.
pub(crate) fn probe(visitor: &mut Visitor) -> Result<(), String> {
    let mut plain = Plain::default();
    {
        let seen =
            visitor.visit(PLAIN, None).map_err(|error| format!("the client can't be started: {error}"))?;
        let hello = seen.sent("initialize").first().map(|request| request["params"].clone());
        let Some(hello) = hello else {
            let mut tail: Vec<&str> = seen.stderr.lines().rev().take(5).collect();
            tail.reverse();
            let said = if tail.is_empty() { " nothing".to_owned() } else { format!("\n{}", tail.join("\n")) };
            let end = match seen.status {
                Some(status) => format!("ended with {status}"),
                None => format!("was stopped after {:.1} s", seen.took.as_secs_f64()),
            };
            return Err(format!("the client never sent initialize to {{AGENT}} and {end}; it said:{said}"));
        };
        plain.hello = hello;
        plain.prompts = !seen.sent("session/prompt").is_empty();
        plain.ends = seen.status.is_some() && seen.noted("done");
        plain.succeeds = seen.status.is_some_and(|status| status.success());
        plain.shows = seen.shows(MARKER);
        plain.took = seen.took;
    }
    if plain.ends {
        // What takes long on an ordinary day takes longer when something is wrong.
        visitor.patience = visitor.patience.max(plain.took * 5);
    }
    visitor.plain = plain;
    Ok(())
}

/// What the visits have shown so far.
#[derive(Debug, Default)]
struct Book {
    seen: BTreeSet<&'static str>,
    faults: BTreeMap<&'static str, (String, &'static str, Exhibit)>,
    outcomes: BTreeMap<&'static str, Outcome>,
}

/// Runs the scripts that `wanted` picks, `jobs` at a time; `told` hears of each as it ends.
pub(crate) fn run(
    visitor: &Visitor,
    wanted: impl Fn(&str) -> bool,
    jobs: usize,
    waiting: &Waiting,
    told: impl Fn(&Outcome, usize) + Sync,
) -> Ran {
    let picked: Vec<&Script> = scripts::of_clients().filter(|script| wanted(script.id)).collect();
    let next = AtomicUsize::new(0);
    let book = Mutex::new(Book::default());
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, picked.len().max(1)) {
            scope.spawn(|| {
                while let Some(script) = picked.get(next.fetch_add(1, Ordering::Relaxed)) {
                    waiting.begun(script.id);
                    let (outcome, exhibit) = one(visitor, script);
                    waiting.ended(script.id);
                    // What was interrupted says nothing.
                    if stop::stopped() {
                        return;
                    }
                    done.fetch_add(1, Ordering::Relaxed);
                    told(&outcome, picked.len());
                    book.lock().unwrap_or_else(PoisonError::into_inner).take(script.id, outcome, exhibit);
                }
            });
        }
    });
    let cut = stop::stopped().then_some((done.into_inner(), picked.len()));
    Ran { outcomes: book.into_inner().unwrap_or_else(PoisonError::into_inner).close(wanted), cut }
}

fn one(visitor: &Visitor, script: &Script) -> (Outcome, Option<Exhibit>) {
    let began = Instant::now();
    let without = Seen::nothing(&visitor.plain);
    let (judged, exhibit) = match script.applies(&without, visitor) {
        Err(stop) => (Err(stop), None),
        Ok(()) => match visitor.visit(&script.name(), script.way) {
            Ok(seen) => (script.judge(&seen), Some(exhibit(&seen))),
            Err(error) => (Err(Stop::Inconclusive(format!("the client can't be started: {error}"))), None),
        },
    };
    (outcome(script.id, &judged, began.elapsed(), exhibit.as_ref()), exhibit)
}

fn exhibit(seen: &Seen<'_>) -> Exhibit {
    let status = seen.status.map_or_else(|| "had to be killed".to_owned(), |status| status.to_string());
    let stderr = format!("{}\n({status})", seen.stderr.trim_end());
    Exhibit { frames: seen.recording.frames.clone(), stderr, at_fault: None }
}

fn outcome(id: &str, judged: &Judged, took: Duration, exhibit: Option<&Exhibit>) -> Outcome {
    let (verdict, why) = match judged {
        Ok(()) => (Verdict::Passed, ""),
        Err(stop) => stop.parts(),
    };
    let shown = exhibit.filter(|_| verdict != Verdict::Passed);
    Outcome {
        requirement: requirement::find(id).expect("the tests hold every script's id against the table"),
        verdict,
        why: why.to_owned(),
        took,
        follows: judged.as_ref().err().and_then(Stop::source),
        found_in: None,
        evidence: shown.into_iter().cloned().collect(),
    }
}

/// Of two parts of one requirement's check, the one that decides.
fn worse(one: Verdict, other: Verdict) -> bool {
    let weight = |verdict| match verdict {
        Verdict::Failed => 3,
        Verdict::Inconclusive => 2,
        Verdict::Passed => 1,
        Verdict::Skipped => 0,
    };
    weight(one) > weight(other)
}

impl Book {
    fn take(&mut self, id: &'static str, outcome: Outcome, exhibit: Option<Exhibit>) {
        if let Some(exhibit) = exhibit {
            let testimony = judge(&exhibit.frames);
            let clients = testimony.seen.iter().filter(|(direction, _)| *direction == Direction::ToAgent);
            self.seen.extend(clients.map(|(_, id)| *id));
            for finding in testimony.findings.iter().filter(|finding| finding.direction == Direction::ToAgent)
            {
                let why = format!("{} (line {}, in the check of {id})", finding.text, finding.frame + 1);
                let shown = Exhibit { at_fault: Some(finding.frame), ..exhibit.clone() };
                self.faults.entry(finding.id).or_insert((why, id, shown));
            }
        }
        match self.outcomes.get_mut(id) {
            Some(before) if worse(outcome.verdict, before.verdict) => *before = outcome,
            Some(_) => {}
            None => drop(self.outcomes.insert(id, outcome)),
        }
    }

    /// Adds what the witness alone can tell, and puts all in the order of the table.
    fn close(mut self, wanted: impl Fn(&str) -> bool) -> Vec<Outcome> {
        for id in CLIENT_RULES.iter().filter(|id| wanted(id)) {
            let own = self.outcomes.get(id).map(|outcome| outcome.verdict);
            let fault = self.faults.remove(id);
            if own == Some(Verdict::Failed) || (own.is_some() && fault.is_none()) {
                continue;
            }
            // What was not seen yet might have been.
            if stop::stopped() && fault.is_none() && !self.seen.contains(*id) {
                continue;
            }
            let judged = match &fault {
                Some((why, _, _)) => Err(Stop::Failed(why.clone())),
                None if self.seen.contains(*id) => Ok(()),
                None => Err(Stop::Inconclusive("no occasion to see it".into())),
            };
            let mut outcome =
                outcome(id, &judged, Duration::ZERO, fault.as_ref().map(|(_, _, exhibit)| exhibit));
            outcome.found_in = fault.map(|(_, found_in, _)| found_in);
            self.outcomes.insert(id, outcome);
        }
        let mut outcomes: Vec<Outcome> = self.outcomes.into_values().collect();
        let place =
            |outcome: &Outcome| requirement::all().iter().position(|each| each.id == outcome.requirement.id);
        outcomes.sort_by_key(place);
        excuse(&mut outcomes);
        outcomes
    }
}
