//! `accord-conformance client`: the checks of any client command, with a scripted agent in its agent's place.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use super::args::{Args, Flag, flag};
use super::output;
use crate::report::Report;
use crate::stop;
use crate::waiting::Waiting;
use crate::wire::requirement::Side;
use crate::wire::run::{Outcome, Ran};
use crate::wire::run_client;
use crate::wire::seen::Plain;
use crate::wire::visit::Visitor;

pub(super) const FLAGS: &[Flag] = &[
    flag("input", "TEXT", "a line for the client's stdin, which then ends; may be repeated"),
    flag(
        "answer",
        "TEXT",
        "what to type into the client's stdin at each permission request; it ends with the turn",
    ),
    flag("interrupt", "", "SIGINT cancels the client's turn"),
    flag("to-list", "COMMAND", "the command line by which the client lists sessions, with {AGENT} in it"),
    flag("to-wait", "COMMAND", "… by which it leaves permission requests open until it is interrupted"),
    flag("to-load", "COMMAND", "… by which it loads one"),
    flag("to-command", "COMMAND", "… by which it sends the agent's command /accord with the words: run it"),
    flag("env", "NAME=VALUE", "a variable for the client"),
    flag(
        "timeout",
        "SECONDS",
        "the longest one check may take (default 30, and five times as long as an ordinary session)",
    ),
    flag("jobs", "N", "checks at a time (default: one a processor)"),
    flag("only", "IDS", "only these requirements, separated by commas; a final * matches the rest"),
];

pub(super) fn run(args: &Args) -> Result<ExitCode, String> {
    let kit = super::own_program()?;
    let args = &super::agent::with_carriers(args, Side::Client);
    stop::watch();
    let (progress, waiting) = output::progress(args);
    let report = examine(args, &kit, &waiting, |outcome, all| progress.told(outcome, all))?;
    progress.done();
    output::deliver(args, &report)
}

/// The whole run, but for what is done with the report; `kit` is the program that plays the agents.
pub(crate) fn examine(
    args: &Args,
    kit: &Path,
    waiting: &Waiting,
    told: impl Fn(&Outcome, usize) + Sync,
) -> Result<Report, String> {
    let began = Instant::now();
    let jobs = super::agent::jobs(args)?;
    super::agent::known_ids(args, Side::Client)?;
    let baseline = output::baseline(args, Side::Client)?;
    let mut visitor = visitor(args, kit)?;
    waiting.on("the client's ordinary session, by which the others are measured", visitor.patience);
    let probed = run_client::probe(&mut visitor);
    waiting.over();
    probed.map_err(|why| why + &super::subject::elsewhere(args, ""))?;
    let wanted = |id: &str| super::agent::wanted(args, id);
    let Ran { outcomes, cut } = run_client::run(&visitor, wanted, jobs, waiting, told);
    Ok(Report {
        side: Side::Client,
        command: args.command.clone(),
        name: visitor.plain.name().unwrap_or_else(|| args.command.join(" ")),
        again: args.again(),
        outcomes,
        rows: Vec::new(),
        recordings: Vec::new(),
        cut,
        took: began.elapsed(),
        baseline,
    })
}

fn visitor(args: &Args, kit: &Path) -> Result<Visitor, String> {
    let mut command = args.program("client")?.to_vec();
    if !command.iter().any(|word| word.contains("{AGENT}")) {
        return Err(
            "the client's command needs {AGENT} where the agent's command belongs: the kit plays the agent"
                .into(),
        );
    }
    if command[0].contains('/') {
        command[0] = super::subject::absolute(&command[0])?;
    }
    Ok(Visitor {
        command,
        ways: args.starting("to-").map(|(way, line)| (way.to_owned(), shell(line))).collect(),
        env: super::subject::env(args)?,
        input: args.values("input").map(str::to_owned).collect(),
        answer: args.value("answer").map(str::to_owned),
        interruptible: args.has("interrupt"),
        patience: args.seconds("timeout", 30.0)?,
        kit: kit.to_owned(),
        plain: Plain::default(),
    })
}

/// A command line, as a shell runs it; the client takes the shell's place, so that an interrupt reaches it.
fn shell(line: &str) -> Vec<String> {
    vec!["sh".into(), "-c".into(), format!("exec {line}")]
}
