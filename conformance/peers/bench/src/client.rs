//! Runs a client against the driver's own agent and measures the client.

use std::{
    io::{BufRead, BufReader},
    sync::mpsc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::{
    process::{Meter, Process},
    sample::{Metric, Sample, mb, ms},
    work::Work,
};

/// How often the memory of a client is looked at; its peak is also looked at when it has printed its line.
const LOOK_EVERY: Duration = Duration::from_millis(8);

/// How a client is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as it can.
    Full,
    /// Its handler sleeps 1 ms after each 100 updates.
    Slow,
}

/// The line that a client prints.
#[derive(Debug, Deserialize)]
struct Line {
    count: u64,
    elapsed_ms: f64,
}

/// Runs one work on a fresh process of the client, with `agent` as the agent's command.
///
/// The processor time is that of the whole process; the rounds subtract what an empty run takes.
///
/// # Errors
///
/// Fails when the client fails, or when it has not counted the updates that the work says.
pub fn run(command: &str, agent: &str, work: Work, pace: Pace, limit: Duration) -> Result<Sample> {
    let slow: &[(&str, &str)] = if pace == Pace::Slow { &[("ACPBENCH_SLOW", "1")] } else { &[] };
    let mut process = Process::start(command, &[agent, &work.to_string()], slow, limit)?;
    let (input, output) = process.pipes()?;
    drop(input);
    let meter = process.meter();
    let (done, watched) = mpsc::channel();
    let watch = std::thread::spawn(move || watch_peak(meter, &watched));

    let mut line = None;
    for printed in BufReader::new(output).lines() {
        let printed = printed.context("read what the client prints")?;
        if printed.contains("\"count\"") {
            line = Some(serde_json::from_str::<Line>(&printed).with_context(|| printed.clone())?);
        }
    }
    let cpu = process.end()?;
    drop(done);
    let peak = watch.join().ok().context("the watch of its memory failed")?;
    let line = line.context("the client printed no line with its count")?;
    let expected = work.updates().unwrap_or(0);
    ensure!(line.count == expected, "it counted {} updates of {expected}", line.count);
    Ok(Sample::from([
        (Metric::CpuMs, ms(cpu)),
        (Metric::WallMs, line.elapsed_ms),
        (Metric::PeakMb, mb(peak)),
    ]))
}

/// Looks at the peak until the other side of the channel is dropped; the kernel forgets it with the process.
fn watch_peak(meter: Meter, watched: &mpsc::Receiver<()>) -> u64 {
    let began = Instant::now();
    let mut peak = 0;
    loop {
        peak = peak.max(meter.peak_kb().unwrap_or(0));
        // Short runs would be over before the second look.
        let pause = LOOK_EVERY.min(began.elapsed().max(Duration::from_millis(1)));
        if watched.recv_timeout(pause) == Err(mpsc::RecvTimeoutError::Disconnected) {
            return peak;
        }
    }
}
