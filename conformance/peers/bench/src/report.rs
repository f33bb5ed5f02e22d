//! The tables that a person reads, and the file that a program does.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use crate::{
    bars::{Bar, Verdict},
    options::Options,
    rounds::{Run, Suite},
    sample::Metric,
    summary::{Figure, Row},
};

/// Everything a comparison found.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// Whose figures the ratios are to.
    pub reference: &'a str,
    /// Whose figures the bars are for.
    pub subject: &'a str,
    /// The processor everything was pinned to.
    pub cpu: Option<usize>,
    /// The medians and ratios.
    pub rows: &'a [Row],
    /// The bars.
    pub verdicts: &'a [Verdict],
    /// Every run.
    pub runs: &'a [Run],
}

impl<'a> Report<'a> {
    /// Puts together what was found.
    pub fn new(options: &'a Options, rows: &'a [Row], verdicts: &'a [Verdict], runs: &'a [Run]) -> Self {
        Self {
            reference: &options.reference,
            subject: &options.subject,
            cpu: options.cpu,
            rows,
            verdicts,
            runs,
        }
    }

    /// The report as JSON.
    ///
    /// # Errors
    ///
    /// Never, as long as every figure is a number.
    pub fn json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }
}

/// One suite's table: a block a work, a line a peer.
pub fn table(suite: Suite, rows: &[Row], reference: &str) -> String {
    let mut rows: Vec<&Row> = rows.iter().filter(|row| row.suite == suite).collect();
    let mut out = String::new();
    while let Some(first) = rows.first().copied() {
        let (block, rest): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.work == first.work);
        rows = rest;
        let title = first.work.map_or_else(String::new, |work| format!(": {work}"));
        let mut metrics: Vec<Metric> = block.iter().flat_map(|row| row.figures.keys().copied()).collect();
        metrics.sort_unstable();
        metrics.dedup();
        line(
            &mut out,
            &format!("{}{title}", suite.name()),
            metrics.iter().map(|metric| metric.label().to_owned()),
        );
        for row in block {
            let cells = metrics.iter().map(|metric| row.figures.get(metric).map_or_else(|| "-".into(), cell));
            line(&mut out, &format!("  {}", row.peer), cells);
            if let Some(failure) = &row.failure {
                let failed = row.runs - row.succeeded;
                // Writing to a string cannot fail.
                let _ = writeln!(out, "    {failed} of {} runs failed: {failure}", row.runs);
            }
        }
        out.push('\n');
    }
    if !out.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "(median [smallest-largest] xRATIO, the median of the ratios to {reference} round by round)"
        );
    }
    out
}

/// The bars, each with what was reached, and the missed ones counted.
pub fn verdicts(verdicts: &[Verdict], subject: &str) -> String {
    let mut out = String::new();
    for verdict in verdicts {
        let work = verdict
            .work
            .map_or_else(|| verdict.suite.name().into(), |work| format!("{} {work}", verdict.suite.name()));
        let (limit, unit) = match verdict.bar {
            Bar::Ratio(limit) => (format!("x{limit}"), "x"),
            Bar::Most(limit) => (format!("{limit}"), ""),
        };
        let reached =
            verdict.reached.map_or_else(|| "failed".into(), |reached| format!("{unit}{}", short(reached)));
        let outcome = if verdict.met() { "met" } else { "MISSED" };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "  {work:<28}{:<10}at most {limit:<7}{reached:>9}  {outcome}",
            verdict.metric.label()
        );
    }
    let met = verdicts.iter().filter(|verdict| verdict.met()).count();
    if verdicts.is_empty() {
        out
    } else {
        format!("bars: {subject} meets {met} of {}\n{out}", verdicts.len())
    }
}

fn line(out: &mut String, name: &str, cells: impl Iterator<Item = String>) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{name:<26}");
    for cell in cells {
        let _ = write!(out, "{cell:>28}");
    }
    out.push('\n');
}

fn cell(figure: &Figure) -> String {
    let range = format!("{} [{}-{}]", short(figure.median), short(figure.min), short(figure.max));
    figure.ratio.map_or_else(|| range.clone(), |ratio| format!("{range} x{}", short(ratio)))
}

/// Three digits that count.
fn short(value: f64) -> String {
    match value {
        value if value < 10.0 => format!("{value:.2}"),
        value if value < 100.0 => format!("{value:.1}"),
        value => format!("{value:.0}"),
    }
}
