//! What ties a method's name, its params and its answer together.

use serde::{Serialize, de::DeserializeOwned};

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a connection has two ends")]
pub enum Side {
    /// The coding agent: serves `session/prompt` and its like.
    Agent,
    /// The editor or controller: serves `session/request_permission` and its like.
    Client,
}

impl Side {
    /// The other end.
    #[must_use]
    pub const fn peer(self) -> Self {
        match self {
            Self::Agent => Self::Client,
            Self::Client => Self::Agent,
        }
    }
}

/// Who serves a notification: `$/cancel_request` may go either way, every other one has its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "one side, the other, or both")]
pub enum ServedBy {
    /// The agent receives it.
    Agent,
    /// The client receives it.
    Client,
    /// Either side may receive it.
    Both,
}

impl ServedBy {
    /// Whether `side` receives this notification.
    #[must_use]
    pub const fn includes(self, side: Side) -> bool {
        matches!((self, side), (Self::Both, _) | (Self::Agent, Side::Agent) | (Self::Client, Side::Client))
    }
}

/// The params of a request: they know their method, who serves it, and what answers it.
pub trait Request: Serialize + DeserializeOwned + Send + 'static {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// The side that receives the request and answers it.
    const SERVED_BY: Side;
    /// What a successful response holds.
    type Answer: Serialize + DeserializeOwned + Send + 'static;
}

/// The params of a notification: they know their method and who receives it.
pub trait Notification: Serialize + DeserializeOwned + Send + 'static {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// The side that receives the notification.
    const SERVED_BY: ServedBy;
}
