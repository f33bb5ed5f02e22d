//! `accord-conformance scenario`: the main job, played twice over one store.

use std::cell::RefCell;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use super::args::{Args, Flag, flag};
use super::{output, subject};
use crate::report::{Report, scenario as report};
use crate::scenario::{self, Answer, Play, Played};
use crate::stop;
use crate::waiting::Waiting;
use crate::wire::case::Subject;
use crate::wire::requirement::Side;

pub(super) const FLAGS: &[Flag] = &[
    flag("permission", "allow|reject|cancel", "how the scenario answers permission requests (default allow)"),
    flag("record", "DIR", "keep the scenario's recordings and store there"),
    flag("strict", "", "the scenario's advisory findings and inconclusive steps count as failures"),
];

pub(super) fn run(args: &Args) -> Result<ExitCode, String> {
    let began = Instant::now();
    let mut subject = subject::of(args, &super::own_program()?)?;
    stop::watch();
    let (_, waiting) = output::progress(args);
    subject::probe(args, &mut subject, false, &waiting)?;
    let (rows, recordings) = play(args, subject.clone(), &waiting)?;
    let name = subject.facts.name().unwrap_or_else(|| args.command.join(" "));
    let report = Report {
        side: Side::Agent,
        command: args.command.clone(),
        name,
        again: args.again(),
        outcomes: Vec::new(),
        rows,
        recordings,
        cut: None,
        took: began.elapsed(),
        baseline: None,
    };
    output::deliver(args, &report)
}

/// Plays the scenario, and tells of each step as it ends.
pub(super) fn play(args: &Args, subject: Subject, waiting: &Arc<Waiting>) -> Result<Played, String> {
    let permission = match args.value("permission") {
        None | Some("allow") => Answer::Allow,
        Some("reject") => Answer::Reject,
        Some("cancel") => Answer::Cancel,
        Some(other) => return Err(format!("--permission is allow, reject or cancel, not {other}")),
    };
    let record = args.value("record").map(Into::into);
    let baseline = output::baseline(args, Side::Agent)?;
    let waiting = Arc::clone(waiting);
    let play = Play { subject, permission, record, strict: args.has("strict"), baseline, waiting };
    crate::say::out(&report::head(&args.command));
    let told = RefCell::new(String::new());
    let played = scenario::play(play, |row| crate::say::out(&report::row(row, &mut told.borrow_mut())))?;
    crate::say::out(&report::foot(&played.0));
    Ok(played)
}
