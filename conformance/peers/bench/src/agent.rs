//! Drives an agent as a client would, with as little of its own as possible, and measures the agent.

use std::{
    io::Write,
    process::{ChildStdin, ChildStdout},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::{
    frame::{Frame, classify},
    lines::Lines,
    process::{Meter, Process},
    sample::{Metric, Sample, mb, ms, percentiles},
    text::text,
    work::Work,
};

/// Round trips that come before the first measured one.
const WARM_UP: u64 = 200;

/// An agent that has answered `initialize`.
#[derive(Debug)]
pub struct Agent {
    process: Process,
    meter: Meter,
    input: ChildStdin,
    output: Lines<ChildStdout>,
    requests_sent: u64,
    /// The updates it has sent so far.
    pub updates: u64,
    /// The requests it has made so far.
    pub requests: u64,
    /// From its start to its answer to `initialize`.
    pub start: Duration,
}

impl Agent {
    /// Starts the command and waits for its answer to `initialize`; it is killed after `limit`.
    ///
    /// # Errors
    ///
    /// Fails when it cannot be started or does not answer.
    pub fn start(command: &str, limit: Duration) -> Result<Self> {
        let began = Instant::now();
        let mut process = Process::start(command, &[], &[], limit)?;
        let (input, output) = process.pipes()?;
        let mut agent = Self {
            meter: process.meter(),
            process,
            input,
            output: Lines::new(output),
            requests_sent: 0,
            updates: 0,
            requests: 0,
            start: Duration::ZERO,
        };
        agent.call(
            "initialize",
            r#"{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"bench","version":"1"}}"#,
        )?;
        agent.start = began.elapsed();
        Ok(agent)
    }

    /// Its clock and memory.
    pub fn meter(&self) -> Meter {
        self.meter
    }

    /// Makes a session and gives its id as it stands on the wire, with its quotes.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses or is gone.
    pub fn new_session(&mut self) -> Result<String> {
        #[derive(Deserialize)]
        struct NewSession {
            #[serde(rename = "sessionId")]
            session_id: Box<serde_json::value::RawValue>,
        }
        let answer = self.call("session/new", r#"{"cwd":"/tmp","mcpServers":[]}"#)?;
        let session: NewSession = serde_json::from_str(&answer)?;
        Ok(session.session_id.get().to_owned())
    }

    /// Sends a request without waiting, and gives its id.
    ///
    /// # Errors
    ///
    /// Fails when the agent is gone.
    pub fn send(&mut self, method: &str, params: &str) -> Result<u64> {
        self.requests_sent += 1;
        let id = self.requests_sent;
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#) + "\n";
        self.input.write_all(line.as_bytes()).context("write to the agent")?;
        Ok(id)
    }

    /// Sends a request and reads until its answer, which is given as it stands on the wire.
    ///
    /// # Errors
    ///
    /// Fails when the agent refuses or is gone.
    pub fn call(&mut self, method: &str, params: &str) -> Result<String> {
        let id = self.send(method, params)?.to_string();
        loop {
            let line = self.output.next_line().context("read from the agent")?;
            let line =
                line.with_context(|| format!("the agent's output ended before it answered {method}"))?;
            match classify(line)? {
                Frame::Update => self.updates += 1,
                Frame::Request(id) => {
                    self.requests += 1;
                    let answer = format!(
                        r#"{{"jsonrpc":"2.0","id":{},"result":{{"outcome":{{"outcome":"selected","optionId":"allow"}}}}}}"#,
                        id.get()
                    ) + "\n";
                    self.input.write_all(answer.as_bytes()).context("write to the agent")?;
                }
                Frame::Answer(answered, result) if answered == id => match result {
                    Ok(result) => return Ok(result.to_owned()),
                    Err(error) => bail!("{method} was refused: {error}"),
                },
                Frame::Answer(..) | Frame::Other => {}
            }
        }
    }

    /// Closes its input, reads what it still says, and gives the time it took to end; it is killed after three seconds.
    ///
    /// # Errors
    ///
    /// Fails when it did not end by itself with success.
    pub fn stop(self) -> Result<Duration> {
        let Self { process, input, mut output, meter, .. } = self;
        let began = Instant::now();
        drop(input);
        let _hurry = meter.kill_after(Duration::from_secs(3));
        output.drain().context("read the rest")?;
        process.end().context("after the end of its input")?;
        Ok(began.elapsed())
    }
}

/// Runs one work on a fresh process of the agent.
///
/// # Errors
///
/// Fails when the agent fails, or when the updates or requests are not as many as the work says.
pub fn run(command: &str, work: Work, limit: Duration) -> Result<Sample> {
    let (sample, updates) = measure(command, work, limit)?;
    if let Some(expected) = work.updates() {
        ensure!(updates == expected, "{updates} updates where {expected} were asked for");
    }
    Ok(sample)
}

/// As [`run`], for an agent that also tells of titles, usage and the like.
///
/// # Errors
///
/// Fails when the agent fails, or when there were fewer updates than the work says.
pub fn run_at_least(command: &str, work: Work, limit: Duration) -> Result<Sample> {
    let (sample, updates) = measure(command, work, limit)?;
    let expected = work.updates().unwrap_or(0);
    ensure!(updates >= expected, "{updates} updates where {expected} were asked for");
    Ok(sample)
}

fn measure(command: &str, work: Work, limit: Duration) -> Result<(Sample, u64)> {
    let mut agent = Agent::start(command, limit)?;
    let mut trips = Vec::new();
    let (began, clock);
    match work {
        Work::Ping(count) => {
            let params = prompt(&agent.new_session()?, "ping");
            for _ in 0..WARM_UP {
                agent.call("session/prompt", &params)?;
            }
            (clock, began) = (agent.meter.cpu()?, Instant::now());
            for _ in 0..count {
                let sent = Instant::now();
                agent.call("session/prompt", &params)?;
                trips.push(u64::try_from(sent.elapsed().as_nanos())?);
            }
        }
        Work::Sessions(count) => {
            (clock, began) = (agent.meter.cpu()?, Instant::now());
            let sessions = (0..count).map(|_| agent.new_session()).collect::<Result<Vec<_>>>()?;
            for session in &sessions {
                agent.call("session/prompt", &prompt(session, "ping"))?;
            }
        }
        Work::New(_) | Work::List(_) | Work::Load(_) => bail!("{work} needs a store"),
        Work::Stream(..) | Work::Tools(_) | Work::Mixed(_) | Work::Permit(_) | Work::Echo(_) => {
            let session = agent.new_session()?;
            let words = match work {
                Work::Echo(bytes) => format!("echo {}", text(usize::try_from(bytes)?)),
                _ => work.to_string(),
            };
            let params = prompt(&session, &words);
            (clock, began) = (agent.meter.cpu()?, Instant::now());
            agent.call("session/prompt", &params)?;
        }
    }
    let wall = began.elapsed();
    let cpu = agent.meter.cpu()?.saturating_sub(clock);
    let peak = agent.meter.peak_kb().context("it ended early")?;
    let (updates, requests) = (agent.updates, agent.requests);
    agent.stop()?;
    ensure!(requests == work.requests(), "{requests} requests where {} were asked for", work.requests());
    let mut sample =
        Sample::from([(Metric::CpuMs, ms(cpu)), (Metric::WallMs, ms(wall)), (Metric::PeakMb, mb(peak))]);
    if let Some((p50, p99)) = percentiles(trips) {
        sample.extend([(Metric::P50Us, p50), (Metric::P99Us, p99)]);
    }
    Ok((sample, updates))
}

/// Starts and ends the agent `times` times; each figure is the median.
///
/// # Errors
///
/// Fails when a start or an end fails.
pub fn start_up(command: &str, times: usize) -> Result<Sample> {
    let (mut starts, mut idle, mut exits, mut clocks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..times {
        let agent = Agent::start(command, Duration::from_secs(60))?;
        starts.push(ms(agent.start));
        // What a runtime still does after it has answered belongs to being idle.
        std::thread::sleep(Duration::from_millis(150));
        idle.push(mb(agent.meter.resident_kb().context("it ended early")?));
        clocks.push(ms(agent.meter.cpu()?));
        exits.push(ms(agent.stop()?));
    }
    let median = |mut values: Vec<f64>| crate::summary::median(&mut values).context("no start at all");
    Ok(Sample::from([
        (Metric::StartMs, median(starts)?),
        (Metric::IdleMb, median(idle)?),
        (Metric::CpuMs, median(clocks)?),
        (Metric::ExitMs, median(exits)?),
    ]))
}

/// Prompts the agent and then reads nothing for `time`: what it keeps in memory meanwhile.
///
/// # Errors
///
/// Fails when the agent ends meanwhile.
pub fn stall(command: &str, work: Work, time: Duration) -> Result<Sample> {
    /// Where it is given up: the machine's memory is not the agent's to fill.
    const MOST_KB: u64 = 6_000_000;
    let mut agent = Agent::start(command, time + Duration::from_secs(60))?;
    let params = prompt(&agent.new_session()?, &work.to_string());
    let clock = agent.meter.cpu()?;
    agent.send("session/prompt", &params)?;
    let began = Instant::now();
    while began.elapsed() < time {
        std::thread::sleep(Duration::from_millis(100));
        if agent.meter.resident_kb().context("it ended while nobody read")? > MOST_KB {
            break;
        }
    }
    let peak = agent.meter.peak_kb().context("it ended while nobody read")?;
    Ok(Sample::from([
        (Metric::PeakMb, mb(peak)),
        (Metric::CpuMs, ms(agent.meter.cpu()?.saturating_sub(clock))),
        (Metric::WallMs, ms(began.elapsed())),
    ]))
}

/// The parameters of a prompt; `session` is the id as it stands on the wire.
pub(crate) fn prompt(session: &str, words: &str) -> String {
    let text = serde_json::Value::from(words);
    format!(r#"{{"sessionId":{session},"prompt":[{{"type":"text","text":{text}}}]}}"#)
}
