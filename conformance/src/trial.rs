//! The kit as a library: some checks on one program, told as values. The tests of the kit itself run it this way.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli;
use crate::wire::requirement::{self, Side, Tier};
use crate::wire::{checks, scripts, witness};

/// What came of one requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The requirement's id.
    pub id: String,
    /// Whether it binds without any condition.
    pub mandatory: bool,
    /// `passed`, `failed`, `skipped` or `inconclusive`.
    pub verdict: String,
    /// Why it is not passed.
    pub why: String,
}

/// A requirement that the kit can judge on one side.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Known {
    /// The requirement's id.
    pub id: &'static str,
    /// Whether it binds without any condition.
    pub mandatory: bool,
    /// Whether a failure can decide a run at all.
    pub decides: bool,
    /// Whether a check of its own provokes it; without one the witness sees it in what other checks exchange.
    pub provoked: bool,
}

/// Runs `agent …` or `client …` as the command line would; `kit` is the program `accord-conformance`.
///
/// # Errors
///
/// What the command line complains of, as text for people.
pub fn run(kit: &Path, args: &[String]) -> Result<Vec<Found>, String> {
    let report = cli::quietly(kit, args)?;
    let found = report.outcomes.into_iter().map(|outcome| Found {
        id: outcome.requirement.id.clone(),
        mandatory: outcome.requirement.tier == Tier::Mandatory,
        verdict: outcome.verdict.to_string(),
        why: outcome.why,
    });
    Ok(found.collect())
}

/// What the kit can judge of agents.
pub fn of_agents() -> Vec<Known> {
    known(Side::Agent)
}

/// What the kit can judge of clients.
pub fn of_clients() -> Vec<Known> {
    known(Side::Client)
}

fn known(side: Side) -> Vec<Known> {
    let (provoked, witnessed) = judged(side);
    let all = requirement::all().iter();
    let all = all.filter(|each| provoked.contains(each.id.as_str()) || witnessed.contains(each.id.as_str()));
    let known = all.map(|each| Known {
        id: &each.id,
        mandatory: each.tier == Tier::Mandatory,
        decides: each.tier.decides(),
        provoked: provoked.contains(each.id.as_str()),
    });
    known.collect()
}

/// The ids that have a check of their own on a side, and those that the witness judges.
pub(crate) fn judged(side: Side) -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    match side {
        Side::Client => (
            scripts::of_clients().map(|script| script.id).collect(),
            witness::CLIENT_RULES.iter().copied().collect(),
        ),
        _ => (
            checks::of_agents().map(|check| check.id).collect(),
            witness::AGENT_RULES.iter().copied().collect(),
        ),
    }
}
