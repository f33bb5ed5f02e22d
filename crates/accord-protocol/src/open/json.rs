//! Any JSON value, kept as the text it came in.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

/// Any JSON value, kept as its text: nothing is parsed until somebody asks, and it is written back byte for byte.
///
/// Two values are equal when their texts are, or else when they are the same JSON.
#[derive(Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Writes `value` as JSON.
    ///
    /// # Errors
    ///
    /// When `value` has no JSON form: a map with keys that are not strings, or a `Serialize` that fails.
    pub fn new(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self)
    }

    /// Checks that `text` is one JSON value and keeps it.
    ///
    /// # Errors
    ///
    /// When it is not.
    pub fn parse(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self)
    }

    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Reads the value as a `T`.
    ///
    /// # Errors
    ///
    /// When the value is not of that type.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.get())
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.get() == "null"
    }

    /// Whether the value is an object.
    #[must_use]
    pub fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
            || match (self.to::<Value>(), other.to::<Value>()) {
                (Ok(ours), Ok(theirs)) => ours == theirs,
                _ => false,
            }
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<Json> for Box<RawValue> {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self(RawValue::from_string(value.to_string()).expect("a Value prints as one JSON value"))
    }
}

impl AsRef<RawValue> for Json {
    fn as_ref(&self) -> &RawValue {
        &self.0
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::deserialize(deserializer).map(Self)
    }
}
