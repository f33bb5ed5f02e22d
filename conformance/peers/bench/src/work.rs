//! The works: what a prompt asks of an agent, and how many updates and requests must come of it.

use std::{fmt, str::FromStr};

use anyhow::{Context, Result, bail};

/// One work, written as the words of the prompt that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// `ping`, so many prompts one after the other: each is answered at once.
    Ping(u64),
    /// `stream COUNT BYTES`: so many chunks of the agent's message with a text of so many bytes.
    Stream(u64, u64),
    /// `tools COUNT`: so many pairs of a `tool_call` and a `tool_call_update` that holds a diff of 2,048 bytes.
    Tools(u64),
    /// `mixed COUNT`: updates of all kinds in turn; only the driver's own agent answers it.
    Mixed(u64),
    /// `permit COUNT`: so many permission requests, each waited for.
    Permit(u64),
    /// So many `session/new`, then a `ping` in each.
    Sessions(u64),
    /// So many `session/new`, each timed by itself.
    New(u64),
    /// The pages of a list of so many stored sessions.
    List(u64),
    /// A stored session of so many updates of 1,024 bytes, loaded again.
    Load(u64),
    /// `echo TEXT` with a text of so many bytes, sent back as one chunk.
    Echo(u64),
}

impl Work {
    /// The updates that must arrive; `None` where an agent may send some of its own (a tool call before its permission).
    pub fn updates(self) -> Option<u64> {
        match self {
            Self::Stream(count, _) | Self::Mixed(count) => Some(count),
            Self::Tools(count) => Some(2 * count),
            Self::Echo(_) => Some(1),
            Self::Ping(_)
            | Self::Permit(_)
            | Self::Sessions(_)
            | Self::New(_)
            | Self::List(_)
            | Self::Load(_) => None,
        }
    }

    /// The requests that must arrive.
    pub fn requests(self) -> u64 {
        if let Self::Permit(count) = self { count } else { 0 }
    }

    /// How often it is repeated; a text that is echoed is one repetition.
    pub fn count(self) -> u64 {
        match self {
            Self::Ping(count)
            | Self::Stream(count, _)
            | Self::Tools(count)
            | Self::Mixed(count)
            | Self::Permit(count)
            | Self::Sessions(count)
            | Self::New(count)
            | Self::List(count)
            | Self::Load(count) => count,
            Self::Echo(_) => 1,
        }
    }

    /// The same work, repeated so often; sizes stay.
    #[must_use]
    pub fn repeated(self, count: u64) -> Self {
        match self {
            Self::Ping(_) => Self::Ping(count),
            Self::Stream(_, bytes) => Self::Stream(count, bytes),
            Self::Tools(_) => Self::Tools(count),
            Self::Mixed(_) => Self::Mixed(count),
            Self::Permit(_) => Self::Permit(count),
            Self::Sessions(_) => Self::Sessions(count),
            Self::New(_) => Self::New(count),
            Self::List(_) => Self::List(count),
            Self::Load(_) => Self::Load(count),
            Self::Echo(_) => self,
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ping(count) => write!(f, "ping {count}"),
            Self::Stream(count, bytes) => write!(f, "stream {count} {bytes}"),
            Self::Tools(count) => write!(f, "tools {count}"),
            Self::Mixed(count) => write!(f, "mixed {count}"),
            Self::Permit(count) => write!(f, "permit {count}"),
            Self::Sessions(count) => write!(f, "sessions {count}"),
            Self::New(count) => write!(f, "new {count}"),
            Self::List(count) => write!(f, "list {count}"),
            Self::Load(count) => write!(f, "load {count}"),
            Self::Echo(bytes) => write!(f, "echo {bytes}"),
        }
    }
}

impl FromStr for Work {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut words = text.split_whitespace();
        let name = words.next().context("a work has a name")?;
        let numbers: Vec<u64> = words
            .map(|word| word.parse().with_context(|| format!("{word:?} in {text:?}")))
            .collect::<Result<_>>()?;
        Ok(match (name, numbers.as_slice()) {
            ("ping", &[count]) => Self::Ping(count),
            ("stream", &[count, bytes]) => Self::Stream(count, bytes),
            ("tools", &[count]) => Self::Tools(count),
            ("mixed", &[count]) => Self::Mixed(count),
            ("permit", &[count]) => Self::Permit(count),
            ("sessions", &[count]) => Self::Sessions(count),
            ("new", &[count]) => Self::New(count),
            ("list", &[count]) => Self::List(count),
            ("load", &[count]) => Self::Load(count),
            ("echo", &[bytes]) => Self::Echo(bytes),
            _ => bail!(
                "{text:?} is no work: ping N, stream N BYTES, tools N, mixed N, permit N, sessions N, new N, list N, load N, echo BYTES"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Work;

    #[test]
    fn a_work_is_written_as_it_is_read() {
        for text in [
            "ping 5",
            "stream 10 64",
            "tools 3",
            "mixed 4",
            "permit 2",
            "sessions 9",
            "new 2",
            "list 6",
            "load 8",
            "echo 7",
        ] {
            assert_eq!(text.parse::<Work>().unwrap().to_string(), text);
        }
        assert!("stream 10".parse::<Work>().is_err());
    }
}
