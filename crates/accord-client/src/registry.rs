//! A file of configured agents, each with what its last handshake said.

mod file;
mod manifest;

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};

use accord_protocol::v1::InitializeResponse;
use accord_transport::AgentCommand;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

use crate::{Builder, Client, ConnectError, Handler};

pub use file::RegistryError;
pub use manifest::{Archive, Distribution, Manifest, ManifestError, Package};

/// A file of configured agents, shared by whoever starts them.
///
/// Every connection made through [`Registry::connect`] writes down how the handshake went, so what is offered to a
/// person and what the agent really says cannot drift apart. Clones share the file. Several processes may use one
/// file: each change is made under a lock, on what the file then holds, and replaces the file atomically.
#[derive(Debug, Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    agents: Mutex<Vec<ConfiguredAgent>>,
}

/// An agent as the user configured it.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConfiguredAgent {
    /// The name it is chosen by, unique in the registry.
    pub name: String,
    /// The program to start.
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment variables to add; often secret, so they are left out of `Debug`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The folder to start it in; the client's own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<PathBuf>,
    /// How the last handshake went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_handshake: Option<Handshake>,
    /// Members written by other programs, kept as they are.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What a handshake said, and when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Handshake {
    /// When it was made, in seconds since the Unix epoch.
    pub at: u64,
    /// Whether the agent can be used.
    pub availability: Availability,
}

/// Whether an agent can be used, as far as its last handshake tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "state")]
#[non_exhaustive]
pub enum Availability {
    /// No handshake was ever made.
    Unknown,
    /// The agent answered; this is its answer.
    Available {
        /// The answer to `initialize`: name, version, capabilities, ways to log in.
        #[serde(deserialize_with = "from_value")]
        agent: Box<InitializeResponse>,
    },
    /// The agent did not start, or did not agree on the protocol.
    Unavailable {
        /// Why, for a person to read.
        reason: String,
    },
}

impl Registry {
    /// Opens the registry at `path`; a missing file is an empty registry.
    ///
    /// # Errors
    /// [`RegistryError`] if the file cannot be read or is no registry. It is never overwritten in that case.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, RegistryError> {
        let path = path.into();
        let agents = Mutex::new(file::read(&path)?);
        Ok(Self { shared: Arc::new(Shared { path, agents }) })
    }

    /// The configured agents, in the file's order.
    pub fn agents(&self) -> Vec<ConfiguredAgent> {
        self.lock().clone()
    }

    /// The agent of that name.
    pub fn get(&self, name: &str) -> Option<ConfiguredAgent> {
        self.lock().iter().find(|agent| agent.name == name).cloned()
    }

    /// Whether the agent of that name can be used, from its last handshake.
    pub fn availability(&self, name: &str) -> Availability {
        let handshake = self.get(name).and_then(|agent| agent.last_handshake);
        handshake.map_or(Availability::Unknown, |handshake| handshake.availability)
    }

    /// Adds an agent, or replaces the one of the same name, and writes the file.
    ///
    /// # Errors
    /// [`RegistryError`] if the file cannot be read, locked or written.
    pub fn put(&self, agent: ConfiguredAgent) -> Result<(), RegistryError> {
        self.change(|agents| match agents.iter_mut().find(|known| known.name == agent.name) {
            Some(known) => *known = agent,
            None => agents.push(agent),
        })
    }

    /// Removes the agent of that name, if there is one, and writes the file.
    ///
    /// # Errors
    /// [`RegistryError`] if the file cannot be read, locked or written.
    pub fn remove(&self, name: &str) -> Result<(), RegistryError> {
        self.change(|agents| agents.retain(|agent| agent.name != name))
    }

    /// Writes down how a handshake with the agent of that name went. An agent removed meanwhile stays removed.
    ///
    /// # Errors
    /// [`RegistryError`] if the file cannot be read, locked or written.
    pub fn record(&self, name: &str, availability: Availability) -> Result<(), RegistryError> {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        self.change(|agents| {
            if let Some(agent) = agents.iter_mut().find(|agent| agent.name == name) {
                agent.last_handshake = Some(Handshake { at, availability });
            }
        })
    }

    /// Starts the agent of that name, and writes down how the handshake went.
    ///
    /// A registry file that cannot be written does not stop the agent from being used: that is traced.
    ///
    /// # Errors
    /// [`ConnectError::NotConfigured`] for an unknown name, otherwise what [`Builder::spawn`] gives.
    ///
    /// # Cancel safety
    /// Dropping the future ends the agent's process; the registry is then left as it was.
    pub async fn connect<H: Handler>(&self, name: &str, builder: Builder<H>) -> Result<Client, ConnectError> {
        let agent = self.get(name).ok_or_else(|| ConnectError::NotConfigured { name: name.to_owned() })?;
        let connected = builder.spawn(agent.to_command()).await;
        let availability = match &connected {
            Ok(client) => Availability::Available { agent: Box::new(client.agent().clone()) },
            Err(error) => Availability::Unavailable { reason: error.to_string() },
        };
        let (registry, owned) = (self.clone(), name.to_owned());
        let written = tokio::task::spawn_blocking(move || registry.record(&owned, availability)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(agent = name, %error, "the handshake could not be written to the registry");
        }
        connected
    }

    fn change(&self, edit: impl FnOnce(&mut Vec<ConfiguredAgent>)) -> Result<(), RegistryError> {
        let mut agents = self.lock();
        *agents = file::update(&self.shared.path, edit)?;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ConfiguredAgent>> {
        // A panic between two edits leaves a list that is whole: every edit is made on a fresh copy of the file.
        self.shared.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConfiguredAgent {
    /// An agent that is started as `command` without arguments.
    #[must_use]
    pub fn new(name: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            command: command.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            last_handshake: None,
            other: Map::new(),
        }
    }

    /// The command that starts it.
    #[must_use]
    pub fn to_command(&self) -> AgentCommand {
        let mut command = AgentCommand::new(&self.command).args(&self.args);
        for (name, value) in &self.env {
            command = command.env(name, value);
        }
        match &self.cwd {
            Some(cwd) => command.cwd(cwd),
            None => command,
        }
    }
}

impl fmt::Debug for ConfiguredAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredAgent")
            .field("name", &self.name)
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// The protocol's types keep raw JSON, which a buffering reader of tagged enums cannot hand them.
fn from_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<InitializeResponse>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    serde_json::from_value(value).map(Box::new).map_err(D::Error::custom)
}
