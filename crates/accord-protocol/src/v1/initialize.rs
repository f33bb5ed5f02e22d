//! The first exchange: versions, capabilities and names.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AgentCapabilities, AuthMethod, ClientCapabilities};
use crate::open::{Maybe, record};

record! {
    /// Opens the connection (`initialize`): what the client is and can do.
    ///
    /// Sent by the client; answered with [`InitializeResponse`].
    ///
    /// See [Initialization](https://agentclientprotocol.com/protocol/v1/initialization).
    pub struct InitializeRequest {
        required {
            /// The newest version the client speaks.
            strict protocol_version: ProtocolVersion,
        }
        optional {
            /// What the client can do; absent means none of it.
            lenient client_capabilities: Option<ClientCapabilities> = {},
            /// What the client is.
            lenient client_info: Maybe<Implementation>,
        }
    }
}

record! {
    /// What the agent is and can do.
    ///
    /// The agent's answer to [`InitializeRequest`].
    ///
    /// See [Initialization](https://agentclientprotocol.com/protocol/v1/initialization).
    pub struct InitializeResponse {
        required {
            /// The version to speak: the client's if the agent knows it, else the newest the agent knows.
            strict protocol_version: ProtocolVersion,
        }
        optional {
            /// What the agent can do; absent means none of it.
            lenient agent_capabilities: Option<AgentCapabilities> = {},
            /// The ways to sign in; none means that nobody need sign in.
            lenient auth_methods: Option<Vec<AuthMethod>> = [],
            /// What the agent is.
            lenient agent_info: Maybe<Implementation>,
        }
    }
}

record! {
    /// A program's name and version.
    ///
    /// See [Initialization](https://agentclientprotocol.com/protocol/v1/initialization).
    pub struct Implementation {
        required {
            /// Its name, for programs.
            strict name: String,
            /// Its version.
            strict version: String,
        }
        optional {
            /// What to call it, for people; the name unless said.
            lenient title: Maybe<String>,
        }
    }
}

/// A version of the protocol; it changes only when the protocol breaks.
///
/// See [Initialization](https://agentclientprotocol.com/protocol/v1/initialization).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProtocolVersion(u16);

impl ProtocolVersion {
    /// The version these types are of.
    pub const V1: Self = Self(1);

    /// The number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl From<u16> for ProtocolVersion {
    fn from(version: u16) -> Self {
        Self(version)
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
