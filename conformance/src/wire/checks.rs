//! The checks of an agent: a module a subject, a function a requirement, a fresh process each.

mod bad_input;
mod cancel;
mod close;
mod config;
mod ends;
mod envelope;
mod gates;
mod handshake;
mod ids;
mod list;
mod mcp;
mod permissions;
mod prompts;
mod restarts;
mod restore;
mod sessions;
mod transport;

use super::case::{Case, Facts};
use super::verdict::{Judged, Stop, inconclusive, skip};

/// One way to see whether an agent keeps a requirement.
#[derive(Debug)]
pub(crate) struct Check {
    /// The requirement.
    pub(crate) id: &'static str,
    gate: Gate,
    run: fn(&mut Case<'_>) -> Judged,
}

/// When a check applies; what the gate asks for is what the requirement's gate says.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gate {
    /// Always.
    Always,
    /// The capability at this path below `agentCapabilities`.
    Offers(&'static str),
    /// Any of these.
    OffersAny(&'static [&'static str]),
    /// session/new gave this member.
    Session(&'static str),
}

const fn check(id: &'static str, run: fn(&mut Case<'_>) -> Judged) -> Check {
    Check { id, gate: Gate::Always, run }
}

const fn gated(id: &'static str, gate: Gate, run: fn(&mut Case<'_>) -> Judged) -> Check {
    Check { id, gate, run }
}

/// All checks of an agent.
pub(crate) fn of_agents() -> impl Iterator<Item = &'static Check> {
    [
        handshake::CHECKS,
        envelope::CHECKS,
        ids::CHECKS,
        bad_input::CHECKS,
        transport::CHECKS,
        sessions::CHECKS,
        prompts::CHECKS,
        cancel::CHECKS,
        permissions::CHECKS,
        restore::CHECKS,
        list::CHECKS,
        close::CHECKS,
        restarts::CHECKS,
        config::CHECKS,
        gates::CHECKS,
        ends::CHECKS,
        mcp::CHECKS,
    ]
    .into_iter()
    .flatten()
}

impl Check {
    /// Runs the check, if its gate holds.
    pub(crate) fn run(&self, case: &mut Case<'_>) -> Judged {
        self.gate.holds(&case.subject.facts)?;
        match (self.run)(case) {
            // ACP-SESSION-001 tells of it; nothing was seen of the others.
            Err(Stop::Failed(why))
                if self.id != "ACP-SESSION-001"
                    && case.subject.facts.refused.is_some_and(|code| why.contains(&code.to_string())) =>
            {
                inconclusive(format!("there is no session to be had: {why}"))
            }
            judged => judged,
        }
    }
}

impl Gate {
    fn holds(self, facts: &Facts) -> Judged {
        let held = match self {
            Self::Always => return Ok(()),
            _ if facts.hello.is_null() => return inconclusive("the first handshake failed"),
            Self::Offers(path) => facts.offers(path),
            Self::OffersAny(paths) => paths.iter().any(|path| facts.offers(path)),
            Self::Session(_) if facts.session.is_null() => {
                return inconclusive("the first session/new failed");
            }
            Self::Session(member) => facts.session_has(member),
        };
        if held { Ok(()) } else { skip(self.name()) }
    }

    fn name(self) -> String {
        match self {
            Self::Always => String::new(),
            Self::Offers(path) => format!("{path} is not advertised"),
            Self::OffersAny(paths) => format!("none of {} is advertised", paths.join(", ")),
            Self::Session(member) => format!("session/new gave no {member}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::wire::requirement::{self, Side, Tier};
    use crate::wire::witness::{AGENT_RULES, CLIENT_RULES};

    #[test]
    fn every_check_and_rule_belongs_to_a_requirement_of_agents_and_to_one_only() {
        let mut ids = BTreeSet::new();
        for check in of_agents() {
            assert!(ids.insert(check.id), "{} has two checks", check.id);
        }
        for id in ids.iter().chain(AGENT_RULES) {
            let requirement = requirement::find(id).unwrap_or_else(|| panic!("there is no requirement {id}"));
            assert!(requirement.side.includes(Side::Agent), "{id} does not bind agents");
        }
    }

    #[test]
    fn what_binds_agents_is_checked_or_has_a_reason_why_not() {
        let checked: BTreeSet<&str> =
            of_agents().map(|check| check.id).chain(AGENT_RULES.iter().copied()).collect();
        let unseen = requirement::unseen(Side::Agent);
        let binding = requirement::all().iter().filter(|each| each.side.includes(Side::Agent));
        let open: Vec<&str> = binding
            .filter(|each| each.tier != Tier::Informational)
            .map(|each| each.id.as_str())
            .filter(|id| !checked.contains(id) && !unseen.contains_key(*id))
            .collect();
        assert_eq!(open, Vec::<&str>::new(), "neither checked nor in unseen.toml");
        let stale: Vec<&String> = unseen.keys().filter(|id| checked.contains(id.as_str())).collect();
        assert_eq!(stale, Vec::<&String>::new(), "checked, and in unseen.toml");
    }

    #[test]
    fn what_binds_clients_is_checked_or_has_a_reason_why_not() {
        let scripts = crate::wire::scripts::of_clients().map(|script| script.id);
        let checked: BTreeSet<&str> = scripts.chain(CLIENT_RULES.iter().copied()).collect();
        let unseen = requirement::unseen(Side::Client);
        let binding = requirement::all().iter().filter(|each| each.side.includes(Side::Client));
        let open: Vec<&str> = binding
            .filter(|each| each.tier != Tier::Informational)
            .map(|each| each.id.as_str())
            .filter(|id| !checked.contains(id) && !unseen.contains_key(*id))
            .collect();
        assert_eq!(open, Vec::<&str>::new(), "neither checked nor in unseen.toml");
        let stale: Vec<&String> = unseen.keys().filter(|id| checked.contains(id.as_str())).collect();
        assert_eq!(stale, Vec::<&String>::new(), "checked, and in unseen.toml");
        for id in checked {
            let requirement = requirement::find(id).unwrap_or_else(|| panic!("there is no requirement {id}"));
            assert!(requirement.side.includes(Side::Client), "{id} does not bind clients");
        }
    }

    #[test]
    fn every_script_has_a_name_of_its_own() {
        let mut names = BTreeSet::new();
        for script in crate::wire::scripts::of_clients() {
            assert!(names.insert(script.name()), "{} stands twice", script.name());
        }
    }
}
