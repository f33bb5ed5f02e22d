//! The rounds: each visits every work and every peer, in an order that turns, so that no peer always runs first.

use std::time::Duration;

use anyhow::Result;
use serde::{Serialize, Serializer};

use crate::{
    agent,
    client::{self, Pace},
    instructions,
    options::{Options, Peer},
    sample::{Metric, Sample},
    store::{self, FOLDER},
    work::Work,
};

/// How long a run may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(300);
/// For how long nothing is read of an agent that should stop writing.
const STALL: Duration = Duration::from_secs(12);
/// The run whose processor time is taken as a client's start and end.
const EMPTY: Work = Work::Stream(1, 64);

/// A group of works that measure the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    /// Agents at work.
    Agent,
    /// Clients at work.
    Client,
    /// Agents that start, idle and end.
    Start,
    /// Agents whose client stops reading.
    Stall,
    /// Clients whose handler is slow.
    Slow,
    /// Agents that keep their sessions.
    Store,
    /// The instructions of agents at work, counted by valgrind.
    AgentInstructions,
    /// The instructions of clients at work, counted by valgrind.
    ClientInstructions,
}

impl Suite {
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 8] = [
        Self::Agent,
        Self::Client,
        Self::Start,
        Self::Stall,
        Self::Slow,
        Self::Store,
        Self::AgentInstructions,
        Self::ClientInstructions,
    ];

    /// Its name, as it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Client => "client",
            Self::Start => "start",
            Self::Stall => "stall",
            Self::Slow => "slow",
            Self::Store => "store",
            Self::AgentInstructions => "agent-instructions",
            Self::ClientInstructions => "client-instructions",
        }
    }

    fn is_of_clients(self) -> bool {
        matches!(self, Self::Client | Self::Slow | Self::ClientInstructions)
    }

    /// The works it runs if no other is asked for.
    fn works(self) -> Vec<Work> {
        match self {
            Self::Agent | Self::AgentInstructions => vec![
                Work::Ping(20_000),
                Work::Stream(200_000, 64),
                Work::Stream(20_000, 4096),
                Work::Stream(200, 1 << 20),
                Work::Tools(50_000),
                Work::Permit(20_000),
                Work::Sessions(1000),
                Work::Echo(20_000_000),
            ],
            Self::Client | Self::ClientInstructions => vec![
                Work::Stream(200_000, 64),
                Work::Stream(20_000, 4096),
                Work::Stream(200, 1 << 20),
                Work::Mixed(200_000),
                Work::Permit(5000),
            ],
            Self::Start => Vec::new(),
            Self::Stall => vec![Work::Stream(2000, 1 << 20), Work::Stream(2_000_000, 1024)],
            Self::Slow => vec![Work::Stream(500_000, 1024)],
            Self::Store => vec![
                Work::New(1000),
                Work::Sessions(1000),
                Work::Ping(2000),
                Work::Stream(200_000, 64),
                Work::Stream(20_000, 4096),
                Work::List(10_000),
                Work::Load(50_000),
            ],
        }
    }
}

/// One run and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The suite it belongs to.
    pub suite: Suite,
    /// The work; `None` where the suite has none.
    #[serde(serialize_with = "work_as_text")]
    pub work: Option<Work>,
    /// The peer's name.
    pub peer: String,
    /// The round, from 0.
    pub round: usize,
    /// What was measured, or why it failed.
    pub outcome: Result<Sample, String>,
}

/// Runs a suite, round after round.
pub fn run(suite: Suite, options: &Options) -> Vec<Run> {
    let peers = match suite {
        Suite::Store => &options.stored,
        _ if suite.is_of_clients() => &options.clients,
        _ => &options.agents,
    };
    let rounds = match suite {
        // Instructions hardly differ from run to run.
        Suite::Stall | Suite::AgentInstructions | Suite::ClientInstructions => 1,
        Suite::Slow | Suite::Store => options.rounds.min(2),
        Suite::Agent | Suite::Client | Suite::Start => options.rounds,
    };
    let works = works(suite, options);
    let mut runs = Vec::new();
    for round in 0..rounds {
        for (place, work) in works.iter().enumerate() {
            let mut order: Vec<&Peer> = peers.iter().collect();
            order.rotate_left((round + place) % peers.len().max(1));
            // What keeps nothing has no list and nothing to load.
            order.retain(|peer| !needs_a_store(*work) || peer.command.contains(FOLDER));
            for peer in order {
                let outcome = once(suite, peer, *work, options).map_err(|error| format!("{error:#}"));
                runs.push(Run { suite, work: *work, peer: peer.name.clone(), round, outcome });
            }
        }
        eprintln!("{}: round {} of {rounds}", suite.name(), round + 1);
    }
    runs.sort_by_key(|run| {
        let work = works.iter().position(|work| *work == run.work);
        (work, peers.iter().position(|peer| peer.name == run.peer), run.round)
    });
    runs
}

fn needs_a_store(work: Option<Work>) -> bool {
    matches!(work, Some(Work::List(_) | Work::Load(_)))
}

/// Writes a work as the words that ask for it.
#[expect(clippy::ref_option, reason = "serde hands a field over like this")]
pub(crate) fn work_as_text<S: Serializer>(work: &Option<Work>, serializer: S) -> Result<S::Ok, S::Error> {
    work.as_ref().map(Work::to_string).serialize(serializer)
}

fn works(suite: Suite, options: &Options) -> Vec<Option<Work>> {
    match suite {
        Suite::Start => vec![None],
        Suite::Stall | Suite::Slow => suite.works().into_iter().map(Some).collect(),
        Suite::Agent
        | Suite::Client
        | Suite::Store
        | Suite::AgentInstructions
        | Suite::ClientInstructions => {
            let works = if options.works.is_empty() { suite.works() } else { options.works.clone() };
            let fits = |work: &Work| match work {
                Work::Mixed(_) => suite.is_of_clients(),
                // One echo is no slope.
                Work::Echo(_) => suite == Suite::Agent,
                Work::Ping(_) | Work::Sessions(_) => !suite.is_of_clients(),
                Work::New(_) | Work::List(_) | Work::Load(_) => suite == Suite::Store,
                Work::Stream(..) | Work::Tools(_) | Work::Permit(_) => true,
            };
            let quick = |work: Work| match work {
                Work::Sessions(_) => work,
                _ if options.quick => work.repeated((work.count() / 10).max(1)),
                _ => work,
            };
            works.into_iter().filter(fits).map(|work| Some(quick(work))).collect()
        }
    }
}

fn once(suite: Suite, peer: &Peer, work: Option<Work>, options: &Options) -> Result<Sample> {
    let work = work.unwrap_or(EMPTY);
    match suite {
        Suite::Agent => agent::run(&peer.command, work, LIMIT),
        Suite::Start => agent::start_up(&peer.command, if options.quick { 5 } else { 15 }),
        Suite::Store => store::run(&peer.command, work),
        Suite::Stall => agent::stall(&peer.command, work, STALL),
        Suite::AgentInstructions => instructions::of_agent(&peer.command, work),
        Suite::ClientInstructions => instructions::of_client(&peer.command, &options.wire_agent, work),
        Suite::Slow => client::run(&peer.command, &options.wire_agent, work, Pace::Slow, LIMIT),
        Suite::Client => {
            let empty = client::run(&peer.command, &options.wire_agent, EMPTY, Pace::Full, LIMIT)?;
            let mut sample = client::run(&peer.command, &options.wire_agent, work, Pace::Full, LIMIT)?;
            // A work shorter than the noise of a start has no figure, rather than a wrong one.
            let net = sample[&Metric::CpuMs] - empty[&Metric::CpuMs];
            sample.remove(&Metric::CpuMs);
            sample.extend((net > 0.0).then_some((Metric::CpuMs, net)));
            Ok(sample)
        }
    }
}
