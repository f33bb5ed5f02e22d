//! What a run has to say, to people and to machines.

pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod scenario;
pub(crate) mod terminal;

use std::time::Duration;

use crate::baseline::Baseline;
use crate::scenario::Row;
use crate::wire::recording::Recording;
use crate::wire::requirement::Side;
use crate::wire::run::Outcome;
use crate::wire::verdict::Verdict;

/// Everything that was found out about one program.
#[derive(Debug, Clone)]
pub(crate) struct Report {
    /// What was checked.
    pub(crate) side: Side,
    /// How it was started.
    pub(crate) command: Vec<String>,
    /// How it names itself, with its version.
    pub(crate) name: String,
    /// The command line of this run, by which a single check can be run again.
    pub(crate) again: Vec<String>,
    /// The requirements, in the order of the table.
    pub(crate) outcomes: Vec<Outcome>,
    /// The steps of the scenario, if it was played.
    pub(crate) rows: Vec<Row>,
    /// What crossed in each run of the scenario.
    pub(crate) recordings: Vec<(usize, Recording)>,
    /// How many checks were run of how many, if the run was stopped before its end.
    pub(crate) cut: Option<(usize, usize)>,
    pub(crate) took: Duration,
    /// What is known to fail, if a baseline was given.
    pub(crate) baseline: Option<Baseline>,
}

impl Report {
    /// How many requirements have this verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.outcomes.iter().filter(|outcome| outcome.verdict == verdict).count()
    }

    /// How many failures decide nothing, in brackets; empty if none.
    pub(crate) fn mild(&self) -> String {
        let binding = self.outcomes.iter().filter(|outcome| decides_against(outcome)).count();
        match self.count(Verdict::Failed) - binding {
            0 => String::new(),
            mild => format!(" ({mild} of them not binding)"),
        }
    }

    /// The verdict on the whole, as the rest of a sentence that begins with the program's name.
    pub(crate) fn verdict(&self) -> String {
        let failed = self.count(Verdict::Failed);
        let seen = self.count(Verdict::Passed) + failed > 0 || !self.rows.is_empty();
        let known = self.outcomes.iter().filter(|outcome| decides_against(outcome)).count();
        match self.objections().as_slice() {
            [] if !seen => "was not seen to do anything, so nothing is said of it".into(),
            [] if known > 0 => format!("is as known: {known} listed binding failures, and no other"),
            [] => "conforms to ACP v1: no binding failure".into(),
            [only] => format!("does not conform to ACP v1: {only}"),
            all => format!("does not conform to ACP v1, for {} reasons", all.len()),
        }
    }

    /// Why the run as a whole does not hold: one line each; none if it does.
    pub(crate) fn objections(&self) -> Vec<String> {
        let steps = self.rows.iter().filter(|row| row.verdict == Verdict::Failed);
        let cut = self.cut.map(|(done, all)| format!("stopped after {done} of {all} checks"));
        let steps = steps.map(|row| format!("the scenario's run {}: “{}” failed", row.run, row.step));
        let mut objections: Vec<String> = cut.into_iter().chain(steps).collect();
        if let Some(baseline) = &self.baseline {
            objections.extend(baseline.deviations(&self.outcomes));
        } else {
            let deciding = self.outcomes.iter().filter(|outcome| decides_against(outcome));
            objections.extend(deciding.map(|outcome| format!("{} failed", outcome.requirement.id)));
        }
        objections
    }

    /// The command that runs one check again.
    pub(crate) fn rerun(&self, outcome: &Outcome) -> String {
        let ids = std::iter::once(outcome.requirement.id.as_str()).chain(outcome.found_in);
        let only = ids.collect::<Vec<_>>().join(",");
        let mut words = vec!["accord-conformance".to_owned(), self.side.to_string(), "--only".into(), only];
        words.extend(self.again.iter().cloned());
        words.push("--".into());
        words.extend(self.command.iter().cloned());
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Whether an outcome alone makes the whole run a failure.
pub(crate) fn decides_against(outcome: &Outcome) -> bool {
    outcome.verdict == Verdict::Failed && outcome.requirement.tier.decides()
}

/// What a requirement is about, for the headings of a report.
pub(crate) fn subject_of(id: &str) -> &'static str {
    match id.split('-').nth(1).unwrap_or_default() {
        "TRANSPORT" | "TR" | "SHUTDOWN" | "STDERR" => "Transport",
        "JSONRPC" | "RPC" | "ERROR" => "JSON-RPC",
        "INIT" => "Initialization",
        "SCHEMA" => "Schema",
        "AUTH" => "Authentication",
        "SESSION" | "SESS" => "Sessions",
        "MCP" => "MCP servers",
        "ADDDIRS" => "Additional directories",
        "PROMPT" | "PROMPTCAP" => "Prompt turns",
        "CANCEL" | "CREQ" => "Cancellation",
        "TOOL" => "Tool calls",
        "PERM" => "Permissions",
        "FS" | "CLIENTCAP" => "Files and capabilities",
        "TERM" => "Terminals",
        "ELIC" => "Elicitation",
        "LIST" => "Listing sessions",
        "LOAD" | "RESUME" => "Loading and resuming",
        "CLOSE" | "DELETE" => "Closing and deleting",
        "RESTART" => "Restarts",
        "CONFIG" | "MODE" | "MODES" => "Options and modes",
        "EXT" | "META" => "Extensions",
        "INFO" => "For information",
        _ => "Updates and content",
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = !word.is_empty()
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&byte));
    if plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
