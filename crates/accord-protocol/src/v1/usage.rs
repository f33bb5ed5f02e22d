//! How full the context window is, and what the session has cost.

use crate::open::{Maybe, record};

record! {
    /// How full the context window is now, and what the session has cost so far.
    ///
    /// See [Agent reports output](https://agentclientprotocol.com/protocol/v1/prompt-turn#3-agent-reports-output).
    pub struct UsageUpdate {
        required {
            /// Tokens in the context window.
            strict used: u64,
            /// Tokens that fit into it.
            strict size: u64,
        }
        optional {
            /// What the whole session has cost; absent or null when unknown.
            lenient cost: Maybe<Cost>,
        }
    }
}

record! {
    /// An amount of money or of credits.
    pub struct Cost {
        required {
            /// How much.
            strict amount: f64,
            /// Of what: an ISO 4217 code such as `EUR`, or another unit such as `credits`.
            strict currency: String,
        }
    }
}
