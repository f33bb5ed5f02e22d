//! The witness's word on everything that crossed: it knows the official schema and the rules of order, and none of our crates.

use std::time::Duration;

use super::Row;
use super::stage::Stage;
use crate::wire::requirement::{self, Tier};
use crate::wire::verdict::Verdict;
use crate::wire::witness::{Finding, judge};

pub(super) fn run(stage: &mut Stage<'_>) {
    let set = stage.set();
    for (run, recording) in set.recordings() {
        let findings = judge(&recording.frames).findings;
        let known = |finding: &&Finding| {
            set.play.baseline.as_ref().is_some_and(|known| known.reason(finding.id).is_some())
        };
        let (deciding, told): (Vec<&Finding>, Vec<&Finding>) =
            findings.iter().partition(|finding| !known(finding) && (set.play.strict || decides(finding)));
        let verdict = if deciding.is_empty() { Verdict::Passed } else { Verdict::Failed };
        let why = deciding.iter().chain(&told).map(|finding| tell(finding)).collect::<Vec<_>>().join("\n");
        let frames =
            deciding.iter().filter_map(|finding| recording.frames.get(finding.frame).cloned()).collect();
        let step = "the witness finds every frame in order";
        stage.note(Row { run, step, shows: "D1 D13 X3", verdict, why, took: Duration::ZERO, frames });
    }
}

fn decides(finding: &Finding) -> bool {
    requirement::find(finding.id).is_none_or(|each| matches!(each.tier, Tier::Mandatory | Tier::Capability))
}

fn tell(finding: &Finding) -> String {
    format!(
        "{} line {} by the {}: {}",
        finding.id,
        finding.frame + 1,
        finding.direction.writer(),
        finding.text
    )
}
