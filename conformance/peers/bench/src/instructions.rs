//! Counts instructions under valgrind: a figure that a busy machine does not change.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use anyhow::{Context, Result};

use crate::{
    agent,
    client::{self, Pace},
    rounds::LIMIT,
    sample::{Metric, Sample},
    work::Work,
};

/// The instructions of an agent for one repetition of a work.
///
/// # Errors
///
/// Fails when valgrind is not there or the agent fails.
pub fn of_agent(command: &str, work: Work) -> Result<Sample> {
    per_repetition(work, |work, counter| agent::run(&counter.wrap(command), work, LIMIT).map(drop))
}

/// The instructions of a client for one repetition of a work; those of the agent it starts do not count.
///
/// # Errors
///
/// Fails when valgrind is not there or the client fails.
pub fn of_client(command: &str, agent: &str, work: Work) -> Result<Sample> {
    per_repetition(work, |work, counter| {
        client::run(&counter.wrap(command), agent, work, Pace::Full, LIMIT).map(drop)
    })
}

/// Runs a work twice, the second time three times as long: the difference is free of start, warm-up and end.
#[expect(clippy::cast_precision_loss, reason = "instructions of a short work are far below 2^52")]
fn per_repetition(work: Work, run: impl Fn(Work, &Counter) -> Result<()>) -> Result<Sample> {
    const LARGE: u64 = 100_000;
    let count = match work {
        Work::Stream(_, bytes) if bytes > LARGE => 4,
        _ => 1000,
    };
    let counted = |count| {
        let counter = Counter::new();
        run(work.repeated(count), &counter)?;
        counter.read()
    };
    let (short, long) = (counted(count)?, counted(3 * count)?);
    let each = long.saturating_sub(short) as f64 / (2 * count) as f64;
    Ok(Sample::from([(Metric::Instructions, each)]))
}

/// Where valgrind writes its count.
struct Counter(PathBuf);

impl Counter {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("accord-bench-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }

    /// A command line, run under valgrind; its children are not.
    fn wrap(&self, command: &str) -> String {
        let log = self.0.display();
        format!(
            "valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null --fair-sched=try '--log-file={log}' {command}"
        )
    }

    fn read(&self) -> Result<u64> {
        let log = fs::read_to_string(&self.0).context("what valgrind counted")?;
        let count =
            log.lines().find_map(|line| line.split_once("refs:")).context("no count of valgrind's")?.1;
        count.trim().replace(',', "").parse().with_context(|| format!("a count: {count:?}"))
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = fs::remove_file(&self.0);
    }
}
