//! Signing in and out.

use std::collections::BTreeMap;

use super::Secret;
use crate::open::{Maybe, from, id, record, tagged};

id! {
    /// Names a way to sign in; the agent chooses it.
    pub struct AuthMethodId;
}

tagged! {
    /// A way to sign in.
    ///
    /// See [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    pub enum AuthMethod by "type" {
        /// The client runs the agent's own program in a terminal, and does not call `authenticate` for it.
        "terminal" => Terminal(AuthMethodTerminal),
        else "agent" =>
        /// The agent does it itself when `authenticate` is called.
        Agent(AuthMethodAgent),
    }
}

from!(AuthMethod {
    Terminal(AuthMethodTerminal),
    Agent(AuthMethodAgent),
});

record! {
    /// Signing in by running the agent's command in a terminal; exit status 0 means that it worked.
    ///
    /// Offered only to clients with the capability `auth.terminal`.
    ///
    /// See [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    pub struct AuthMethodTerminal {
        required {
            /// Which method it is.
            strict id: AuthMethodId,
            /// What to call it, for people.
            strict name: String,
        }
        optional {
            /// What it does, for people.
            lenient description: Maybe<String>,
            /// Arguments to add to the agent's command; null means none, as when absent.
            nullable args: Option<Vec<String>>,
            /// Environment variables to set over the agent's; null means none, as when absent.
            nullable env: Option<BTreeMap<String, Secret>>,
        }
    }
}

record! {
    /// Signing in by calling `authenticate`.
    ///
    /// See [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    pub struct AuthMethodAgent {
        required {
            /// Which method it is.
            strict id: AuthMethodId,
            /// What to call it, for people.
            strict name: String,
        }
        optional {
            /// What it does, for people.
            lenient description: Maybe<String>,
        }
    }
}

record! {
    /// Signs in (`authenticate`).
    ///
    /// Sent by the client; answered with [`AuthenticateResponse`].
    ///
    /// See [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    pub struct AuthenticateRequest {
        required {
            /// The method, one of those which `initialize` offered.
            strict method_id: AuthMethodId,
        }
    }
}

record! {
    /// The person is signed in.
    ///
    /// The agent's answer to [`AuthenticateRequest`].
    ///
    /// See [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    pub message AuthenticateResponse {}
}

record! {
    /// Signs out (`logout`). Needs the agent capability `auth.logout`.
    ///
    /// Sent by the client; answered with [`LogoutResponse`].
    ///
    /// See [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    pub message LogoutRequest {}
}

record! {
    /// The person is signed out.
    ///
    /// The agent's answer to [`LogoutRequest`].
    ///
    /// See [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    pub message LogoutResponse {}
}
