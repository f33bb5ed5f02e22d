//! An embedded resource's contents: text or bytes, told apart by which of the two is there.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{BlobResourceContents, TextResourceContents};
use crate::{lenient::Lenient, open::Members};

/// What an embedded resource holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EmbeddedResourceResource {
    /// Text.
    TextResourceContents(TextResourceContents),
    /// Bytes.
    BlobResourceContents(BlobResourceContents),
}

impl EmbeddedResourceResource {
    /// Where the resource is.
    #[must_use]
    pub fn uri(&self) -> &str {
        match self {
            Self::TextResourceContents(contents) => &contents.uri,
            Self::BlobResourceContents(contents) => &contents.uri,
        }
    }
}

impl From<TextResourceContents> for EmbeddedResourceResource {
    fn from(contents: TextResourceContents) -> Self {
        Self::TextResourceContents(contents)
    }
}

impl From<BlobResourceContents> for EmbeddedResourceResource {
    fn from(contents: BlobResourceContents) -> Self {
        Self::BlobResourceContents(contents)
    }
}

impl Serialize for EmbeddedResourceResource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::TextResourceContents(contents) => contents.serialize(serializer),
            Self::BlobResourceContents(contents) => contents.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for EmbeddedResourceResource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Members::deserialize(deserializer)?;
        if members.get("text").is_none() && members.get("blob").is_some() {
            members.decode().map(Self::BlobResourceContents)
        } else {
            members.decode().map(Self::TextResourceContents)
        }
        .map_err(de::Error::custom)
    }
}

impl Lenient for EmbeddedResourceResource {}
