//! Session modes: ways of working that a person can switch between.

use super::SessionId;
use crate::open::{Maybe, id, record};

id! {
    /// Names a mode; the agent chooses it.
    pub struct SessionModeId;
}

record! {
    /// The modes a session has, and the one it is in.
    ///
    /// See [Session modes](https://agentclientprotocol.com/protocol/v1/session-modes).
    pub struct SessionModeState {
        required {
            /// The mode the session is in.
            strict current_mode_id: SessionModeId,
            /// The modes it can be in.
            lenient available_modes: Vec<SessionMode>,
        }
    }
}

record! {
    /// A way of working, such as "ask" or "code".
    ///
    /// See [Session modes](https://agentclientprotocol.com/protocol/v1/session-modes).
    pub struct SessionMode {
        required {
            /// Which mode it is.
            strict id: SessionModeId,
            /// What to call it, for people.
            strict name: String,
        }
        optional {
            /// What it means, for people.
            lenient description: Maybe<String>,
        }
    }
}

record! {
    /// Switches a session's mode (`session/set_mode`); allowed during a turn.
    ///
    /// Sent by the client; answered with [`SetSessionModeResponse`].
    ///
    /// See [Session modes](https://agentclientprotocol.com/protocol/v1/session-modes).
    pub struct SetSessionModeRequest {
        required {
            /// The session.
            strict session_id: SessionId,
            /// The mode, one of those the session has.
            strict mode_id: SessionModeId,
        }
    }
}

record! {
    /// The mode is switched.
    ///
    /// The agent's answer to [`SetSessionModeRequest`].
    ///
    /// See [Session modes](https://agentclientprotocol.com/protocol/v1/session-modes).
    pub message SetSessionModeResponse {}
}

record! {
    /// The session is now in another mode, whoever switched it.
    ///
    /// See [Session modes](https://agentclientprotocol.com/protocol/v1/session-modes).
    pub struct CurrentModeUpdate {
        required {
            /// The mode it is in.
            strict current_mode_id: SessionModeId,
        }
    }
}
