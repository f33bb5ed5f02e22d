//! Cancelling: a turn by its session, or any request by its id.

use super::{RequestId, SessionId};
use crate::open::record;

record! {
    /// Asks the agent to end the session's turn (`session/cancel`); the prompt is then answered with
    /// [`StopReason::Cancelled`](super::StopReason::Cancelled).
    ///
    /// Sent by the client.
    ///
    /// See [Cancellation of a turn](https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation).
    pub struct CancelNotification {
        required {
            /// The session whose turn is to end.
            strict session_id: SessionId,
        }
    }
}

record! {
    /// Asks the other side to give a request up (`$/cancel_request`); it is still answered.
    ///
    /// Sent by whichever side sent the request.
    ///
    /// See [Cancellation](https://agentclientprotocol.com/protocol/v1/cancellation).
    pub struct CancelRequestNotification {
        required {
            /// The request, by the id it was sent with.
            strict request_id: RequestId,
        }
    }
}
