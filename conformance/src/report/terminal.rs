//! The report on a terminal: a line of progress while checks run, then what failed and why, the counts, the verdict.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;

use crate::say::{self, Colour, line, paint};
use crate::wire::run::{Exhibit, Outcome, title};
use crate::wire::verdict::Verdict;

/// The moving line on stderr; nothing where no person watches.
#[derive(Debug)]
pub(crate) struct Progress {
    counts: Mutex<BTreeMap<Verdict, usize>>,
    lively: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self { counts: Mutex::default(), lively: say::lively() }
    }

    pub(crate) fn told(&self, outcome: &Outcome) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(outcome.verdict).or_default() += 1;
        if self.lively {
            let tally: Vec<String> =
                counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
            say::err(&format!("\r\x1b[2K{} · {}", tally.join(", "), outcome.requirement.id));
        }
    }

    pub(crate) fn done(&self) {
        if self.lively {
            say::err("\r\x1b[2K");
        }
    }
}

/// Whether an outcome makes the whole run a failure.
pub(crate) fn decides_against(outcome: &Outcome) -> bool {
    outcome.verdict == Verdict::Failed && outcome.requirement.tier.decides()
}

/// The whole report; what passed is listed only if `all`.
pub(crate) fn report(outcomes: &[Outcome], all: bool) -> String {
    let mut text = String::new();
    let (deciding, told): (Vec<&Outcome>, Vec<&Outcome>) = outcomes
        .iter()
        .filter(|outcome| outcome.verdict == Verdict::Failed)
        .partition(|outcome| decides_against(outcome));
    section(&mut text, "Failed", Colour::Red, &deciding, true);
    section(&mut text, "Failed, advisory or informational", Colour::Yellow, &told, false);
    let of = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).collect::<Vec<_>>();
    by_reason(&mut text, "Inconclusive", &of(Verdict::Inconclusive));
    if all {
        by_reason(&mut text, "Skipped", &of(Verdict::Skipped));
        section(&mut text, "Passed", Colour::Green, &of(Verdict::Passed), false);
    }
    text.push_str(&counts(outcomes));
    text
}

fn section(text: &mut String, name: &str, colour: Colour, outcomes: &[&Outcome], frames: bool) {
    if outcomes.is_empty() {
        return;
    }
    line!(text, "{}", paint(&format!("{name} ({})", outcomes.len()), colour));
    for outcome in outcomes {
        let each = outcome.requirement;
        let seconds = outcome.took.as_secs_f64();
        let head = format!("  {:26} {:13} {seconds:5.1} s  {}", each.id, each.tier, each.text);
        line!(text, "{}", clipped(&head, 180));
        if !outcome.why.is_empty() {
            line!(text, "    {}", clipped(&outcome.why, 600));
        }
        if frames {
            outcome.evidence.iter().for_each(|exhibit| text.push_str(&frames_of(exhibit)));
        }
    }
    text.push('\n');
}

/// Ids only, under the reason they share.
fn by_reason(text: &mut String, name: &str, outcomes: &[&Outcome]) {
    if outcomes.is_empty() {
        return;
    }
    line!(text, "{}", paint(&format!("{name} ({})", outcomes.len()), Colour::Yellow));
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for outcome in outcomes {
        reasons.entry(&outcome.why).or_default().push(&outcome.requirement.id);
    }
    for (why, ids) in reasons {
        line!(text, "  {}: {}", clipped(why, 200), ids.join(" "));
    }
    line!(text, "");
}

/// The last frames of a process, or those around the one at fault, and the end of its stderr.
pub(crate) fn frames_of(exhibit: &Exhibit) -> String {
    const SHOWN: usize = 8;
    let count = exhibit.frames.len();
    let last = exhibit.at_fault.map_or(count, |place| (place + 2).min(count));
    let first = last.saturating_sub(SHOWN);
    let mut text = String::new();
    for (place, frame) in exhibit.frames.iter().enumerate().take(last).skip(first) {
        let mark = if exhibit.at_fault == Some(place) { "!" } else { " " };
        let at = frame.at.as_secs_f64();
        let head = format!("   {mark}{:4} {at:8.3} {} {}", place + 1, frame.direction.mark(), title(frame));
        line!(text, "{}", paint(&head, Colour::Grey));
        line!(text, "         {}", frame.excerpt(300));
    }
    let tail: Vec<&str> = exhibit.stderr.lines().rev().take(3).collect();
    for line in tail.iter().rev() {
        line!(text, "         stderr: {}", clipped(line, 200));
    }
    text
}

fn counts(outcomes: &[Outcome]) -> String {
    let of = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
    let against = outcomes.iter().filter(|outcome| decides_against(outcome)).count();
    let failed = of(Verdict::Failed);
    let verdict = match against {
        0 => paint("conforms: nothing mandatory failed", Colour::Green),
        _ => paint(
            &format!("does not conform: {against} mandatory or capability requirements failed"),
            Colour::Red,
        ),
    };
    format!(
        "{} passed, {failed} failed ({} of them advisory or informational), {} skipped, {} inconclusive\n{verdict}\n",
        of(Verdict::Passed),
        failed - against,
        of(Verdict::Skipped),
        of(Verdict::Inconclusive),
    )
}

/// At most `limit` characters, so that one long value does not drown the rest.
fn clipped(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
