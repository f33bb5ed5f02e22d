//! The members of one message, gathered in one pass without judging them.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::rpc::Id;
use crate::rpc::id::is_minus_zero;

/// A member that may be there, and may be of the wrong kind.
#[derive(Debug, Default)]
pub(crate) enum Member<T> {
    #[default]
    Absent,
    Is(T),
    /// Present, but nothing this member can be.
    Odd,
}

/// What the members of a line were.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    pub(crate) jsonrpc: Member<()>,
    pub(crate) id: Member<Id>,
    pub(crate) method: Member<Box<str>>,
    pub(crate) params: Option<&'a RawValue>,
    pub(crate) result: Option<&'a RawValue>,
    pub(crate) error: Option<&'a RawValue>,
}

impl<'de> Deserialize<'de> for Envelope<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Envelope<'de>, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Jsonrpc => envelope.jsonrpc = map.next_value::<Version>()?.0,
                Key::Id => envelope.id = map.next_value::<LenientId>()?.0,
                Key::Method => {
                    envelope.method = map.next_value::<LenientString>()?.0.map_or(Member::Odd, Member::Is);
                }
                Key::Params => envelope.params = Some(map.next_value()?),
                Key::Result => envelope.result = Some(map.next_value()?),
                Key::Error => envelope.error = Some(map.next_value()?),
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(envelope)
    }
}

/// The name of a member of the envelope.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Key, E> {
                Ok(match name {
                    "jsonrpc" => Key::Jsonrpc,
                    "id" => Key::Id,
                    "method" => Key::Method,
                    "params" => Key::Params,
                    "result" => Key::Result,
                    "error" => Key::Error,
                    _ => Key::Other,
                })
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

/// The `jsonrpc` member: `"2.0"` or something else.
pub(crate) struct Version(pub(crate) Member<()>);

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let right = deserializer.deserialize_any(Scalar(|scalar: Kind<'_>| match scalar {
            Kind::String("2.0") => Some(()),
            _ => None,
        }))?;
        Ok(Self(right.map_or(Member::Odd, Member::Is)))
    }
}

/// An id, or anything else without an error.
pub(crate) struct LenientId(pub(crate) Member<Id>);

impl<'de> Deserialize<'de> for LenientId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = deserializer.deserialize_any(Scalar(|scalar: Kind<'_>| match scalar {
            Kind::Null => Some(Id::Null),
            Kind::Integer(number) => Some(Id::Number(number)),
            Kind::String(string) => Some(Id::from(string)),
            Kind::Other => None,
        }))?;
        Ok(Self(id.map_or(Member::Odd, Member::Is)))
    }
}

/// A string, or anything else without an error.
#[derive(Default)]
pub(crate) struct LenientString(pub(crate) Option<Box<str>>);

impl<'de> Deserialize<'de> for LenientString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let string = deserializer.deserialize_any(Scalar(|scalar: Kind<'_>| match scalar {
            Kind::String(string) => Some(Box::from(string)),
            _ => None,
        }))?;
        Ok(Self(string))
    }
}

enum Kind<'a> {
    Null,
    Integer(i64),
    String(&'a str),
    Other,
}

/// Accepts any JSON value, shows it to the function if it is a scalar, and drains it otherwise.
struct Scalar<F>(F);

impl<'de, T, F: Fn(Kind<'_>) -> Option<T>> Visitor<'de> for Scalar<F> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Option<T>, E> {
        Ok((self.0)(Kind::Other))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Option<T>, E> {
        Ok((self.0)(Kind::Integer(number)))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Option<T>, E> {
        Ok((self.0)(i64::try_from(number).map_or(Kind::Other, Kind::Integer)))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Option<T>, E> {
        Ok((self.0)(if is_minus_zero(number) { Kind::Integer(0) } else { Kind::Other }))
    }

    fn visit_str<E: de::Error>(self, string: &str) -> Result<Option<T>, E> {
        Ok((self.0)(Kind::String(string)))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Option<T>, E> {
        Ok((self.0)(Kind::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Option<T>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok((self.0)(Kind::Other))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok((self.0)(Kind::Other))
    }
}
