//! The twice-run scenario on a terminal: a line a step as it ends, then the frames of what failed.

use crate::say::{Colour, line, paint};
use crate::scenario::Row;
use crate::wire::run::title;
use crate::wire::verdict::Verdict;

/// The column heads.
pub(crate) fn head(command: &[String]) -> String {
    let mut text = format!("The scenario, on {}\n\n", command.join(" "));
    line!(text, "  run  {:52} {:12} {:>8}", "step", "result", "time");
    text
}

/// A step's own line, and the reason if it did not pass; one that many steps share is told at the first of them.
pub(crate) fn row(row: &Row, told: &mut String) -> String {
    let colour = match row.verdict {
        Verdict::Passed => Colour::Green,
        Verdict::Failed => Colour::Red,
        Verdict::Skipped => Colour::Grey,
        Verdict::Inconclusive => Colour::Yellow,
    };
    let result = paint(&format!("{:12}", row.verdict), colour);
    let time = format!("{:.0} ms", row.took.as_secs_f64() * 1000.0);
    let mut text = String::new();
    line!(text, "  {:3}  {:52} {result} {time:>8}", row.run, row.step);
    if row.why != *told {
        for why in row.why.lines() {
            line!(text, "       {why}");
        }
        row.why.clone_into(told);
    }
    text
}

/// The frames of what failed, and the counts.
pub(crate) fn foot(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows.iter().filter(|row| row.verdict == Verdict::Failed && !row.frames.is_empty()) {
        line!(text, "\n{}", paint(&format!("Run {}: {}", row.run, row.step), Colour::Red));
        for frame in row.frames.iter().rev().take(12).rev() {
            let at = frame.at.as_secs_f64();
            line!(
                text,
                "  {}",
                paint(&format!("{at:8.3} {} {}", frame.direction.mark(), title(frame)), Colour::Grey)
            );
            line!(text, "           {}", frame.excerpt(400));
        }
    }
    let of = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let mut counts =
        vec![format!("{} passed", of(Verdict::Passed)), format!("{} failed", of(Verdict::Failed))];
    let rest = [Verdict::Skipped, Verdict::Inconclusive].into_iter().filter(|verdict| of(*verdict) > 0);
    counts.extend(rest.map(|verdict| format!("{} {verdict}", of(verdict))));
    line!(text, "\n{}", counts.join(", "));
    text
}
