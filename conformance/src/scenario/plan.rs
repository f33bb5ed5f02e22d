//! The steps of a run in their order, and which of them were not reached.

use std::time::Duration;

use super::Row;
use crate::wire::verdict::Verdict;

/// How the reason of a step that was not played begins.
pub(crate) const NOT_REACHED: &str = "not reached";

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
    obstacle: Option<String>,
    /// Why steps were passed over.
    reason: Option<String>,
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
    pub(super) fn leave(&mut self, step: Step, passed: bool) {
        self.obstacle = (!passed).then(|| format!("run {} got no further than “{}”", self.run, step.does));
        if !passed {
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
        let why = reason.unwrap_or_else(|| "an earlier step did not come about".into());
        self.reason = Some(why.clone());
        let row = |step: &Step| Row {
            run: self.run,
            step: step.does,
            shows: step.shows,
            verdict: Verdict::Skipped,
            why: format!("{NOT_REACHED}: {why}"),
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
        place.leave(START, false);
        let reason = "not reached: run 1 got no further than “starts”";
        assert_eq!(told(&place.reach(END)), [format!("1 takes a turn: {reason}")]);
        place.leave(END, true);
        assert_eq!(told(&place.begin(2, &[START, TURN])).len(), 0);
        assert_eq!(
            told(&place.begin(3, &[])),
            [format!("2 starts: {reason}"), format!("2 takes a turn: {reason}")]
        );
    }

    #[test]
    fn what_was_played_is_not_passed_over() {
        let mut place = Place::default();
        place.begin(1, &[START, TURN, END]);
        for step in [START, TURN, END] {
            assert_eq!(place.reach(step).len(), 0);
            place.leave(step, step != TURN);
        }
        assert_eq!(place.begin(2, &[]).len(), 0);
    }
}
