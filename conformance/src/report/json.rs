//! The report for programs.

use serde_json::{Value, json};

use super::Report;
use crate::scenario::Row;
use crate::wire::frame::Frame;
use crate::wire::run::{Exhibit, Outcome};
use crate::wire::verdict::Verdict;

/// The whole report as one JSON document.
pub(crate) fn render(report: &Report) -> String {
    let objections = report.objections();
    let document = json!({
        "kit": env!("CARGO_PKG_VERSION"),
        "side": report.side.to_string(),
        "name": report.name,
        "command": report.command,
        "seconds": report.took.as_secs_f64(),
        "stopped": report.cut.map(|(done, all)| json!({"done": done, "of": all})),
        "holds": objections.is_empty(),
        "objections": objections,
        "counts": Verdict::ALL.map(|verdict| (verdict.to_string(), report.count(verdict))).into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "scenario": report.rows.iter().map(step).collect::<Vec<_>>(),
        "results": report.outcomes.iter().map(|outcome| result(report, outcome)).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}

fn step(row: &Row) -> Value {
    json!({
        "run": row.run,
        "step": row.step,
        "shows": row.shows.split(' ').collect::<Vec<_>>(),
        "verdict": row.verdict.to_string(),
        "why": row.why,
        "seconds": row.took.as_secs_f64(),
        "frames": row.frames.iter().map(frame).collect::<Vec<_>>(),
    })
}

fn result(report: &Report, outcome: &Outcome) -> Value {
    let each = outcome.requirement;
    json!({
        "id": each.id,
        "tier": each.tier.to_string(),
        "requirement": each.text,
        "source": each.source,
        "verdict": outcome.verdict.to_string(),
        "why": outcome.why,
        "known": report.baseline.as_ref().and_then(|baseline| baseline.reason(&each.id)),
        "seconds": outcome.took.as_secs_f64(),
        "again": report.rerun(outcome),
        "evidence": outcome.evidence.iter().map(exhibit).collect::<Vec<_>>(),
    })
}

fn exhibit(exhibit: &Exhibit) -> Value {
    json!({
        "frames": exhibit.frames.iter().map(frame).collect::<Vec<_>>(),
        "at_fault": exhibit.at_fault,
        "stderr": exhibit.stderr,
    })
}

/// Long lines are cut: the report explains, the recording keeps.
fn frame(frame: &Frame) -> Value {
    json!({"t": frame.at.as_secs_f64(), "dir": frame.direction.mark(), "line": frame.excerpt(4000)})
}
