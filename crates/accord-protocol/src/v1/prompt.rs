//! A turn: the person's prompt, and why the agent stopped.

use super::{ContentBlock, SessionId, Usage};
use crate::open::{Maybe, record, strings};

record! {
    /// Begins a turn (`session/prompt`); the answer comes when the turn ends, updates before it.
    ///
    /// Sent by the client; answered with [`PromptResponse`].
    ///
    /// See [User message](https://agentclientprotocol.com/protocol/v1/prompt-turn#1-user-message).
    pub struct PromptRequest {
        required {
            /// The session.
            strict session_id: SessionId,
            /// What the person says.
            strict prompt: Vec<ContentBlock>,
        }
    }
}

record! {
    /// The turn has ended.
    ///
    /// The agent's answer to [`PromptRequest`].
    ///
    /// See [Check for completion](https://agentclientprotocol.com/protocol/v1/prompt-turn#4-check-for-completion).
    pub struct PromptResponse {
        required {
            /// Why it ended.
            strict stop_reason: StopReason,
        }
        optional {
            /// The tokens the turn has used, as some agents tell them; not in the stable protocol.
            lenient usage: Maybe<Usage>,
        }
    }
}

strings! {
    /// Why a turn ended.
    ///
    /// See [Stop reasons](https://agentclientprotocol.com/protocol/v1/prompt-turn#stop-reasons).
    pub enum StopReason {
        /// The agent is done.
        EndTurn = "end_turn",
        /// The model's limit of tokens was reached.
        MaxTokens = "max_tokens",
        /// The limit of model requests in one turn was reached.
        MaxTurnRequests = "max_turn_requests",
        /// The agent refuses to go on; neither this prompt nor what followed will be part of the next one.
        Refusal = "refusal",
        /// The client cancelled the turn.
        Cancelled = "cancelled",
    }
}
