//! `accord-conformance list` and `explain`: the requirements themselves.

use std::collections::BTreeSet;
use std::process::ExitCode;

use super::args::{Args, Flag, flag};
use crate::say::line;
use crate::wire::checks;
use crate::wire::requirement::{self, Requirement, Side};
use crate::wire::witness::AGENT_RULES;

pub(super) const FLAGS: &[Flag] = &[
    flag("side", "agent|client", "only what binds this side"),
    flag("unchecked", "", "only what is not checked"),
];

/// The ids that a run on an agent can decide.
fn checked() -> BTreeSet<&'static str> {
    checks::of_agents().map(|check| check.id).chain(AGENT_RULES.iter().copied()).collect()
}

pub(super) fn list(args: &Args) -> Result<ExitCode, String> {
    let side = match args.value("side") {
        None => None,
        Some("agent") => Some(Side::Agent),
        Some("client") => Some(Side::Client),
        Some(other) => return Err(format!("--side is agent or client, not {other}")),
    };
    let checked = checked();
    let mut text = String::new();
    for each in requirement::all() {
        let mark = if checked.contains(each.id.as_str()) { "✓" } else { " " };
        let shown =
            side.is_none_or(|side| each.side.includes(side)) && !(args.has("unchecked") && mark == "✓");
        let reason =
            [Side::Agent, Side::Client].iter().find_map(|side| requirement::unseen(*side).get(&each.id));
        if shown {
            line!(text, "{mark} {:26} {:13} {:6} {}", each.id, each.tier, each.side, each.text);
        }
        if let Some(reason) = reason.filter(|_| shown) {
            line!(text, "{:30}can't be seen: {reason}", "");
        }
    }
    crate::say::out(&text);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn explain(args: &Args) -> Result<ExitCode, String> {
    let [id] = args.words.as_slice() else {
        return Err("give one requirement's id, such as ACP-INIT-001".into());
    };
    let each = requirement::find(id).ok_or_else(|| format!("there is no requirement {id}"))?;
    crate::say::out(&page(each));
    Ok(ExitCode::SUCCESS)
}

fn page(each: &Requirement) -> String {
    let gate = if each.gate.is_empty() { "always" } else { &each.gate };
    format!(
        "{} ({}, {}, {})\n\n  {}\n\n  applies  {gate}\n  to see   {}\n  source   {}\n  alone    accord-conformance {} --only {} -- COMMAND…\n",
        each.id,
        each.side,
        each.tier,
        each.basis,
        each.text,
        each.how,
        each.source,
        if each.side == Side::Client { "client" } else { "agent" },
        each.id,
    )
}
