//! The report on a terminal: what failed and why, the counts, the verdict.

mod progress;

use std::collections::BTreeMap;

pub(crate) use self::progress::Progress;
use super::{Report, decides_against, subject_of};
use crate::say::{Colour, line, paint};
use crate::wire::run::{Exhibit, Outcome, title};
use crate::wire::verdict::Verdict;

/// The whole report; what passed is listed only if `all`.
pub(crate) fn render(report: &Report, all: bool) -> String {
    let mut text = String::new();
    if !report.rows.is_empty() {
        line!(text, "\nThe requirements, on {}\n", report.name);
    }
    let outcomes = &report.outcomes;
    let of = |verdict| outcomes.iter().filter(move |outcome| outcome.verdict == verdict);
    let known = |outcome: &&Outcome| {
        report.baseline.as_ref().is_some_and(|known| known.reason(&outcome.requirement.id).is_some())
    };
    let (expected, new): (Vec<&Outcome>, Vec<&Outcome>) = of(Verdict::Failed).partition(known);
    let (deciding, told): (Vec<&Outcome>, Vec<&Outcome>) =
        new.iter().partition(|outcome| decides_against(outcome));
    section(&mut text, "Failed, binding", Colour::Red, &deciding, true);
    if let Some(first) = deciding.first() {
        line!(text, "Again, the first of them alone:\n  {}\n", report.rerun(first));
    }
    section(&mut text, "Failed, not binding", Colour::Yellow, &told, false);
    section(&mut text, "Failed, as known", Colour::Grey, &expected, false);
    by_reason(&mut text, Verdict::Inconclusive, &of(Verdict::Inconclusive).collect::<Vec<_>>());
    if all {
        by_reason(&mut text, Verdict::Skipped, &of(Verdict::Skipped).collect::<Vec<_>>());
        section(&mut text, "Passed", Colour::Green, &of(Verdict::Passed).collect::<Vec<_>>(), false);
    }
    if outcomes.len() > FEW {
        groups(&mut text, report);
    }
    text.push_str(&counts(report));
    text
}

/// So few requirements need no table of their subjects.
const FEW: usize = 40;

/// A line a subject, with how many of each verdict.
fn groups(text: &mut String, report: &Report) {
    let mut subjects: Vec<&str> = Vec::new();
    for outcome in &report.outcomes {
        let subject = subject_of(&outcome.requirement.id);
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    for subject in subjects {
        let of = |verdict| {
            let same = |outcome: &&Outcome| subject_of(&outcome.requirement.id) == subject;
            report.outcomes.iter().filter(same).filter(|outcome| outcome.verdict == verdict).count()
        };
        let told = [
            (Verdict::Passed, Colour::Green),
            (Verdict::Failed, Colour::Red),
            (Verdict::Inconclusive, Colour::Yellow),
            (Verdict::Skipped, Colour::Grey),
        ];
        let told = told.map(|(verdict, colour)| (of(verdict), verdict, colour));
        let told = told.into_iter().filter(|(count, ..)| *count > 0);
        let told: Vec<String> =
            told.map(|(count, verdict, colour)| paint(&format!("{count:3} {verdict}"), colour)).collect();
        line!(text, "  {subject:24} {}", told.join("  "));
    }
    line!(text, "");
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
        line!(text, "{}", clipped(&head, 400));
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
fn by_reason(text: &mut String, verdict: Verdict, outcomes: &[&Outcome]) {
    if outcomes.is_empty() {
        return;
    }
    let head = format!("{} {verdict}", outcomes.len());
    line!(text, "{}: {}", paint(&head, Colour::Yellow), verdict.meaning());
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
        // What is at fault may stand far inside its line.
        let limit = if exhibit.at_fault == Some(place) { 1500 } else { 300 };
        line!(text, "         {}", frame.excerpt(limit));
    }
    let tail: Vec<&str> = exhibit.stderr.lines().rev().take(3).collect();
    for line in tail.iter().rev() {
        line!(text, "         stderr: {}", clipped(line, 200));
    }
    text
}

fn counts(report: &Report) -> String {
    let mut text = String::new();
    line!(
        text,
        "{} passed, {} failed{}, {} skipped, {} inconclusive, in {:.1} s",
        report.count(Verdict::Passed),
        report.count(Verdict::Failed),
        report.mild(),
        report.count(Verdict::Skipped),
        report.count(Verdict::Inconclusive),
        report.took.as_secs_f64()
    );
    let objections = report.objections();
    let colour = if objections.is_empty() { Colour::Green } else { Colour::Red };
    line!(text, "{}", paint(&format!("{} {}", report.name, report.verdict()), colour));
    if objections.len() > 1 {
        for objection in objections {
            line!(text, "  {objection}");
        }
    }
    text
}

/// At most `limit` characters, so that one long value does not drown the rest.
fn clipped(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}
