//! Slash commands that the agent offers.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    lenient::Lenient,
    open::{Json, Maybe, record},
};

record! {
    /// The commands that can now be used in a prompt, complete.
    ///
    /// See [Slash commands](https://agentclientprotocol.com/protocol/v1/slash-commands).
    pub struct AvailableCommandsUpdate {
        required {
            /// The commands.
            lenient available_commands: Vec<AvailableCommand>,
        }
    }
}

record! {
    /// A command; it is used by starting a prompt's text with `/name`.
    ///
    /// See [Slash commands](https://agentclientprotocol.com/protocol/v1/slash-commands).
    pub struct AvailableCommand {
        required {
            /// The name, without the slash.
            strict name: String,
            /// What the command does, for people.
            strict description: String,
        }
        optional {
            /// What may follow the name; absent or null when nothing does.
            lenient input: Maybe<AvailableCommandInput>,
        }
    }
}

/// What a command takes after its name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AvailableCommandInput {
    /// All of the text behind the name.
    Unstructured(UnstructuredCommandInput),
    /// An object of a kind which this version does not know, kept as it came.
    Unknown(Json),
}

record! {
    /// Free text.
    pub struct UnstructuredCommandInput {
        required {
            /// What to show while nothing is typed.
            strict hint: String,
        }
    }
}

impl From<UnstructuredCommandInput> for AvailableCommandInput {
    fn from(input: UnstructuredCommandInput) -> Self {
        Self::Unstructured(input)
    }
}

impl Serialize for AvailableCommandInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unstructured(input) => input.serialize(serializer),
            Self::Unknown(json) => json.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for AvailableCommandInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        if !json.is_object() {
            return Err(de::Error::invalid_type(de::Unexpected::Other("another value"), &"an object"));
        }
        Ok(json.to().map_or(Self::Unknown(json), Self::Unstructured))
    }
}

impl Lenient for AvailableCommandInput {}
