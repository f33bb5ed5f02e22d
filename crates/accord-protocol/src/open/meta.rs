//! `_meta`: what implementations attach to a message beside the protocol.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

use super::{Json, Maybe, Members};
use crate::lenient::Lenient;

/// A JSON object for data outside the protocol.
///
/// The keys `traceparent`, `tracestate` and `baggage` are reserved for W3C trace context; other keys belong to whoever
/// made them up, and nobody may rely on finding one. The text is kept as it came and parsed when a key is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta(Json);

impl Meta {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Self(Members::default().to_json())
    }

    /// The value under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Json> {
        self.members().get(key).map(|value| value.to_owned().into())
    }

    /// The text under `key`, if it is a string.
    #[must_use]
    pub fn get_str(&self, key: &str) -> Option<String> {
        self.get(key)?.to().ok()
    }

    /// This object with `key` set to `value`, in place of what was there.
    #[must_use]
    pub fn with(self, key: &str, value: impl Into<Json>) -> Self {
        let mut members = Members::default();
        for (name, kept) in self.members().iter().filter(|(name, _)| *name != key) {
            members.push(name.into(), kept.to_owned());
        }
        members.push(key.into(), value.into().into());
        Self(members.to_json())
    }

    /// The object's keys and values, in the order they came.
    #[must_use]
    pub fn entries(&self) -> Vec<(String, Json)> {
        self.members().iter().map(|(name, value)| (name.to_owned(), value.to_owned().into())).collect()
    }

    /// The object as JSON.
    #[must_use]
    pub fn json(&self) -> &Json {
        &self.0
    }

    /// The trace and span which this message belongs to (W3C `traceparent`).
    #[must_use]
    pub fn traceparent(&self) -> Option<String> {
        self.get_str("traceparent")
    }

    /// This object with the trace and span which the message belongs to, as W3C `traceparent` writes them.
    #[must_use]
    pub fn with_traceparent(self, traceparent: &str) -> Self {
        self.with("traceparent", Value::from(traceparent))
    }

    /// Vendor data about the trace (W3C `tracestate`).
    #[must_use]
    pub fn tracestate(&self) -> Option<String> {
        self.get_str("tracestate")
    }

    /// This object with vendor data about the trace, as W3C `tracestate` writes it.
    #[must_use]
    pub fn with_tracestate(self, tracestate: &str) -> Self {
        self.with("tracestate", Value::from(tracestate))
    }

    /// Properties that travel with the trace (W3C `baggage`).
    #[must_use]
    pub fn baggage(&self) -> Option<String> {
        self.get_str("baggage")
    }

    /// This object with properties that travel with the trace, as W3C `baggage` writes them.
    #[must_use]
    pub fn with_baggage(self, baggage: &str) -> Self {
        self.with("baggage", Value::from(baggage))
    }

    fn members(&self) -> Members {
        self.0.to().unwrap_or_default()
    }
}

impl Default for Meta {
    fn default() -> Self {
        Self::new()
    }
}

impl TryFrom<Json> for Meta {
    type Error = Json;

    /// Gives a value that is not an object back.
    fn try_from(json: Json) -> Result<Self, Json> {
        if json.is_object() { Ok(Self(json)) } else { Err(json) }
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Json::deserialize(deserializer)?)
            .map_err(|_| de::Error::invalid_type(de::Unexpected::Other("another value"), &"an object"))
    }
}

impl Lenient for Meta {
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Maybe<Self>, D::Error> {
        let json = Json::deserialize(deserializer)?;
        if json.is_null() {
            return Ok(Maybe::Null);
        }
        Ok(Self::try_from(json).map_or(Maybe::Absent, Maybe::Value))
    }
}
