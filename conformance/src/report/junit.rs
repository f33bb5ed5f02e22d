//! The report as CI servers read it: the XML of `JUnit`.

use super::{Report, decides_against, subject_of};
use crate::say::line;
use crate::wire::run::Outcome;
use crate::wire::verdict::Verdict;

/// One suite for the scenario, one for each subject of requirements.
pub(crate) fn render(report: &Report) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    line!(text, "<testsuites name=\"{}\" time=\"{:.3}\">", escaped(&report.name), report.took.as_secs_f64());
    if !report.rows.is_empty() {
        scenario(&mut text, report);
    }
    let mut subjects: Vec<&str> =
        report.outcomes.iter().map(|outcome| subject_of(&outcome.requirement.id)).collect();
    subjects.sort_unstable();
    subjects.dedup();
    for subject in subjects {
        let outcomes =
            report.outcomes.iter().filter(|outcome| subject_of(&outcome.requirement.id) == subject);
        suite(&mut text, report, subject, &outcomes.collect::<Vec<_>>());
    }
    line!(text, "</testsuites>");
    text
}

fn scenario(text: &mut String, report: &Report) {
    let rows = &report.rows;
    let of = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let skipped = of(Verdict::Skipped) + of(Verdict::Inconclusive);
    line!(
        text,
        "  <testsuite name=\"Scenario\" tests=\"{}\" failures=\"{}\" skipped=\"{skipped}\">",
        rows.len(),
        of(Verdict::Failed)
    );
    for row in rows {
        let name = escaped(&format!("run {}: {}", row.run, row.step));
        let time = row.took.as_secs_f64();
        case(text, "scenario", &name, time, row.verdict, true, &row.why);
    }
    line!(text, "  </testsuite>");
}

fn suite(text: &mut String, report: &Report, name: &str, outcomes: &[&Outcome]) {
    let failures = outcomes.iter().filter(|outcome| counts(report, outcome)).count();
    let skipped = outcomes
        .iter()
        .filter(|outcome| outcome.verdict != Verdict::Passed && !counts(report, outcome))
        .count();
    line!(
        text,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\">",
        outcomes.len()
    );
    for outcome in outcomes {
        let each = outcome.requirement;
        let title = escaped(&format!("{} {}", each.id, each.text));
        let why = format!("{}\n{}\nagain: {}", outcome.why, each.source, report.rerun(outcome));
        let (tier, time) = (each.tier.to_string(), outcome.took.as_secs_f64());
        case(text, &tier, &title, time, outcome.verdict, counts(report, outcome), &why);
    }
    line!(text, "  </testsuite>");
}

/// A failure that a server should show as one: it decides, and is not known.
fn counts(report: &Report, outcome: &Outcome) -> bool {
    let known =
        report.baseline.as_ref().is_some_and(|baseline| baseline.reason(&outcome.requirement.id).is_some());
    decides_against(outcome) && !known
}

fn case(text: &mut String, class: &str, name: &str, time: f64, verdict: Verdict, counts: bool, why: &str) {
    let head = format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"{time:.3}\"");
    let why = escaped(why);
    if verdict == Verdict::Passed {
        line!(text, "{head}/>");
    } else if verdict == Verdict::Failed && counts {
        line!(text, "{head}><failure message=\"{verdict}\">{why}</failure></testcase>");
    } else {
        let told =
            if verdict == Verdict::Failed { "failed, known or not binding" } else { &verdict.to_string() };
        line!(text, "{head}><skipped message=\"{told}: {why}\"/></testcase>");
    }
}

/// Text as XML takes it; control characters that it forbids are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push(letter),
            other if other.is_control() => out.push('\u{FFFD}'),
            other => out.push(other),
        }
    }
    out
}
