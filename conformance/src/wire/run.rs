//! Runs the checks on a subject, several at a time, and lets the witness judge all they recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::case::{Case, Facts, Subject, hello};
use super::checks::{self, Check};
use super::frame::{Direction, Frame};
use super::requirement::{self, Requirement};
use super::verdict::{Judged, Stop, Verdict};
use super::witness::{self, judge};

/// What came of one requirement.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// The requirement.
    pub(crate) requirement: &'static Requirement,
    pub(crate) verdict: Verdict,
    /// Why it is not passed; empty if it is.
    pub(crate) why: String,
    pub(crate) took: Duration,
    /// The check in whose frames the witness found the fault, if it was the witness.
    pub(crate) found_in: Option<&'static str>,
    /// What each process of the check exchanged and said; empty for what passed.
    pub(crate) evidence: Vec<Exhibit>,
}

/// One process's part in a failure.
#[derive(Debug, Clone)]
pub(crate) struct Exhibit {
    pub(crate) frames: Vec<Frame>,
    pub(crate) stderr: String,
    /// The frame at fault, if one is.
    pub(crate) at_fault: Option<usize>,
}

/// What the witness said of all checks so far.
#[derive(Debug, Default)]
struct Bench {
    seen: BTreeSet<&'static str>,
    faults: BTreeMap<&'static str, Fault>,
    outcomes: Vec<Outcome>,
}

/// What the witness found, where, and how it looked.
#[derive(Debug)]
struct Fault {
    why: String,
    found_in: &'static str,
    exhibit: Exhibit,
}

/// Looks at the agent once, as any client would; what fails here leaves its fact empty.
pub(crate) fn probe(subject: &mut Subject) {
    subject.facts = Facts::default();
    let patience = subject.patience;
    // Nothing is known yet of how fast the agent is.
    subject.patience *= 3;
    let facts = {
        let Ok(mut case) = Case::new(subject) else { return };
        let mut facts = Facts::default();
        // A failure here is found again, and told, by the checks of the handshake and of session/new.
        let _ = look(&mut case, &mut facts);
        facts
    };
    subject.patience = patience.max(facts.startup * 10);
    subject.facts = facts;
}

fn look(case: &mut Case<'_>, facts: &mut Facts) -> Judged {
    let began = Instant::now();
    let mut client = case.start()?;
    facts.hello = client.call("initialize", &hello(&json!({})))?;
    facts.startup = began.elapsed();
    if let Some(method) = &case.subject.auth {
        client.call("authenticate", &json!({"methodId": method}))?;
    }
    let answer = client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}))?;
    facts.refused = answer.code();
    facts.session = answer.result()?;
    Ok(())
}

/// Runs the checks that `wanted` picks, `jobs` at a time; `told` hears of each as it ends.
pub(crate) fn run(
    subject: &Subject,
    wanted: impl Fn(&str) -> bool,
    jobs: usize,
    told: impl Fn(&Outcome) + Sync,
) -> Vec<Outcome> {
    let picked: Vec<&Check> = checks::of_agents().filter(|check| wanted(check.id)).collect();
    let next = AtomicUsize::new(0);
    let bench = Mutex::new(Bench::default());
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, picked.len().max(1)) {
            scope.spawn(|| {
                while let Some(check) = picked.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (outcome, exhibits) = one(subject, check);
                    told(&outcome);
                    let mut bench = bench.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    bench.take(check.id, outcome, exhibits);
                }
            });
        }
    });
    let bench = bench.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    bench.close(wanted)
}

fn one(subject: &Subject, check: &Check) -> (Outcome, Vec<Exhibit>) {
    let started = Instant::now();
    let mut exhibits = Vec::new();
    let judged = match Case::new(subject) {
        Ok(mut case) => {
            let judged = catch_unwind(AssertUnwindSafe(|| check.run(&mut case)))
                .unwrap_or_else(|_| Err(Stop::Inconclusive("the check itself panicked".into())));
            exhibits.extend(case.take_evidence().iter().map(|evidence| Exhibit {
                frames: evidence.frames(),
                stderr: evidence.stderr(),
                at_fault: None,
            }));
            judged
        }
        Err(error) => Err(Stop::Inconclusive(format!("no folder for the check: {error}"))),
    };
    let (verdict, why) = match &judged {
        Ok(()) => (Verdict::Passed, ""),
        Err(stop) => stop.parts(),
    };
    let outcome = Outcome {
        requirement: requirement::find(check.id).expect("the tests hold every check's id against the table"),
        verdict,
        why: why.to_owned(),
        took: started.elapsed(),
        found_in: None,
        evidence: if verdict == Verdict::Passed { Vec::new() } else { exhibits.clone() },
    };
    (outcome, exhibits)
}

impl Bench {
    fn take(&mut self, check: &'static str, outcome: Outcome, exhibits: Vec<Exhibit>) {
        for exhibit in exhibits {
            let testimony = judge(&exhibit.frames);
            let agents = testimony.seen.iter().filter(|(direction, _)| *direction == Direction::ToClient);
            self.seen.extend(agents.map(|(_, id)| *id));
            for finding in testimony.findings {
                if finding.direction == Direction::ToClient {
                    let at_fault = Some(finding.frame);
                    let why =
                        format!("{} (line {}, in the check of {check})", finding.text, finding.frame + 1);
                    let exhibit = Exhibit { at_fault, ..exhibit.clone() };
                    self.faults.entry(finding.id).or_insert(Fault { why, found_in: check, exhibit });
                }
            }
        }
        self.outcomes.push(outcome);
    }

    /// Adds what the witness alone can tell, and puts all in the order of the table.
    fn close(mut self, wanted: impl Fn(&str) -> bool) -> Vec<Outcome> {
        for id in witness::AGENT_RULES.iter().filter(|id| wanted(id)) {
            let fault = self.faults.remove(id);
            let mut own = self.outcomes.iter_mut().find(|outcome| outcome.requirement.id == **id);
            match (&mut own, fault) {
                (Some(own), Some(fault)) if own.verdict != Verdict::Failed => {
                    own.verdict = Verdict::Failed;
                    own.why = fault.why;
                    own.found_in = Some(fault.found_in);
                    own.evidence = vec![fault.exhibit];
                }
                (Some(_), _) => {}
                (None, fault) => {
                    let seen = self.seen.contains(*id);
                    self.outcomes.push(witnessed(id, seen, fault));
                }
            }
        }
        let place =
            |outcome: &Outcome| requirement::all().iter().position(|each| each.id == outcome.requirement.id);
        self.outcomes.sort_by_key(place);
        self.outcomes
    }
}

fn witnessed(id: &str, seen: bool, fault: Option<Fault>) -> Outcome {
    let mut outcome = Outcome {
        requirement: requirement::find(id).expect("the tests hold every rule's id against the table"),
        verdict: if seen { Verdict::Passed } else { Verdict::Inconclusive },
        why: if seen { String::new() } else { "no occasion to see it".into() },
        took: Duration::ZERO,
        found_in: None,
        evidence: Vec::new(),
    };
    if let Some(fault) = fault {
        outcome.verdict = Verdict::Failed;
        outcome.why = fault.why;
        outcome.found_in = Some(fault.found_in);
        outcome.evidence = vec![fault.exhibit];
    }
    outcome
}

/// The members of a frame that tell a reader which message it is.
pub(crate) fn title(frame: &Frame) -> String {
    let Ok(line) = frame.json() else { return "no JSON".into() };
    let id = line.get("id").map(|id| format!(" #{id}")).unwrap_or_default();
    match line["method"].as_str() {
        Some("session/update") => {
            let kind = line["params"]["update"]["sessionUpdate"].as_str().unwrap_or("update");
            format!("session/update {kind}")
        }
        Some(method) => format!("{method}{id}"),
        None if line["error"].is_object() => format!("error {}{id}", line["error"]["code"]),
        None => match &line["result"]["stopReason"] {
            Value::String(reason) => format!("{reason}{id}"),
            _ => format!("answer{id}"),
        },
    }
}
