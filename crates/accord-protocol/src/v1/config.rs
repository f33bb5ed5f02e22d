//! Configuration options of a session: what a person can choose, such as the model.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, de::DeserializeOwned, ser::SerializeMap};

use super::SessionId;
use crate::{
    lenient::Lenient,
    open::{FromMembers, Inline, Maybe, Members, Unknown, from, id, record, strings, tagged, within},
};

id! {
    /// Names an option within its session; the agent chooses it.
    pub struct SessionConfigId;

    /// Names a value of a select; opaque to the client.
    pub struct SessionConfigValueId;

    /// Names a group of values.
    pub struct SessionConfigGroupId;
}

record! {
    /// Something a person can choose, and how it is set now.
    ///
    /// See [Session config options](https://agentclientprotocol.com/protocol/v1/session-config-options).
    pub struct SessionConfigOption {
        required {
            /// Which option it is.
            strict id: SessionConfigId,
            /// What to call it, for people.
            strict name: String,
        }
        optional {
            /// What it does, for people.
            lenient description: Maybe<String>,
            /// What it is about; only for the looks.
            lenient category: Maybe<SessionConfigOptionCategory>,
        }
        inline {
            /// What can be chosen, and what is.
            kind: SessionConfigKind,
        }
    }
}

impl SessionConfigOption {
    /// A choice of one among several values.
    #[must_use]
    pub fn select(
        id: impl Into<SessionConfigId>,
        name: impl Into<String>,
        current_value: impl Into<SessionConfigValueId>,
        options: impl Into<SessionConfigSelectOptions>,
    ) -> Self {
        Self::new(id, name, SessionConfigSelect::new(current_value, options))
    }

    /// A switch. Sent only to clients with the capability `session.configOptions.boolean`.
    #[must_use]
    pub fn boolean(id: impl Into<SessionConfigId>, name: impl Into<String>, current_value: bool) -> Self {
        Self::new(id, name, SessionConfigBoolean::new(current_value))
    }
}

strings! {
    /// What an option is about.
    pub enum SessionConfigOptionCategory {
        /// The session's mode.
        Mode = "mode",
        /// The model.
        Model = "model",
        /// Something about the model.
        ModelConfig = "model_config",
        /// How hard the model thinks.
        ThoughtLevel = "thought_level",
    }
}

tagged! {
    /// The sorts of option; the members lie in the option itself.
    ///
    /// See [Session config options](https://agentclientprotocol.com/protocol/v1/session-config-options).
    pub enum SessionConfigKind by "type" {
        /// One of several values.
        "select" => Select(SessionConfigSelect),
        /// On or off.
        "boolean" => Boolean(SessionConfigBoolean),
    }
}

from!(SessionConfigKind {
    Select(SessionConfigSelect),
    Boolean(SessionConfigBoolean),
});

record! {
    /// A choice of one among several values.
    pub part SessionConfigSelect {
        required {
            /// The value chosen now.
            strict current_value: SessionConfigValueId,
            /// The values there are.
            strict options: SessionConfigSelectOptions,
        }
    }
}

record! {
    /// A switch.
    pub part SessionConfigBoolean {
        required {
            /// Whether it is on.
            strict current_value: bool,
        }
    }
}

/// The values of a select: a list, or several under headings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionConfigSelectOptions {
    /// A list of values.
    Ungrouped(Vec<SessionConfigSelectOption>),
    /// Lists under headings.
    Grouped(Vec<SessionConfigSelectGroup>),
}

record! {
    /// A value of a select.
    pub struct SessionConfigSelectOption {
        required {
            /// Which value it is.
            strict value: SessionConfigValueId,
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
    /// Values under a heading.
    pub struct SessionConfigSelectGroup {
        required {
            /// Which group it is.
            strict group: SessionConfigGroupId,
            /// The heading, for people.
            strict name: String,
            /// The values.
            lenient options: Vec<SessionConfigSelectOption>,
        }
    }
}

impl SessionConfigSelectOptions {
    /// All the values, whatever group they are in.
    pub fn iter(&self) -> impl Iterator<Item = &SessionConfigSelectOption> {
        let (ungrouped, grouped): (&[_], &[SessionConfigSelectGroup]) = match self {
            Self::Ungrouped(options) => (options, &[]),
            Self::Grouped(groups) => (&[], groups),
        };
        ungrouped.iter().chain(grouped.iter().flat_map(|group| &group.options))
    }
}

impl From<Vec<SessionConfigSelectOption>> for SessionConfigSelectOptions {
    fn from(options: Vec<SessionConfigSelectOption>) -> Self {
        Self::Ungrouped(options)
    }
}

impl From<Vec<SessionConfigSelectGroup>> for SessionConfigSelectOptions {
    fn from(groups: Vec<SessionConfigSelectGroup>) -> Self {
        Self::Grouped(groups)
    }
}

impl Serialize for SessionConfigSelectOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Ungrouped(options) => options.serialize(serializer),
            Self::Grouped(groups) => groups.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SessionConfigSelectOptions {
    /// A list whose first item has a `group` is grouped.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::<Members>::deserialize(deserializer)?;
        if items.first().is_some_and(|item| item.get("group").is_some()) {
            decoded(&items).map(Self::Grouped)
        } else {
            decoded(&items).map(Self::Ungrouped)
        }
    }
}

fn decoded<T: DeserializeOwned, E: de::Error>(items: &[Members]) -> Result<Vec<T>, E> {
    let each = items.iter().enumerate();
    each.map(|(at, item)| item.decode().map_err(|error| E::custom(within(format_args!("[{at}]"), error))))
        .collect()
}

impl Lenient for SessionConfigSelectOptions {}

record! {
    /// The options of a session have changed.
    ///
    /// See [Session config options](https://agentclientprotocol.com/protocol/v1/session-config-options).
    pub struct ConfigOptionUpdate {
        required {
            /// The options and how they are set, complete.
            lenient config_options: Vec<SessionConfigOption>,
        }
    }
}

record! {
    /// Sets an option (`session/set_config_option`); allowed during a turn.
    ///
    /// Sent by the client; answered with [`SetSessionConfigOptionResponse`].
    ///
    /// See [Session config options](https://agentclientprotocol.com/protocol/v1/session-config-options).
    pub struct SetSessionConfigOptionRequest {
        required {
            /// The session.
            strict session_id: SessionId,
            /// The option, one of those the session has.
            strict config_id: SessionConfigId,
        }
        inline {
            /// The value.
            value: SessionConfigOptionValue,
        }
    }
}

record! {
    /// The option is set.
    ///
    /// The agent's answer to [`SetSessionConfigOptionRequest`].
    ///
    /// See [Session config options](https://agentclientprotocol.com/protocol/v1/session-config-options).
    pub struct SetSessionConfigOptionResponse {
        required {
            /// The options and how they are set now, complete: setting one may change others.
            lenient config_options: Vec<SessionConfigOption>,
        }
    }
}

/// The value to set an option to; its members lie in the request itself.
///
/// See [Session config options](https://agentclientprotocol.com/protocol/v1/session-config-options).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionConfigOptionValue {
    /// A value of a select.
    ValueId(SessionConfigValueId),
    /// On or off (`"type": "boolean"`).
    Boolean(bool),
    /// A value of a type that this version does not know, kept as it came.
    Unknown(Unknown),
}

impl<T: Into<SessionConfigValueId>> From<T> for SessionConfigOptionValue {
    fn from(value: T) -> Self {
        Self::ValueId(value.into())
    }
}

impl From<bool> for SessionConfigOptionValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl FromMembers for SessionConfigOptionValue {
    fn read<'de, D: Deserializer<'de>>(members: &Members, all: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Holder<T> {
            value: T,
        }
        let tag: Option<Box<str>> = match members.get("type") {
            None => None,
            Some(tag) => Some(
                serde_json::from_str(tag.get()).map_err(|error| de::Error::custom(within("type", error)))?,
            ),
        };
        match tag.as_deref() {
            None => Holder::deserialize(all).map(|Holder { value }| Self::ValueId(value)),
            Some("boolean") => Holder::deserialize(all).map(|Holder { value }| Self::Boolean(value)),
            Some(tag) => Ok(Self::Unknown(Unknown::new(tag, members))),
        }
    }
}

impl Inline for SessionConfigOptionValue {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Self::ValueId(value) => map.serialize_entry("value", value),
            Self::Boolean(value) => {
                map.serialize_entry("type", "boolean")?;
                map.serialize_entry("value", value)
            }
            Self::Unknown(unknown) => unknown.write(map),
        }
    }
}
