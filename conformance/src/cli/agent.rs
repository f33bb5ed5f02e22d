//! `accord-conformance agent`: the scenario and the wire checks on any agent command.

use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::args::{Args, Flag, flag};
use super::{output, scenario, subject};
use crate::report::Report;
use crate::stop;
use crate::trial::judged;
use crate::waiting::Waiting;
use crate::wire::requirement::{self, Side, find};
use crate::wire::run::{self, Outcome, Ran};
use crate::wire::witness;

pub(super) const FLAGS: &[Flag] = &[
    flag("no-scenario", "", "leave the twice-run scenario out"),
    flag("jobs", "N", "checks at a time (default: one a processor)"),
    flag("only", "IDS", "only these requirements, separated by commas; a final * matches the rest"),
];

pub(super) fn run(args: &Args) -> Result<ExitCode, String> {
    let kit = super::own_program()?;
    let args = &with_carriers(args, Side::Agent);
    stop::watch();
    let (progress, waiting) = output::progress(args);
    let report = examine(args, &kit, &waiting, |outcome, all| progress.told(outcome, all))?;
    progress.done();
    output::deliver(args, &report)
}

/// The whole run, but for what is done with the report; `kit` is the program that serves as MCP server and recorder.
pub(crate) fn examine(
    args: &Args,
    kit: &Path,
    waiting: &Arc<Waiting>,
    told: impl Fn(&Outcome, usize) + Sync,
) -> Result<Report, String> {
    let began = Instant::now();
    let jobs = jobs(args)?;
    known_ids(args, Side::Agent)?;
    let mut subject = subject::of(args, kit)?;
    let baseline = output::baseline(args, Side::Agent)?;
    let alone = args.has("only") || args.has("no-scenario");
    subject::probe(args, &mut subject, args.has("only"), waiting)?;
    let (rows, recordings) =
        if alone { Default::default() } else { scenario::play(args, subject.clone(), waiting)? };
    let Ran { outcomes, cut } = run::run(&subject, |id| wanted(args, id), jobs, waiting, told);
    let name = subject.facts.name().unwrap_or_else(|| args.command.join(" "));
    Ok(Report {
        side: Side::Agent,
        command: args.command.clone(),
        name,
        again: args.again(),
        outcomes,
        rows,
        recordings,
        cut,
        took: began.elapsed(),
        baseline,
    })
}

/// How many checks run at a time.
pub(super) fn jobs(args: &Args) -> Result<usize, String> {
    match args.value("jobs") {
        Some(number) => number.parse().map_err(|_| format!("--jobs needs a number, not {number}")),
        None => Ok(thread::available_parallelism().map_or(2, NonZero::get)),
    }
}

/// Whether each pattern of `--only` means a requirement of this side: a run of nothing would pass for ever.
pub(super) fn known_ids(args: &Args, side: Side) -> Result<(), String> {
    let known = || requirement::all().iter().filter(|requirement| requirement.side.includes(side));
    match patterns(args).find(|pattern| !known().any(|known| matches(pattern, &known.id))) {
        Some(unknown) => {
            let hint = super::near::hint(unknown, known().map(|known| known.id.as_str()));
            Err(format!("--only: no requirement of this side is called {unknown}{hint}"))
        }
        None => Ok(()),
    }
}

/// With the checks in whose frames the rules of `--only` show: a rule that the witness watches has no check of its own.
pub(super) fn with_carriers(args: &Args, side: Side) -> Args {
    let (provoked, watched) = judged(side);
    let mut args = args.clone();
    let patterns: Vec<String> = patterns(&args).map(str::to_owned).collect();
    for id in watched.difference(&provoked) {
        if patterns.iter().any(|pattern| matches(pattern, id)) {
            args.add("only", witness::shown_in(side, id).to_owned());
        }
    }
    args
}

/// Whether `--only` lets a requirement through.
pub(super) fn wanted(args: &Args, id: &str) -> bool {
    let mut patterns = patterns(args).peekable();
    let all = patterns.peek().is_none();
    (all || patterns.any(|pattern| matches(pattern, id))) && find(id).is_some()
}

fn patterns(args: &Args) -> impl Iterator<Item = &str> {
    args.values("only").flat_map(|list| list.split(',')).map(str::trim)
}

fn matches(pattern: &str, id: &str) -> bool {
    pattern.strip_suffix('*').map_or(id == pattern, |start| id.starts_with(start))
}
