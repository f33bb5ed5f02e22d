//! `accord-conformance list` and `explain`: the requirements themselves.

use std::collections::BTreeSet;
use std::process::ExitCode;

use super::args::{Args, Flag, flag};
use crate::say::line;
use crate::trial::judged;
use crate::wire::requirement::{self, Requirement, Side};
use crate::wire::witness;

pub(super) const FLAGS: &[Flag] = &[
    flag("side", "agent|client", "only what binds this side"),
    flag("unchecked", "", "only what is not checked"),
];

/// The ids that a run on this side can decide.
fn checked(side: Side) -> BTreeSet<&'static str> {
    let (provoked, witnessed) = judged(side);
    provoked.union(&witnessed).copied().collect()
}

pub(super) fn list(args: &Args) -> Result<ExitCode, String> {
    let sides = match args.value("side") {
        None => &[Side::Agent, Side::Client][..],
        Some("agent") => &[Side::Agent],
        Some("client") => &[Side::Client],
        Some(other) => return Err(format!("--side is agent or client, not {other}")),
    };
    let checked: Vec<_> = sides.iter().map(|side| (*side, checked(*side))).collect();
    let mut text = String::new();
    for each in requirement::all().iter().filter(|each| sides.iter().any(|side| each.side.includes(*side))) {
        let bound = || checked.iter().filter(|(side, _)| each.side.includes(*side));
        let open = bound().any(|(_, ids)| !ids.contains(each.id.as_str()));
        if args.has("unchecked") && !open {
            continue;
        }
        let mark = if open { " " } else { "✓" };
        line!(text, "{mark} {:26} {:13} {:6} {}", each.id, each.tier, each.side, each.text);
        for (side, _) in bound() {
            if let Some(reason) = requirement::unseen(*side).get(&each.id) {
                line!(text, "{:30}not checked on the {side}: {reason}", "");
            }
        }
    }
    line!(text, "");
    for side in sides {
        line!(text, "{}", sum(*side));
    }
    crate::say::out(&text);
    Ok(ExitCode::SUCCESS)
}

/// What becomes of all requirements in a run on this side.
fn sum(side: Side) -> String {
    let all = requirement::all();
    let (bound, others): (Vec<&Requirement>, Vec<&Requirement>) =
        all.iter().partition(|each| each.side.includes(side));
    let (checked, unseen) = (checked(side).len(), requirement::unseen(side).len());
    format!(
        "{side}s: of {} requirements {checked} are checked, {unseen} cannot be seen from outside, {} are for information and have no \
         check, {} do not bind {side}s",
        all.len(),
        bound.len() - checked - unseen,
        others.len()
    )
}

pub(super) fn explain(args: &Args) -> Result<ExitCode, String> {
    let [id] = args.words.as_slice() else {
        return Err("give one requirement's id, such as ACP-INIT-001".into());
    };
    let each = requirement::find(id).ok_or_else(|| {
        let ids = requirement::all().iter().map(|each| each.id.as_str());
        format!("there is no requirement {id}{}", super::near::hint(id, ids))
    })?;
    crate::say::out(&page(each));
    Ok(ExitCode::SUCCESS)
}

fn page(each: &Requirement) -> String {
    let gate = if each.gate.is_empty() { "always" } else { &each.gate };
    let mut text =
        format!("{} ({}, {}, {})\n\n  {}\n\n", each.id, each.side, each.tier, each.basis, each.text);
    line!(text, "  applies  {gate}\n  to see   {}\n  source   {}", each.how, each.source);
    for side in [Side::Agent, Side::Client].into_iter().filter(|side| each.side.includes(*side)) {
        if checked(side).contains(each.id.as_str()) {
            let command = if side == Side::Client { "COMMAND… {AGENT}" } else { "COMMAND…" };
            line!(text, "  alone    accord-conformance {side} --only {} -- {command}", each.id);
            watched(&mut text, side, &each.id);
        } else if let Some(reason) = requirement::unseen(side).get(&each.id) {
            line!(text, "  open     not checked on the {side}: {reason}");
        }
    }
    text
}

/// What no check provokes is watched in what others exchange.
fn watched(text: &mut String, side: Side, id: &str) {
    let (provoked, watched) = judged(side);
    if provoked.contains(id) && watched.contains(id) {
        line!(text, "  watched  on the {side}, in what all other checks exchange, too");
    } else if watched.contains(id) {
        let carrier = witness::shown_in(side, id);
        line!(
            text,
            "  watched  on the {side}, in what all checks exchange, {carrier} above all; --only {id} runs that with it"
        );
    }
}
