//! What is known to fail: a strict baseline, with a reason for each entry.
//!
//! A failure that is not listed fails the run, and so does an entry that no longer holds. What is inconclusive though it binds is
//! listed as well, so that a check that quietly stops seeing anything is noticed.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::say::line;
use crate::wire::requirement::{self, Side};
use crate::wire::run::Outcome;
use crate::wire::verdict::Verdict;

/// The entries of a file, by requirement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Baseline {
    known: BTreeMap<String, Known>,
}

/// An entry.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Known {
    id: String,
    verdict: Expected,
    reason: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Failed,
    Inconclusive,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    agent: Vec<Known>,
    #[serde(default)]
    client: Vec<Known>,
}

impl Baseline {
    /// Reads a file; an entry without a reason, or for a requirement that does not exist, is an error.
    pub(crate) fn read(path: &Path, side: Side) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text, side).map_err(|why| format!("{}: {why}", path.display()))
    }

    fn parse(text: &str, side: Side) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut known = BTreeMap::new();
        let entries = if side == Side::Client { file.client } else { file.agent };
        for entry in entries {
            if entry.reason.trim().is_empty() {
                return Err(format!("{} has no reason", entry.id));
            }
            if requirement::find(&entry.id).is_none() {
                return Err(format!("there is no requirement {}", entry.id));
            }
            if let Some(twice) = known.insert(entry.id.clone(), entry) {
                return Err(format!("{} is listed twice", twice.id));
            }
        }
        Ok(Self { known })
    }

    /// The text of a file in which nothing of `outcomes` deviates: each entry with what was found, for its reason to be put in that
    /// place, or with the reason that it has already.
    pub(crate) fn draft(known: Option<&Self>, side: Side, outcomes: &[Outcome]) -> String {
        let mut text = String::from(
            "# What is known to fail, or to be inconclusive though it binds, each with the reason.\n",
        );
        let nothing = Self::default();
        for outcome in outcomes.iter().filter(|outcome| nothing.deviation(outcome).is_some()) {
            let (id, verdict) = (&outcome.requirement.id, outcome.verdict);
            let kept = known.and_then(|known| known.reason(id));
            let reason = kept.map_or_else(|| format!("to be looked at: {}", outcome.why), str::to_owned);
            // A JSON string without control characters is one of TOML as well.
            let reason = serde_json::Value::String(reason.replace(char::is_control, " "));
            line!(text, "\n[[{side}]]\nid = \"{id}\"\nverdict = \"{verdict}\"\nreason = {reason}");
        }
        text
    }

    /// The reason why a requirement is known to fail.
    pub(crate) fn reason(&self, id: &str) -> Option<&str> {
        self.known.get(id).map(|known| known.reason.as_str())
    }

    /// Where the outcomes are not what the file says.
    pub(crate) fn deviations(&self, outcomes: &[Outcome]) -> Vec<String> {
        outcomes.iter().filter_map(|outcome| self.deviation(outcome)).collect()
    }

    fn deviation(&self, outcome: &Outcome) -> Option<String> {
        let id = &outcome.requirement.id;
        let listed = self.known.get(id).map(|known| known.verdict);
        let unlisted = match outcome.verdict {
            Verdict::Failed => listed != Some(Expected::Failed),
            Verdict::Inconclusive => {
                outcome.requirement.tier.decides() && listed != Some(Expected::Inconclusive)
            }
            Verdict::Passed | Verdict::Skipped => false,
        };
        let stale = match listed {
            Some(Expected::Failed) => outcome.verdict != Verdict::Failed,
            Some(Expected::Inconclusive) => outcome.verdict != Verdict::Inconclusive,
            None => false,
        };
        match (unlisted, stale) {
            (true, _) => Some(format!("{id} is {} and not listed as such", outcome.verdict)),
            (false, true) => Some(format!("{id} is listed, and is {}: remove the entry", outcome.verdict)),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn outcome(id: &str, verdict: Verdict) -> Outcome {
        let requirement = requirement::find(id).unwrap();
        Outcome {
            requirement,
            verdict,
            why: String::new(),
            took: Duration::ZERO,
            follows: None,
            found_in: None,
            evidence: Vec::new(),
        }
    }

    #[test]
    fn an_unlisted_failure_and_a_stale_entry_both_count() {
        let text = "[[agent]]\nid = \"ACP-INIT-001\"\nverdict = \"failed\"\nreason = \"because\"\n";
        let baseline = Baseline::parse(text, Side::Agent).unwrap();
        let of = |id, verdict| baseline.deviations(&[outcome(id, verdict)]).len();
        assert_eq!(of("ACP-INIT-001", Verdict::Failed), 0);
        assert_eq!(of("ACP-INIT-001", Verdict::Passed), 1);
        assert_eq!(of("ACP-INIT-001", Verdict::Inconclusive), 1);
        assert_eq!(of("ACP-INIT-002", Verdict::Failed), 1);
        assert_eq!(of("ACP-INIT-002", Verdict::Inconclusive), 1);
        assert_eq!(of("ACP-INIT-002", Verdict::Skipped), 0);
    }

    #[test]
    fn a_draft_lists_what_deviates_and_keeps_reasons() {
        let mut outcomes = [
            outcome("ACP-INIT-001", Verdict::Failed),
            outcome("ACP-INIT-002", Verdict::Inconclusive),
            outcome("ACP-INIT-003", Verdict::Skipped),
            outcome("ACP-SCHEMA-001", Verdict::Passed),
        ];
        outcomes[0].why = "it says \"no\"\nand ends".into();
        let text = Baseline::draft(None, Side::Agent, &outcomes);
        let baseline = Baseline::parse(&text, Side::Agent).unwrap();
        assert_eq!(baseline.deviations(&outcomes), Vec::<String>::new());
        assert_eq!(baseline.known.len(), 2);
        assert_eq!(baseline.reason("ACP-INIT-001"), Some("to be looked at: it says \"no\" and ends"));
        let reasoned = text.replace("to be looked at: ", "planned: ");
        let reasoned = Baseline::parse(&reasoned, Side::Agent).unwrap();
        assert_eq!(
            Baseline::draft(Some(&reasoned), Side::Agent, &outcomes),
            text.replace("to be looked at: ", "planned: ")
        );
    }

    #[test]
    fn the_subjects_own_baseline_reads() {
        for side in [Side::Agent, Side::Client] {
            Baseline::parse(include_str!("../known-failures.toml"), side).unwrap();
        }
    }

    #[test]
    fn entries_need_a_reason_and_a_requirement() {
        let without = "[[agent]]\nid = \"ACP-INIT-001\"\nverdict = \"failed\"\nreason = \" \"\n";
        assert!(Baseline::parse(without, Side::Agent).unwrap_err().contains("no reason"));
        let unknown = "[[agent]]\nid = \"ACP-NO-001\"\nverdict = \"failed\"\nreason = \"x\"\n";
        assert!(Baseline::parse(unknown, Side::Agent).unwrap_err().contains("no requirement"));
    }
}
