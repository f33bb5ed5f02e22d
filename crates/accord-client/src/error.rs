//! What can go wrong, by whose fault it was.

use std::{fmt, path::PathBuf, time::Duration};

use accord_protocol::{
    rpc::{self, Fault, Misfit},
    v1::{AuthMethod, AuthMethodId, SessionConfigId, SessionModeId},
};
use accord_transport::{CallError, End, Lost, SpawnError};

use crate::{SessionStatus, auth};

/// Why a call on a connected agent failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This side asked for what cannot be; nothing was sent.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The agent answered with an error, here as it came.
    #[error("the agent refused {method}: {}", Refusal(error))]
    Refused {
        /// What was asked of it.
        method: &'static str,
        /// Its answer.
        error: rpc::Error,
    },
    /// The agent wants a login first, and none succeeded.
    #[error("the agent wants a login first ({}): {}", Methods(methods), Refusal(error))]
    AuthRequired {
        /// Its answer.
        error: rpc::Error,
        /// The ways to log in it advertises.
        methods: Vec<AuthMethod>,
    },
    /// The agent's answer is not of the promised form.
    #[error("the agent's answer to {method} is not of its form: {misfit}")]
    Undecodable {
        /// What was asked of it.
        method: &'static str,
        /// Where its answer goes wrong.
        misfit: Misfit,
    },
    /// The agent's answer is no JSON-RPC response.
    #[error("the agent's answer to {method} is malformed: {fault}")]
    Malformed {
        /// What was asked of it.
        method: &'static str,
        /// What is wrong with it.
        fault: Fault,
    },
    /// The connection ended before the answer came.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// No answer came in time. The agent was told that nobody waits for it any more.
    #[error("the agent did not answer {method} within {after:?}")]
    Timeout {
        /// What was asked of it.
        method: &'static str,
        /// How long it had.
        after: Duration,
    },
    /// What was to be sent is larger than a message may be.
    #[error("{method} was not sent: {cause}")]
    NotSent {
        /// What was to be asked.
        method: &'static str,
        /// Why it was not.
        #[source]
        cause: CallError,
    },
}

/// What a caller may not ask for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// The agent does not advertise what this needs.
    #[error("the agent does not offer {capability}, which {what} needs")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
        /// The capability, by its path in the agent's answer to `initialize`.
        capability: &'static str,
    },
    /// A path is not absolute.
    #[error("{what} must be an absolute path, not {}", path.display())]
    RelativePath {
        /// Which path.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// A prompt has no content.
    #[error("a prompt needs content")]
    EmptyPrompt,
    /// The session does not take a prompt now; the status says why.
    #[error("the session cannot take a prompt: {}", busy(*status))]
    Busy {
        /// What the session is doing.
        status: SessionStatus,
    },
    /// The session does not offer that mode.
    #[error("the session offers no mode `{mode}`")]
    UnknownMode {
        /// The mode asked for.
        mode: SessionModeId,
    },
    /// The session does not offer that configuration option.
    #[error("the session offers no configuration option `{option}`")]
    UnknownOption {
        /// The option asked for.
        option: SessionConfigId,
    },
    /// The value is not among the option's.
    #[error("`{value}` is no value of the configuration option `{option}`")]
    UnknownValue {
        /// The option.
        option: SessionConfigId,
        /// The value asked for.
        value: String,
    },
    /// The agent does not advertise that way to log in, or it is one to be run in a terminal.
    #[error("the agent advertises no login method `{method}` that a request can start")]
    UnknownAuthMethod {
        /// The method asked for.
        method: String,
    },
}

/// Why there is no connected agent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The program ended, or closed its output, before it agreed on the protocol.
    #[error("the agent ended before it answered initialize: {0}")]
    Ended(End),
    /// No answer to `initialize` came in time; the program was ended.
    #[error("the agent did not answer initialize within {after:?}{}", Tail(end))]
    Timeout {
        /// How long it had.
        after: Duration,
        /// How the program ended, with the last lines it printed.
        end: End,
    },
    /// The agent refused `initialize`.
    #[error("the agent refused initialize: {}", Refusal(.0))]
    Refused(rpc::Error),
    /// The agent speaks another version of the protocol.
    #[error("the agent speaks version {agent} of the protocol, this client version {ours}")]
    Version {
        /// The version the agent answered with.
        agent: u16,
        /// The version this client speaks.
        ours: u16,
    },
    /// The agent's answer to `initialize` is not of the promised form.
    #[error("the agent's answer to initialize is not of its form: {0}")]
    Undecodable(Misfit),
    /// The handshake failed in another way.
    #[error("initialize failed: {0}")]
    Handshake(#[source] CallError),
    /// The byte stream was used for a connection already, and there is no other.
    #[error("the byte stream to the agent was used already")]
    StreamUsed,
    /// The registry has no agent of that name.
    #[error("no agent named `{name}` is configured")]
    NotConfigured {
        /// The name asked for.
        name: String,
    },
}

/// Why a turn has no stop reason.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The agent answered the prompt with an error, here as it came.
    #[error("the agent failed the turn: {}", Refusal(.0))]
    Refused(rpc::Error),
    /// The agent's answer is not of the promised form.
    #[error("the agent's answer to the prompt is not of its form: {0}")]
    Undecodable(Misfit),
    /// The agent's answer is no JSON-RPC response.
    #[error("the agent's answer to the prompt is malformed: {0}")]
    Malformed(Fault),
    /// The connection ended during the turn.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The turn's deadline passed. The agent was told to cancel.
    #[error("the turn was cut off: {limit}")]
    Deadline {
        /// Which limit it was.
        limit: Limit,
    },
    /// The agent did not answer the prompt within the grace after a cancel.
    #[error("the agent ignored the cancel for {grace:?}")]
    CancelIgnored {
        /// How long it had.
        grace: Duration,
    },
    /// The session was closed during the turn.
    #[error("the session was closed during the turn")]
    SessionClosed,
}

/// A limit on a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The whole turn took this long.
    Total(Duration),
    /// Nothing came from the agent for this long, and no question of its was open.
    Silence(Duration),
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Total(limit) => write!(f, "it took longer than {limit:?}"),
            Self::Silence(limit) => write!(f, "nothing came for {limit:?}"),
        }
    }
}

impl Error {
    /// What a transport's call failed with, as this crate tells it.
    pub(crate) fn of_call(method: &'static str, error: CallError) -> Self {
        match error {
            CallError::Refused(error) => Self::Refused { method, error },
            CallError::Lost(lost) => Self::Lost(lost),
            CallError::Undecodable { misfit, .. } => Self::Undecodable { method, misfit },
            CallError::Malformed(fault) => Self::Malformed { method, fault },
            cause => Self::NotSent { method, cause },
        }
    }

    /// The agent's own error, if it answered with one.
    pub fn refusal(&self) -> Option<&rpc::Error> {
        match self {
            Self::Refused { error, .. } | Self::AuthRequired { error, .. } => Some(error),
            _ => None,
        }
    }
}

fn busy(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::Idle => "it is idle",
        SessionStatus::Running => "it is already running a turn",
        SessionStatus::Cancelling => "its last turn is still being cancelled",
        SessionStatus::Unresponsive => "the agent ignored the cancel of its last turn",
        SessionStatus::Closing => "it is closing",
        SessionStatus::Closed => "it is closed",
    }
}

/// An agent's error for people: often only the data says what was wrong.
struct Refusal<'a>(&'a rpc::Error);

impl fmt::Display for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        match &self.0.data {
            Some(data) if data.get() != "null" => write!(f, ": {}", data.get()),
            _ => Ok(()),
        }
    }
}

struct Methods<'a>(&'a [AuthMethod]);

impl fmt::Display for Methods<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("it advertises no way to log in");
        }
        f.write_str("it advertises ")?;
        for (position, method) in self.0.iter().enumerate() {
            let separator = if position == 0 { "" } else { ", " };
            let id = auth::id_of(method).map_or("another kind of method", AuthMethodId::as_str);
            write!(f, "{separator}`{id}`")?;
        }
        Ok(())
    }
}

struct Tail<'a>(&'a End);

impl fmt::Display for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "; {}", self.0)
    }
}
