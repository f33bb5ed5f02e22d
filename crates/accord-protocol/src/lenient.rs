//! How a field is read: strictly, with its default in place of an error, or with its default in place of `null`, exactly
//! as the official schema marks it.

use std::{fmt, marker::PhantomData, path::PathBuf};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    open::{Json, Maybe},
    rpc,
};

/// A value that can be read without failing: what is not of its type counts as absent.
///
/// An error in the middle of a compound value cannot be skipped in the stream, so those are read from their raw text;
/// text and booleans are read in one pass.
pub(crate) trait Lenient: DeserializeOwned {
    /// Reads a value, or [`Maybe::Absent`] in place of one that is not of this type.
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Maybe<Self>, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if raw.get() == "null" {
            return Ok(Maybe::Null);
        }
        Ok(serde_json::from_str(raw.get()).map_or(Maybe::Absent, Maybe::Value))
    }
}

/// Where a field's value goes: knows what its absence looks like.
pub(crate) trait Slot: Default {
    type Value;
    /// Whether `null` is one of the values.
    #[cfg(feature = "schemars")]
    const NULLABLE: bool = false;
    fn from_maybe(value: Maybe<Self::Value>) -> Self;
    fn is_absent(&self) -> bool;
}

impl<T> Slot for Maybe<T> {
    type Value = T;
    #[cfg(feature = "schemars")]
    const NULLABLE: bool = true;

    fn from_maybe(value: Self) -> Self {
        value
    }

    fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }
}

impl<T> Slot for Option<T> {
    type Value = T;

    fn from_maybe(value: Maybe<T>) -> Self {
        value.into_option()
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// A list that must be there: a list of another type counts as empty.
impl<T> Slot for Vec<T> {
    type Value = Self;

    fn from_maybe(value: Maybe<Self>) -> Self {
        value.into_option().unwrap_or_default()
    }

    fn is_absent(&self) -> bool {
        false
    }
}

macro_rules! seed {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub(crate) struct $name<F>(PhantomData<F>);

        impl<F> $name<F> {
            pub(crate) const fn new() -> Self {
                Self(PhantomData)
            }
        }
    };
}

seed! {
    /// Reads a required field: any error is the message's.
    Strict
}
seed! {
    /// Reads an optional field that may not be of another type.
    StrictSlot
}
seed! {
    /// Reads a field which the schema marks `x-deserialize-default-on-error`.
    OnError
}
seed! {
    /// Reads a field which the schema marks `x-deserialize-default-on-null`.
    OnNull
}

impl<'de, F: Deserialize<'de>> DeserializeSeed<'de> for Strict<F> {
    type Value = F;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<F, D::Error> {
        F::deserialize(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for StrictSlot<Maybe<T>> {
    type Value = Maybe<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Maybe<T>, D::Error> {
        Maybe::deserialize(deserializer)
    }
}

impl<'de, T: Deserialize<'de>> DeserializeSeed<'de> for StrictSlot<Option<T>> {
    type Value = Option<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<T>, D::Error> {
        T::deserialize(deserializer).map(Some)
    }
}

impl<'de, F: Slot<Value: Lenient>> DeserializeSeed<'de> for OnError<F> {
    type Value = F;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<F, D::Error> {
        F::Value::lenient(deserializer).map(F::from_maybe)
    }
}

impl<'de, F: Slot<Value: Deserialize<'de>>> DeserializeSeed<'de> for OnNull<F> {
    type Value = F;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<F, D::Error> {
        Maybe::deserialize(deserializer).map(F::from_maybe)
    }
}

/// A list keeps its good items (`x-deserialize-skip-invalid-items`).
impl<T: DeserializeOwned> Lenient for Vec<T> {
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Maybe<Self>, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if raw.get() == "null" {
            return Ok(Maybe::Null);
        }
        // Nearly every list is good as it is; only then is each item looked at alone.
        if let Ok(all) = serde_json::from_str(raw.get()) {
            return Ok(Maybe::Value(all));
        }
        let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else { return Ok(Maybe::Absent) };
        Ok(Maybe::Value(items.into_iter().filter_map(|item| serde_json::from_str(item.get()).ok()).collect()))
    }
}

impl<T: Lenient> Lenient for Box<T> {
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Maybe<Self>, D::Error> {
        Ok(match T::lenient(deserializer)? {
            Maybe::Absent => Maybe::Absent,
            Maybe::Null => Maybe::Null,
            Maybe::Value(value) => Maybe::Value(Box::new(value)),
        })
    }
}

/// Any value is of this type, so only `null` is told apart.
impl Lenient for Json {
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Maybe<Self>, D::Error> {
        let json = Self::deserialize(deserializer)?;
        Ok(if json.is_null() { Maybe::Null } else { Maybe::Value(json) })
    }
}

// A number out of range is an error of the JSON itself, which only its raw text survives.
impl Lenient for u32 {}
impl Lenient for u64 {}
impl Lenient for i64 {}
impl Lenient for f64 {}

impl Lenient for PathBuf {}
impl Lenient for rpc::Error {}

/// Lets a type that is text be read leniently.
macro_rules! text {
    ($name:ident) => {
        impl $crate::lenient::Lenient for $name {
            fn lenient<'de, D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$crate::open::Maybe<Self>, D::Error> {
                $crate::lenient::lenient_text(deserializer)
            }
        }
    };
}
pub(crate) use text;

impl FromText for String {
    fn from_text(text: &str) -> Self {
        text.to_owned()
    }
}
text!(String);

impl Lenient for bool {
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Maybe<Self>, D::Error> {
        struct Bool;
        impl Kind for Bool {
            type Value = bool;
            fn boolean(value: bool) -> Maybe<bool> {
                Maybe::Value(value)
            }
        }
        deserializer.deserialize_any(Scalar::<Bool>(PhantomData))
    }
}

/// A type that is text on the wire and takes any text.
pub(crate) trait FromText: Sized {
    fn from_text(text: &str) -> Self;
}

/// Reads text, and nothing else.
pub(crate) fn from_text<'de, T: FromText, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Text<T>(PhantomData<T>);
    impl<T: FromText> Visitor<'_> for Text<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok(T::from_text(text))
        }
    }
    deserializer.deserialize_str(Text(PhantomData))
}

/// Reads text; any other value counts as absent.
pub(crate) fn lenient_text<'de, T: FromText, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Maybe<T>, D::Error> {
    struct Text<T>(PhantomData<T>);
    impl<T: FromText> Kind for Text<T> {
        type Value = T;
        fn text(text: &str) -> Maybe<T> {
            Maybe::Value(T::from_text(text))
        }
    }
    deserializer.deserialize_any(Scalar::<Text<T>>(PhantomData))
}

/// Which scalars make a value; the others count as absent.
trait Kind {
    type Value;
    fn text(_: &str) -> Maybe<Self::Value> {
        Maybe::Absent
    }
    fn boolean(_: bool) -> Maybe<Self::Value> {
        Maybe::Absent
    }
}

struct Scalar<K>(PhantomData<K>);

impl<'de, K: Kind> Visitor<'de> for Scalar<K> {
    type Value = Maybe<K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(K::text(text))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        Ok(K::boolean(value))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Maybe::Null)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Maybe::Absent)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Maybe::Absent)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Maybe::Absent)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Maybe::Absent)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Maybe::Absent)
    }
}
