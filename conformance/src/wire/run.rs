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
use super::client::Client;
use super::frame::{Direction, Frame};
use super::process::Evidence;
use super::requirement::{self, Requirement};
use super::verdict::{Judged, Stop, Verdict};
use super::witness::{self, judge};
use crate::stop;
use crate::waiting::Waiting;

/// What came of one requirement.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    /// The requirement.
    pub(crate) requirement: &'static Requirement,
    pub(crate) verdict: Verdict,
    /// Why it is not passed; empty if it is.
    pub(crate) why: String,
    pub(crate) took: Duration,
    /// The requirement that tells of the same failure, if it is broken as well.
    pub(crate) follows: Option<&'static str>,
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

/// What came of all that was wanted.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The requirements, in the order of the table.
    pub(crate) outcomes: Vec<Outcome>,
    /// How many checks were run of how many, if the run was stopped before its end.
    pub(crate) cut: Option<(usize, usize)>,
}

/// Why a program can't be examined at all.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// It can't be started.
    Unstartable(String),
    /// It was started, and said nothing that is a message of its own.
    Speechless(String),
}

impl Unfit {
    /// The complaint; what can be `overlooked` is.
    pub(crate) fn unless(self, overlooked: bool) -> Result<(), String> {
        match self {
            Self::Speechless(_) if overlooked => Ok(()),
            Self::Unstartable(why) | Self::Speechless(why) => Err(why),
        }
    }
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

/// How many times the usual patience the first start gets: nothing is known yet of how fast the agent is.
const FIRST_START: u32 = 3;

/// Looks at the agent once, as any client would; what fails here leaves its fact empty. What is no agent at all is told, since
/// hundreds of checks would only say the same.
pub(crate) fn probe(subject: &mut Subject, waiting: &Waiting) -> Result<(), Unfit> {
    subject.facts = Facts::default();
    let patience = subject.patience;
    subject.patience *= FIRST_START;
    let mut facts = Facts::default();
    let fit = match Case::new(subject) {
        Ok(mut case) => {
            // A failure here is found again, and told, by the checks of the handshake and of session/new.
            let looked = look(&mut case, &mut facts, waiting);
            waiting.over();
            let fit = fit(&case.take_evidence(), &looked);
            if let (Ok(()), Err(stop)) = (&fit, &looked) {
                waiting.remark(&format!(
                    "the first look at it: {}; what needs more will say the same\n",
                    stop.parts().1
                ));
            }
            fit
        }
        Err(error) => Err(Unfit::Unstartable(format!("no folder for the agent: {error}"))),
    };
    subject.patience = patience.max(facts.startup * 10);
    subject.facts = facts;
    fit
}

/// Whether a process came about, and said anything.
fn fit(evidence: &[Evidence], looked: &Judged) -> Result<(), Unfit> {
    let frames = evidence.first().map(Evidence::frames).unwrap_or_default();
    if repeats(&frames) {
        return Err(Unfit::Speechless(ECHO.into()));
    }
    let Err(stop) = looked else { return Ok(()) };
    let why = stop.parts().1;
    let Some(evidence) = evidence.first() else { return Err(Unfit::Unstartable(why.to_owned())) };
    let mut theirs = frames.iter().filter(|frame| frame.direction == Direction::ToClient);
    if stop::stopped() || theirs.any(|frame| frame.json().is_ok()) {
        return Ok(());
    }
    let mut text = format!("{why}. Is this the command that speaks ACP on its stdin and stdout?");
    for (place, frame) in
        frames.iter().filter(|frame| frame.direction == Direction::ToClient).take(5).enumerate()
    {
        let head = if place == 0 { "\n  on stdout:" } else { "" };
        text = format!("{text}{head}\n    {}", frame.excerpt(200));
    }
    let stderr = evidence.last_words(Duration::from_secs(2));
    let tail: Vec<&str> = stderr.lines().rev().take(5).collect();
    for (place, said) in tail.iter().rev().enumerate() {
        let head = if place == 0 { "\n  on stderr:" } else { "" };
        text = format!("{text}{head}\n    {said}");
    }
    Err(Unfit::Speechless(text))
}

/// What is said of a program that sends back what it is sent.
const ECHO: &str = "this is no agent: it repeats its input (our own request came back on its stdout)
  Is this the command that speaks ACP on its stdin and stdout? A terminal in between (ssh -t, docker -t, script) repeats its
  input as well: start the agent on plain pipes.";

/// Whether what was sent first came back as it was.
fn repeats(frames: &[Frame]) -> bool {
    let of = |direction| frames.iter().filter(move |frame| frame.direction == direction);
    let asked = of(Direction::ToAgent).next().and_then(|frame| frame.json().ok());
    asked.is_some() && of(Direction::ToClient).any(|frame| frame.json().ok() == asked)
}

fn look(case: &mut Case<'_>, facts: &mut Facts, waiting: &Waiting) -> Judged {
    let began = Instant::now();
    let mut client = case.start()?;
    facts.hello = introduced(&mut client, began, waiting)?;
    facts.startup = began.elapsed();
    if let Some(method) = &case.subject.auth {
        waiting.on("the answer to authenticate", client.patience());
        client.call("authenticate", &json!({"methodId": method}))?;
    }
    waiting.on("the answer to session/new", client.patience());
    let answer = client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}))?;
    facts.refused = answer.code();
    facts.session = answer.result()?;
    Ok(())
}

/// The result of initialize. What is silent may be a large runtime that starts; what prints other things than messages has started,
/// and gets the usual patience alone.
fn introduced(client: &mut Client, began: Instant, waiting: &Waiting) -> Judged<Value> {
    let sent = client.send("initialize", &hello(&json!({})));
    let (usual, whole) = (client.patience() / FIRST_START, client.patience());
    waiting.on("the answer to initialize", usual);
    let came = client.listen_until(usual, |client| client.has_answer(&sent));
    let limit = if came || babbles(&client.process.evidence().frames()) { usual } else { whole };
    if !came && limit > usual {
        waiting.on("the answer to initialize, as nothing was printed so far", usual * (FIRST_START - 1));
    }
    client.answer_since(&sent, began, limit)?.result()
}

/// Whether lines came, and none of them is a message.
fn babbles(frames: &[Frame]) -> bool {
    let mut theirs = frames.iter().filter(|frame| frame.direction == Direction::ToClient).peekable();
    theirs.peek().is_some() && theirs.all(|frame| frame.json().is_err())
}

/// Runs the checks that `wanted` picks, `jobs` at a time; `told` hears of each as it ends.
pub(crate) fn run(
    subject: &Subject,
    wanted: impl Fn(&str) -> bool,
    jobs: usize,
    waiting: &Waiting,
    told: impl Fn(&Outcome, usize) + Sync,
) -> Ran {
    let picked: Vec<&Check> = checks::of_agents().filter(|check| wanted(check.id)).collect();
    let next = AtomicUsize::new(0);
    let bench = Mutex::new(Bench::default());
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, picked.len().max(1)) {
            scope.spawn(|| {
                while let Some(check) = picked.get(next.fetch_add(1, Ordering::Relaxed)) {
                    waiting.begun(check.id);
                    let (outcome, exhibits) = one(subject, check);
                    waiting.ended(check.id);
                    // What was interrupted says nothing.
                    if stop::stopped() {
                        return;
                    }
                    told(&outcome, picked.len());
                    let mut bench = bench.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    bench.take(check.id, outcome, exhibits);
                }
            });
        }
    });
    let bench = bench.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let cut = stop::stopped().then_some((bench.outcomes.len(), picked.len()));
    Ran { outcomes: bench.close(wanted), cut }
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
        follows: judged.as_ref().err().and_then(Stop::source),
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
                    // What was not seen yet might have been.
                    if stop::stopped() && !seen && fault.is_none() {
                        continue;
                    }
                    self.outcomes.push(witnessed(id, seen, fault));
                }
            }
        }
        let place =
            |outcome: &Outcome| requirement::all().iter().position(|each| each.id == outcome.requirement.id);
        self.outcomes.sort_by_key(place);
        excuse(&mut self.outcomes);
        self.outcomes
    }
}

/// One fault is one failure: what only follows from another requirement's is not held against its own.
pub(super) fn excuse(outcomes: &mut [Outcome]) {
    let failed: BTreeSet<&str> = outcomes
        .iter()
        .filter(|outcome| outcome.verdict == Verdict::Failed)
        .map(|outcome| outcome.requirement.id.as_str())
        .collect();
    for outcome in outcomes.iter_mut().filter(|outcome| outcome.verdict == Verdict::Failed) {
        if let Some(source) = outcome.follows.filter(|source| failed.contains(source))
            && source != outcome.requirement.id
        {
            outcome.verdict = Verdict::Inconclusive;
            outcome.why = format!("see {source}: {}", outcome.why);
        }
    }
}

fn witnessed(id: &str, seen: bool, fault: Option<Fault>) -> Outcome {
    let mut outcome = Outcome {
        requirement: requirement::find(id).expect("the tests hold every rule's id against the table"),
        verdict: if seen { Verdict::Passed } else { Verdict::Inconclusive },
        why: if seen { String::new() } else { "no occasion to see it".into() },
        took: Duration::ZERO,
        follows: None,
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
