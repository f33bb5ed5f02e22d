//! Medians over the rounds, and ratios to the reference taken round by round, since a shared machine drifts between them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    rounds::{Run, Suite},
    sample::Metric,
    work::Work,
};

/// A figure over the rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// The median of the ratios to the reference in the same round.
    pub ratio: Option<f64>,
}

/// What one peer did at one work.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The suite it belongs to.
    pub suite: Suite,
    /// The work; `None` where the suite has none.
    #[serde(serialize_with = "crate::rounds::work_as_text")]
    pub work: Option<Work>,
    /// The peer's name.
    pub peer: String,
    /// The figures of the runs that succeeded.
    pub figures: BTreeMap<Metric, Figure>,
    /// How many runs there were.
    pub runs: usize,
    /// How many of them succeeded.
    pub succeeded: usize,
    /// Why the first that failed did.
    pub failure: Option<String>,
}

/// Sums up runs, in the order in which suites, works and peers first came.
pub fn summarise(runs: &[Run], reference: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for run in runs {
        if rows.iter().any(|row| same(row, run)) {
            continue;
        }
        let mine: Vec<&Run> = runs.iter().filter(|other| key(other) == key(run)).collect();
        let theirs: Vec<&Run> = runs
            .iter()
            .filter(|other| (other.suite, other.work) == (run.suite, run.work) && other.peer == reference)
            .collect();
        rows.push(Row {
            suite: run.suite,
            work: run.work,
            peer: run.peer.clone(),
            figures: figures(&mine, &theirs),
            runs: mine.len(),
            succeeded: mine.iter().filter(|run| run.outcome.is_ok()).count(),
            failure: mine.iter().find_map(|run| run.outcome.clone().err()),
        });
    }
    rows
}

/// The median of values; between two it is their middle.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}

fn figures(mine: &[&Run], theirs: &[&Run]) -> BTreeMap<Metric, Figure> {
    let mut values: BTreeMap<Metric, Vec<(usize, f64)>> = BTreeMap::new();
    for run in mine {
        for (metric, value) in run.outcome.iter().flatten() {
            values.entry(*metric).or_default().push((run.round, *value));
        }
    }
    let figure = |(metric, rounds): (Metric, Vec<(usize, f64)>)| {
        let mut ratios: Vec<f64> = rounds
            .iter()
            .filter_map(|(round, value)| {
                let other =
                    theirs.iter().find(|run| run.round == *round)?.outcome.as_ref().ok()?.get(&metric)?;
                (*other > 0.0).then(|| value / other)
            })
            .collect();
        let mut values: Vec<f64> = rounds.into_iter().map(|(_, value)| value).collect();
        let median_value = median(&mut values)?;
        let figure = Figure {
            median: median_value,
            min: *values.first()?,
            max: *values.last()?,
            ratio: median(&mut ratios),
        };
        Some((metric, figure))
    };
    values.into_iter().filter_map(figure).collect()
}

fn key(run: &Run) -> (Suite, Option<Work>, &str) {
    (run.suite, run.work, &run.peer)
}

fn same(row: &Row, run: &Run) -> bool {
    (row.suite, row.work, row.peer.as_str()) == key(run)
}

#[cfg(test)]
mod tests {
    use super::{median, summarise};
    use crate::{
        rounds::{Run, Suite},
        sample::{Metric, Sample},
    };

    #[test]
    fn the_median_of_an_even_count_is_in_the_middle() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn ratios_are_taken_within_a_round() {
        let run = |peer: &str, round, value| Run {
            suite: Suite::Agent,
            work: None,
            peer: peer.into(),
            round,
            outcome: Ok(Sample::from([(Metric::CpuMs, value)])),
        };
        // The machine was twice as slow in the second round, for both.
        let runs = [run("a", 0, 1.0), run("b", 0, 2.0), run("a", 1, 2.0), run("b", 1, 4.0)];
        let rows = summarise(&runs, "b");
        assert_eq!(rows[0].figures[&Metric::CpuMs].ratio, Some(0.5));
        assert_eq!(rows[1].figures[&Metric::CpuMs].ratio, Some(1.0));
    }
}
