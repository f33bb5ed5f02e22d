//! What a store keeps of a session: a header, then records.

use accord_protocol::v1::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What is fixed when a session is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// The session.
    pub id: SessionId,
    /// The session it works for; a child is not listed and not resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// The working directory, absolute, with links resolved.
    pub cwd: String,
    /// The directories it was made with besides, absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    /// When it was made, in milliseconds since the epoch.
    pub created: u64,
}

impl Header {
    /// A top-level session.
    pub fn new(id: impl Into<SessionId>, cwd: impl Into<String>, created: u64) -> Self {
        Self { id: id.into(), parent: None, cwd: cwd.into(), directories: Vec::new(), created }
    }

    /// The same with directories besides its working directory.
    #[must_use]
    pub fn directories(mut self, directories: Vec<String>) -> Self {
        self.directories = directories;
        self
    }

    /// The same as a child of another session.
    #[must_use]
    pub fn parent(mut self, parent: SessionId) -> Self {
        self.parent = Some(parent);
        self
    }
}

/// One thing that happened in a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Record {
    /// A `session/update` as it went out, or would have: the user's own messages are among them.
    Update(Box<RawValue>),
    /// The end of a turn. What follows belongs to the next one, or to none.
    TurnEnd(TurnEnd),
    /// The chosen configuration, complete. The last one counts.
    Config(Box<RawValue>),
    /// A permission that was given, or refused, for good.
    Grant(Box<RawValue>),
    /// Something the backend remembers, in its own form.
    Backend(Box<RawValue>),
}

impl Record {
    /// Whether the record is a promise: it is on the disk before it is acknowledged.
    pub fn is_fact(&self) -> bool {
        matches!(self, Self::TurnEnd(_) | Self::Config(_) | Self::Grant(_))
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Update(a), Self::Update(b))
            | (Self::Config(a), Self::Config(b))
            | (Self::Grant(a), Self::Grant(b))
            | (Self::Backend(a), Self::Backend(b)) => a.get() == b.get(),
            (Self::TurnEnd(a), Self::TurnEnd(b)) => a == b,
            _ => false,
        }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TurnEnd {
    /// The stop reason, `failed`, or `interrupted` for a turn that its process did not survive.
    pub stop: String,
    /// When, in milliseconds since the epoch.
    pub at: u64,
    /// The session's title at that moment, so that a list finds it near the end of a long log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The session's additional directories at that moment, where they are not those it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directories: Option<Vec<String>>,
}

impl TurnEnd {
    /// The end of a turn in a session without a title.
    pub fn new(stop: impl Into<String>, at: u64) -> Self {
        Self { stop: stop.into(), at, title: None, directories: None }
    }

    /// In a session whose additional directories are not those it was made with.
    #[must_use]
    pub fn directories(mut self, directories: Option<Vec<String>>) -> Self {
        self.directories = directories;
        self
    }

    /// With the session's title.
    #[must_use]
    pub fn title(mut self, title: Option<String>) -> Self {
        self.title = title;
        self
    }
}
