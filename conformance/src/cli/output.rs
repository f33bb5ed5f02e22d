//! Where reports go, and what the process says at its end.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use super::args::{Args, Flag, flag};
use crate::baseline::Baseline;
use crate::report::{Report, html, json, junit, terminal};
use crate::stop;
use crate::waiting::Waiting;
use crate::wire::requirement::Side;

pub(super) const FLAGS: &[Flag] = &[
    flag("no-progress", "", "say nothing of how far the run is, and of what is waited for"),
    flag("all", "", "show what passed and what was skipped, too"),
    flag("known", "FILE", "what is known to fail (TOML), as a strict baseline"),
    flag(
        "write-known",
        "FILE",
        "write a new file for --known, in which all that fails now is listed; give each its reason",
    ),
    flag("html", "FILE", "write the report as a page with sequence diagrams"),
    flag("json", "FILE", "write the report for programs"),
    flag("junit", "FILE", "write the report for CI servers"),
];

/// What tells of the run while it lasts: how far it is, and what it waits for.
pub(super) fn progress(args: &Args) -> (terminal::Progress, Arc<Waiting>) {
    let wanted = !args.has("no-progress");
    (terminal::Progress::new(wanted), Arc::new(Waiting::new(wanted)))
}

/// What `--known` says. A file that `--write-known` would overwrite is an error, before anything runs: it may hold reasons.
pub(super) fn baseline(args: &Args, side: Side) -> Result<Option<Baseline>, String> {
    if let Some(path) = args.value("write-known").filter(|path| Path::new(path).exists()) {
        return Err(format!("--write-known: {path} is there already; name a new file"));
    }
    args.value("known").map(|path| Baseline::read(path.as_ref(), side)).transpose()
}

/// Prints the report, writes the files asked for, and gives the verdict as a status.
pub(super) fn deliver(args: &Args, report: &Report) -> Result<ExitCode, String> {
    if !report.outcomes.is_empty() || report.cut.is_some() {
        crate::say::out(&terminal::render(report, args.has("all")));
    }
    let write = |flag, text: &dyn Fn() -> String| match args.value(flag) {
        Some(path) => fs::write(path, text()).map_err(|error| format!("{path}: {error}")),
        None => Ok(()),
    };
    write("html", &|| html::render(report))?;
    write("json", &|| json::render(report))?;
    write("junit", &|| junit::render(report))?;
    write("write-known", &|| Baseline::draft(report.baseline.as_ref(), report.side, &report.outcomes))?;
    if let Some(status) = stop::status() {
        return Ok(ExitCode::from(status));
    }
    Ok(if report.objections().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
