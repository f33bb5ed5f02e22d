//! The figures as tables that can be put into a document: a line a work, a column a peer, the bar beside them.

use std::fmt::Write as _;

use crate::{
    bars::{Bar, bars},
    rounds::Suite,
    sample::Metric,
    summary::{Figure, Row},
};

/// The figures worth a table, in their order. Those that say how a peer compares are shown as ratios.
const SHOWN: [(Metric, bool); 8] = [
    (Metric::CpuMs, true),
    (Metric::Instructions, true),
    (Metric::WallMs, true),
    (Metric::P50Us, false),
    (Metric::PeakMb, false),
    (Metric::StartMs, false),
    (Metric::IdleMb, false),
    (Metric::ExitMs, false),
];

/// All suites' tables, one for each figure that was taken.
pub fn tables(rows: &[Row], reference: &str) -> String {
    let mut out = String::new();
    for suite in Suite::ALL {
        let of_suite: Vec<&Row> = rows.iter().filter(|row| row.suite == suite).collect();
        for (metric, is_compared) in SHOWN {
            let taken: Vec<&Row> =
                of_suite.iter().copied().filter(|row| row.figures.contains_key(&metric)).collect();
            if !taken.is_empty() {
                table(&mut out, (suite, metric), &taken, is_compared.then_some(reference));
            }
        }
    }
    out
}

/// With a reference, its own figures are in their unit and all others are ratios to them.
fn table(out: &mut String, (suite, metric): (Suite, Metric), rows: &[&Row], reference: Option<&str>) {
    let reference = reference.filter(|name| rows.iter().any(|row| row.peer == *name));
    let mut peers: Vec<&str> = Vec::new();
    for row in rows {
        if !peers.contains(&row.peer.as_str()) {
            peers.push(&row.peer);
        }
    }
    let unit = metric.label();
    let title = match reference {
        Some(reference) => format!("{}: {unit}, as ratios to {reference}", suite.name()),
        None => format!("{}: {unit}", suite.name()),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(out, "| {title} | bar | {} |\n|---|---|{}", peers.join(" | "), "---|".repeat(peers.len()));
    let mut done = Vec::new();
    for row in rows {
        if done.contains(&row.work) {
            continue;
        }
        done.push(row.work);
        let bar = bars(suite, row.work).into_iter().find(|(barred, _)| *barred == metric);
        let bar = bar.map_or_else(String::new, |(_, Bar::Ratio(limit) | Bar::Most(limit))| limit.to_string());
        let work = row.work.map_or_else(|| "all".to_owned(), |work| work.to_string());
        let _ = write!(out, "| {work} | {bar} |");
        for peer in &peers {
            let found = rows.iter().find(|other| other.work == row.work && other.peer == *peer);
            let figure = found.and_then(|row| row.figures.get(&metric));
            let cell = figure.map_or_else(|| "failed".to_owned(), |figure| cell(figure, *peer, reference));
            let _ = write!(out, " {cell} |");
        }
        out.push('\n');
    }
    out.push('\n');
}

fn cell(figure: &Figure, peer: &str, reference: Option<&str>) -> String {
    match (reference, figure.ratio) {
        (Some(reference), Some(ratio)) if peer != reference => format!("{ratio:.2}"),
        _ if figure.median < 100.0 => format!("{:.2}", figure.median),
        _ => format!("{:.0}", figure.median),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::tables;
    use crate::{
        rounds::Suite,
        sample::Metric,
        summary::{Figure, Row},
        work::Work,
    };

    #[test]
    fn the_reference_is_in_its_unit_and_others_are_ratios() {
        let row = |peer: &str, median, ratio| Row {
            suite: Suite::Agent,
            work: Some(Work::Ping(5)),
            peer: peer.into(),
            figures: BTreeMap::from([(
                Metric::CpuMs,
                Figure { median, min: median, max: median, ratio: Some(ratio) },
            )]),
            runs: 1,
            succeeded: 1,
            failure: None,
        };
        let text = tables(&[row("accord", 30.0, 1.5), row("serde", 20.0, 1.0)], "serde");
        assert_eq!(
            text,
            "| agent: CPU ms, as ratios to serde | bar | accord | serde |\n|---|---|---|---|\n| ping 5 | 1.6 | 1.50 | 20.00 |\n\n"
        );
    }
}
