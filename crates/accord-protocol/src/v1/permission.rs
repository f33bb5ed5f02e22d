//! Asking the person before a tool runs.

use super::{SessionId, ToolCallUpdate};
use crate::open::{from, id, record, strings, tagged};

id! {
    /// Names an option within its request; the agent chooses it.
    pub struct PermissionOptionId;
}

record! {
    /// Asks the person whether a tool call may go on (`session/request_permission`).
    ///
    /// Sent by the agent; answered with [`RequestPermissionResponse`].
    ///
    /// See [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    pub struct RequestPermissionRequest {
        required {
            /// The session.
            strict session_id: SessionId,
            /// The tool call, with what there is to say about it.
            strict tool_call: ToolCallUpdate,
            /// What the person can choose.
            strict options: Vec<PermissionOption>,
        }
    }
}

record! {
    /// What the person chose.
    ///
    /// The client's answer to [`RequestPermissionRequest`].
    ///
    /// See [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    pub struct RequestPermissionResponse {
        required {
            /// The choice, or that there is none because the turn was cancelled.
            strict outcome: RequestPermissionOutcome,
        }
    }
}

record! {
    /// One of the answers a person can choose.
    ///
    /// See [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    pub struct PermissionOption {
        required {
            /// Which option it is.
            strict option_id: PermissionOptionId,
            /// What to call it, for people.
            strict name: String,
            /// What it means; clients choose icons and keys by it.
            strict kind: PermissionOptionKind,
        }
    }
}

strings! {
    /// What an option means.
    ///
    /// See [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    pub enum PermissionOptionKind {
        /// Yes, this time.
        AllowOnce = "allow_once",
        /// Yes, and do not ask again.
        AllowAlways = "allow_always",
        /// No, this time.
        RejectOnce = "reject_once",
        /// No, and do not ask again.
        RejectAlways = "reject_always",
    }
}

tagged! {
    /// How a request for permission ended.
    ///
    /// See [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    pub enum RequestPermissionOutcome by "outcome" {
        /// The turn was cancelled before the person chose.
        "cancelled" => Cancelled,
        /// The person chose an option.
        "selected" => Selected(SelectedPermissionOutcome),
    }
}

from!(RequestPermissionOutcome {
    Selected(SelectedPermissionOutcome),
});

impl RequestPermissionOutcome {
    /// The person chose `option`.
    #[must_use]
    pub fn selected(option: impl Into<PermissionOptionId>) -> Self {
        Self::Selected(SelectedPermissionOutcome::new(option))
    }
}

record! {
    /// The option which the person chose.
    pub struct SelectedPermissionOutcome {
        required {
            /// Which option it is.
            strict option_id: PermissionOptionId,
        }
    }
}
