//! The arguments of `accord-bench`.

use std::{path::PathBuf, str::FromStr};

use anyhow::{Context, Result, bail, ensure};

use crate::{rounds::Suite, work::Work};

/// What `accord-bench` says when it is asked for help.
pub const USAGE: &str = "\
accord-bench --agent NAME=COMMAND… --client NAME=COMMAND… [OPTIONS]
  --agent NAME=COMMAND    an agent to time; may be given again
  --client NAME=COMMAND   a client to time; may be given again
  --stored NAME=COMMAND   an agent that keeps its sessions in the folder that {store} stands for; may be given again
  --suite NAMES           of agent, client, start, stall, slow, store, agent-instructions, client-instructions (these need
                          valgrind), with commas, or all (default agent,client,start)
  --work WORK             only this work, such as 'stream 1000 64'; may be given again
  --rounds N              how often each is run (default 5)
  --quick                 a tenth of each work, three rounds
  --reference NAME        whose figures the ratios are to (default serde)
  --subject NAME          whose figures the bars are for (default accord)
  --cpu N|none            the processor everything is pinned to (default 1; 0 where there is one only)
  --json FILE             every run and every figure as JSON";

/// A command under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The name it has in the tables.
    pub name: String,
    /// Its command line.
    pub command: String,
}

/// What is to be run, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The agents.
    pub agents: Vec<Peer>,
    /// The clients.
    pub clients: Vec<Peer>,
    /// Agents that keep their sessions.
    pub stored: Vec<Peer>,
    /// The suites, in order.
    pub suites: Vec<Suite>,
    /// The only works; each suite's own if empty.
    pub works: Vec<Work>,
    /// How often each is run.
    pub rounds: usize,
    /// Whether a tenth of each work will do.
    pub quick: bool,
    /// Whose figures the ratios are to.
    pub reference: String,
    /// Whose figures the bars are for.
    pub subject: String,
    /// The processor everything is pinned to.
    pub cpu: Option<usize>,
    /// Where the figures go as JSON.
    pub json: Option<PathBuf>,
    /// The agent that clients are run against: ready-made frames, in writes of 64 KiB.
    pub wire_agent: String,
}

impl Options {
    /// Reads the arguments, the program's name left out.
    ///
    /// # Errors
    ///
    /// Fails when one is unknown or has no value it needs.
    pub fn parse(arguments: impl IntoIterator<Item = String>, wire_agent: String) -> Result<Self> {
        let mut options = Self {
            agents: Vec::new(),
            clients: Vec::new(),
            stored: Vec::new(),
            suites: vec![Suite::Agent, Suite::Client, Suite::Start],
            works: Vec::new(),
            rounds: 5,
            quick: false,
            reference: "serde".into(),
            subject: "accord".into(),
            cpu: Some(usize::from(std::thread::available_parallelism().is_ok_and(|count| count.get() > 1))),
            json: None,
            wire_agent,
        };
        let mut rounds = None;
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--agent" => options.agents.push(value()?.parse()?),
                "--client" => options.clients.push(value()?.parse()?),
                "--stored" => options.stored.push(value()?.parse()?),
                "--suite" => options.suites = suites(&value()?)?,
                "--work" => options.works.push(value()?.parse()?),
                "--rounds" => rounds = Some(value()?.parse().context("--rounds")?),
                "--quick" => options.quick = true,
                "--reference" => options.reference = value()?,
                "--subject" => options.subject = value()?,
                "--cpu" => options.cpu = cpu(&value()?)?,
                "--json" => options.json = Some(value()?.into()),
                _ => bail!("{argument} is unknown\n{USAGE}"),
            }
        }
        let nothing = options.agents.is_empty() && options.clients.is_empty() && options.stored.is_empty();
        ensure!(!nothing, "there is nothing to time\n{USAGE}");
        options.rounds = rounds.unwrap_or(if options.quick { 3 } else { 5 }).max(1);
        Ok(options)
    }
}

impl FromStr for Peer {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, command) =
            text.split_once('=').with_context(|| format!("{text:?} is not NAME=COMMAND"))?;
        Ok(Self { name: name.into(), command: command.into() })
    }
}

fn suites(names: &str) -> Result<Vec<Suite>> {
    if names == "all" {
        return Ok(Suite::ALL.to_vec());
    }
    let suite = |name: &str| {
        let found = Suite::ALL.into_iter().find(|suite| suite.name() == name);
        found.with_context(|| format!("there is no suite {name:?}"))
    };
    names.split(',').map(suite).collect()
}

fn cpu(value: &str) -> Result<Option<usize>> {
    if value == "none" { Ok(None) } else { Ok(Some(value.parse().context("--cpu")?)) }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(line: &str) -> anyhow::Result<Options> {
        Options::parse(line.split('|').map(str::to_owned), "wire-agent".into())
    }

    #[test]
    fn arguments_are_read() {
        let options = parse("--agent|a=/bin/a --fast|--work|stream 10 64|--suite|all|--quick").unwrap();
        assert_eq!(options.agents[0].command, "/bin/a --fast");
        assert_eq!((options.rounds, options.suites.len()), (3, 8));
        assert!(parse("--agent|a").is_err());
        assert!(parse("--agent|a=b|--nonsense").is_err());
        assert!(parse("--quick").is_err());
    }
}
