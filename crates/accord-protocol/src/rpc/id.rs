//! The id of a request: an integer, a string or null, echoed exactly as it came.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// The id of a request.
///
/// `1` and `"1"` are different ids. Fractions, integers beyond 64 bits, booleans, arrays and objects are no ids:
/// a request that carries one is invalid. `-0` is 0, and is echoed as that.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the schema's RequestId has these three forms")]
pub enum Id {
    /// `null`: discouraged, but a request all the same.
    Null,
    /// An integer in the whole range of an `int64`.
    Number(i64),
    /// Any string, the empty one too.
    String(Arc<str>),
}

/// Strings are quoted, so that `7` and `"7"` can be told apart in a log.
impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Number(number) => number.fmt(f),
            Self::String(string) => write!(f, "{string:?}"),
        }
    }
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Id {
    fn from(string: &str) -> Self {
        Self::String(string.into())
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::String(string) => serializer.serialize_str(string),
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

struct IdVisitor;

impl Visitor<'_> for IdVisitor {
    type Value = Id;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a 64-bit integer, a string or null")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Id, E> {
        Ok(Id::Number(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Id, E> {
        i64::try_from(number)
            .map(Id::Number)
            .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Id, E> {
        if is_minus_zero(number) {
            return Ok(Id::Number(0));
        }
        Err(E::invalid_value(de::Unexpected::Float(number), &self))
    }

    fn visit_str<E: de::Error>(self, string: &str) -> Result<Id, E> {
        Ok(Id::String(string.into()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Id, E> {
        Ok(Id::Null)
    }
}

/// JSON has a `-0`, which is the integer 0, but which no integer of Rust can be read from.
pub(crate) fn is_minus_zero(number: f64) -> bool {
    number == 0.0 && number.is_sign_negative()
}
