//! The steps of a run in their order, and which of them were not reached.

use std::time::Duration;

use super::Row;
use crate::wire::verdict::Verdict;

/// A step before it is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// What is done.
    pub(super) does: &'static str,
    /// The behaviours it shows, by their ids.
    pub(super) shows: &'static str,
}

impl Step {
    pub(super) const fn new(does: &'static str, shows: &'static str) -> Self {
        Self { does, shows }
    }
}

/// Where the play stands in its run.
#[derive(Debug, Default)]
pub(super) struct Place {
    run: usize,
    ahead: &'static [Step],
    /// The last step that was played, if it did not pass.
    obstacle: Option<Reason>,
    /// Why steps were passed over.
    reason: Option<Reason>,
}

/// Why steps are passed over, and what that makes of them: what needs what is not offered does not apply, and what needs more than
/// was reached was not seen.
#[derive(Debug, Clone)]
struct Reason {
    verdict: Verdict,
    why: String,
}

impl Place {
    /// Begins a run; gives what was not reached of the one before.
    pub(super) fn begin(&mut self, run: usize, plan: &'static [Step]) -> Vec<Row> {
        let missed = self.pass(self.ahead.len());
        self.run = run;
        self.ahead = plan;
        missed
    }

    /// Comes to a step; gives those that were passed over on the way.
    pub(super) fn reach(&mut self, step: Step) -> Vec<Row> {
        let Some(place) = self.ahead.iter().position(|ahead| *ahead == step) else { return Vec::new() };
        let missed = self.pass(place);
        self.ahead = &self.ahead[1..];
        missed
    }

    /// A step that was played is over.
    pub(super) fn leave(&mut self, step: Step, verdict: Verdict) {
        self.obstacle = (verdict != Verdict::Passed).then(|| {
            let verdict = if verdict == Verdict::Skipped { Verdict::Skipped } else { Verdict::Inconclusive };
            let why = format!("not reached: run {} got no further than “{}”", self.run, step.does);
            Reason { verdict, why }
        });
        if self.obstacle.is_some() {
            self.reason = None;
        }
    }

    fn pass(&mut self, count: usize) -> Vec<Row> {
        let (missed, ahead) = self.ahead.split_at(count);
        self.ahead = ahead;
        if missed.is_empty() {
            return Vec::new();
        }
        let reason = self.reason.take().or_else(|| self.obstacle.take());
        let reason = reason.unwrap_or_else(|| Reason {
            verdict: Verdict::Inconclusive,
            why: "not reached: an earlier step did not come about".into(),
        });
        self.reason = Some(reason.clone());
        let row = |step: &Step| Row {
            run: self.run,
            step: step.does,
            shows: step.shows,
            verdict: reason.verdict,
            why: reason.why.clone(),
            took: Duration::ZERO,
            frames: Vec::new(),
        };
        missed.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Step = Step::new("starts", "");
    const TURN: Step = Step::new("takes a turn", "");
    const END: Step = Step::new("ends", "");

    fn told(rows: &[Row]) -> Vec<String> {
        rows.iter().map(|row| format!("{} {}: {}", row.run, row.step, row.why)).collect()
    }

    #[test]
    fn what_is_passed_over_is_told_with_the_step_that_was_in_the_way() {
        let mut place = Place::default();
        assert_eq!(place.begin(1, &[START, TURN, END]).len(), 0);
        assert_eq!(place.reach(START).len(), 0);
        place.leave(START, Verdict::Failed);
        let reason = "not reached: run 1 got no further than “starts”";
        assert_eq!(told(&place.reach(END)), [format!("1 takes a turn: {reason}")]);
        place.leave(END, Verdict::Passed);
        assert_eq!(told(&place.begin(2, &[START, TURN])).len(), 0);
        assert_eq!(
            told(&place.begin(3, &[])),
            [format!("2 starts: {reason}"), format!("2 takes a turn: {reason}")]
        );
    }

    #[test]
    fn what_needs_what_is_not_offered_does_not_apply_either() {
        for (verdict, missed) in [
            (Verdict::Skipped, Verdict::Skipped),
            (Verdict::Failed, Verdict::Inconclusive),
            (Verdict::Inconclusive, Verdict::Inconclusive),
        ] {
            let mut place = Place::default();
            place.begin(1, &[START, TURN]);
            place.reach(START);
            place.leave(START, verdict);
            assert_eq!(place.begin(2, &[])[0].verdict, missed);
        }
    }

    #[test]
    fn what_was_played_is_not_passed_over() {
        let mut place = Place::default();
        place.begin(1, &[START, TURN, END]);
        for step in [START, TURN, END] {
            assert_eq!(place.reach(step).len(), 0);
            place.leave(step, if step == TURN { Verdict::Failed } else { Verdict::Passed });
        }
        assert_eq!(place.begin(2, &[]).len(), 0);
    }
}
