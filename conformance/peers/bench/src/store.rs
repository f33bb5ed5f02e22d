//! Works of agents that keep their sessions: what durability, a long list and a long history cost.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    agent::{self, Agent},
    rounds::LIMIT,
    sample::{Metric, Sample, mb, ms, percentiles},
    work::Work,
};

/// What stands for the folder in an agent's command; one without it keeps nothing.
pub const FOLDER: &str = "{store}";
/// How often the list is walked from its start to its end.
const WALKS: usize = 5;
/// The text of each update in a long history, in bytes.
const HISTORY_TEXT: u64 = 1024;

/// Runs one work on a fresh process with a fresh folder; `{store}` in the command stands for the folder.
///
/// # Errors
///
/// Fails when the agent fails.
pub fn run(command: &str, work: Work) -> Result<Sample> {
    let folder = Folder::new()?;
    let command = command.replace(FOLDER, &format!("'{}'", folder.0.display()));
    match work {
        Work::New(count) => new_sessions(&command, count),
        Work::List(count) => list(&command, count),
        Work::Load(count) => load(&command, count),
        _ => agent::run_at_least(&command, work, LIMIT),
    }
}

/// Each `session/new` by itself: it is answered once it is safe.
fn new_sessions(command: &str, count: u64) -> Result<Sample> {
    let mut agent = Agent::start(command, LIMIT)?;
    let (clock, began) = (agent.meter().cpu()?, Instant::now());
    let mut trips = Vec::new();
    for _ in 0..count {
        let sent = Instant::now();
        agent.new_session()?;
        trips.push(u64::try_from(sent.elapsed().as_nanos())?);
    }
    finish(agent, clock, began, trips)
}

/// Pages of the list in a new process, with the first and the last pages apart: they should cost the same.
fn list(command: &str, count: u64) -> Result<Sample> {
    let mut agent = Agent::start(command, LIMIT)?;
    for _ in 0..count {
        agent.new_session()?;
    }
    agent.stop()?;

    let mut agent = Agent::start(command, LIMIT)?;
    let start = agent.start;
    let (clock, began) = (agent.meter().cpu()?, Instant::now());
    let (mut trips, mut first, mut last) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..WALKS {
        let (pages, listed) = walk(&mut agent)?;
        ensure!(listed == count, "{listed} of {count} sessions were listed");
        let tenth = pages.len().div_ceil(10);
        first.extend_from_slice(&pages[..tenth]);
        last.extend_from_slice(&pages[pages.len() - tenth..]);
        trips.extend(pages);
    }
    let mut sample = finish(agent, clock, began, trips)?;
    sample.insert(Metric::StartMs, ms(start));
    for (metric, trips) in [(Metric::FirstUs, first), (Metric::LastUs, last)] {
        sample.extend(percentiles(trips).map(|(p50, _)| (metric, p50)));
    }
    Ok(sample)
}

/// Walks the list once: the nanoseconds of each page, and how many sessions there were.
fn walk(agent: &mut Agent) -> Result<(Vec<u64>, u64)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Page {
        sessions: Vec<serde::de::IgnoredAny>,
        next_cursor: Option<Value>,
    }
    let (mut pages, mut listed, mut params) = (Vec::new(), 0, json!({}));
    loop {
        let sent = Instant::now();
        let answer = agent.call("session/list", &params.to_string())?;
        pages.push(u64::try_from(sent.elapsed().as_nanos())?);
        let page: Page = serde_json::from_str(&answer)?;
        listed += page.sessions.len() as u64;
        let Some(cursor) = page.next_cursor else { return Ok((pages, listed)) };
        params = json!({ "cursor": cursor });
    }
}

/// A long history, replayed by a new process.
fn load(command: &str, count: u64) -> Result<Sample> {
    let mut agent = Agent::start(command, LIMIT)?;
    let session = agent.new_session()?;
    let words = Work::Stream(count, HISTORY_TEXT).to_string();
    agent.call("session/prompt", &agent::prompt(&session, &words))?;
    agent.stop()?;

    let mut agent = Agent::start(command, LIMIT)?;
    let params = format!(r#"{{"sessionId":{session},"cwd":"/tmp","mcpServers":[]}}"#);
    let (clock, began) = (agent.meter().cpu()?, Instant::now());
    agent.call("session/load", &params)?;
    ensure!(agent.updates > 0, "nothing was replayed");
    finish(agent, clock, began, Vec::new())
}

fn finish(agent: Agent, clock: Duration, began: Instant, trips: Vec<u64>) -> Result<Sample> {
    let wall = began.elapsed();
    let cpu = agent.meter().cpu()?.saturating_sub(clock);
    let peak = agent.meter().peak_kb().context("it ended early")?;
    agent.stop()?;
    let mut sample =
        Sample::from([(Metric::CpuMs, ms(cpu)), (Metric::WallMs, ms(wall)), (Metric::PeakMb, mb(peak))]);
    if let Some((p50, p99)) = percentiles(trips) {
        sample.extend([(Metric::P50Us, p50), (Metric::P99Us, p99)]);
    }
    Ok(sample)
}

/// A folder that is gone when the run is over.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("accord-bench-store-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).with_context(|| format!("make {}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
