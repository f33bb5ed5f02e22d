//! `accord-bench`: times agents and clients side by side and holds Accord's against its bars.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks to its user")]

use std::process::ExitCode;

use accord_bench::{
    bars::judge,
    markdown,
    options::Options,
    report::{self, Report},
    rounds,
    summary::summarise,
};
use anyhow::{Context, Result};
use nix::{
    sched::{CpuSet, sched_setaffinity},
    unistd::Pid,
};

fn main() -> ExitCode {
    match compare() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("accord-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<()> {
    let wire_agent = std::env::current_exe()?.with_file_name("wire-agent");
    let options = Options::parse(std::env::args().skip(1), format!("'{}'", wire_agent.display()))?;
    if let Some(cpu) = options.cpu {
        pin(cpu).with_context(|| format!("pin everything to processor {cpu}; --cpu none does without"))?;
    }
    let mut runs = Vec::new();
    for suite in &options.suites {
        let of_suite = rounds::run(*suite, &options);
        println!("{}", report::table(*suite, &summarise(&of_suite, &options.reference), &options.reference));
        runs.extend(of_suite);
    }
    let rows = summarise(&runs, &options.reference);
    let verdicts = judge(&rows, &options.subject);
    println!("{}", report::verdicts(&verdicts, &options.subject));
    println!("{}", markdown::tables(&rows, &options.reference));
    if let Some(path) = &options.json {
        let report = Report::new(&options, &rows, &verdicts, &runs).json()?;
        std::fs::write(path, report).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

/// Pins this process, and with it all that it starts: wake-ups across processors would be measured as work.
fn pin(cpu: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}
