//! The bars: what Accord has set itself to reach, and whether a run reached it.

use serde::Serialize;

use crate::{rounds::Suite, sample::Metric, summary::Row, work::Work};

/// A limit on one figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bar {
    /// At most so many times the reference's figure of the same round.
    Ratio(f64),
    /// At most so much, in the figure's own unit.
    Most(f64),
}

/// A bar beside what was reached.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The suite.
    pub suite: Suite,
    /// The work; `None` where the suite has none.
    #[serde(serialize_with = "crate::rounds::work_as_text")]
    pub work: Option<Work>,
    /// The figure.
    pub metric: Metric,
    /// The bar.
    pub bar: Bar,
    /// What was reached; `None` when no run succeeded.
    pub reached: Option<f64>,
}

impl Verdict {
    /// Whether the bar is met, at the precision in which it is stated.
    pub fn met(&self) -> bool {
        let (Bar::Ratio(limit) | Bar::Most(limit)) = self.bar;
        self.reached.is_some_and(|reached| reached < limit + 0.005)
    }
}

/// The bars for a suite's work, whatever the number of its repetitions.
pub fn bars(suite: Suite, work: Option<Work>) -> Vec<(Metric, Bar)> {
    const MIB: u64 = 1 << 20;
    let cpu = |ratio| vec![(Metric::CpuMs, Bar::Ratio(ratio))];
    match (suite, work) {
        (Suite::Agent, Some(Work::Stream(_, 64))) => cpu(0.45),
        (Suite::Agent, Some(Work::Tools(_))) => cpu(0.55),
        (Suite::Agent | Suite::Client, Some(Work::Stream(_, 4096 | MIB))) => cpu(0.85),
        (Suite::Agent, Some(Work::Ping(_) | Work::Permit(_) | Work::Sessions(_))) => cpu(1.6),
        (Suite::Client, Some(Work::Stream(_, 64))) => cpu(0.9),
        (Suite::Client, Some(Work::Mixed(_))) => cpu(1.0),
        (Suite::Client, Some(Work::Permit(_))) => cpu(2.5),
        (Suite::Stall, Some(Work::Stream(_, MIB))) => vec![(Metric::PeakMb, Bar::Most(12.0))],
        (Suite::Stall | Suite::Slow, _) => vec![(Metric::PeakMb, Bar::Most(6.0))],
        (Suite::Start, _) => vec![(Metric::StartMs, Bar::Most(2.0)), (Metric::IdleMb, Bar::Most(4.5))],
        _ => Vec::new(),
    }
}

/// Holds the subject's rows against the bars.
pub fn judge(rows: &[Row], subject: &str) -> Vec<Verdict> {
    let verdicts = |row: &Row| {
        let row = row.clone();
        bars(row.suite, row.work).into_iter().map(move |(metric, bar)| {
            let figure = row.figures.get(&metric);
            let reached = figure.and_then(|figure| match bar {
                Bar::Ratio(_) => figure.ratio,
                Bar::Most(_) => Some(figure.median),
            });
            Verdict { suite: row.suite, work: row.work, metric, bar, reached }
        })
    };
    rows.iter().filter(|row| row.peer == subject).flat_map(verdicts).collect()
}

#[cfg(test)]
mod tests {
    use super::{Bar, Verdict};
    use crate::{rounds::Suite, sample::Metric};

    #[test]
    fn a_bar_is_met_at_the_precision_it_is_stated_in() {
        let verdict = |reached| Verdict {
            suite: Suite::Agent,
            work: None,
            metric: Metric::CpuMs,
            bar: Bar::Ratio(0.45),
            reached,
        };
        assert!(verdict(Some(0.454)).met());
        assert!(!verdict(Some(0.456)).met());
        assert!(!verdict(None).met());
    }
}
