//! A field that may be absent, null, or there: three things that a message can say and a relay must not mix up.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An optional field which the schema also lets be `null`.
///
/// Absent and `null` mean the same in most places (each field says so), but they are different bytes, and in an
/// update `null` often means "cleared" where absent means "unchanged".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "JSON has no fourth case")]
pub enum Maybe<T> {
    /// The member is not in the object.
    #[default]
    Absent,
    /// The member is `null`.
    Null,
    /// The member has a value.
    Value(T),
}

impl<T> Maybe<T> {
    /// The value, if there is one.
    #[must_use]
    pub const fn get(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The value for changing it in place, if there is one.
    #[must_use]
    pub const fn get_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// The value, if there is one, taking it out.
    #[must_use]
    pub fn into_option(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent | Self::Null => None,
        }
    }

    /// Whether the member is left out.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// Whether the member is an explicit `null`.
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether there is a value.
    #[must_use]
    pub const fn is_value(&self) -> bool {
        matches!(self, Self::Value(_))
    }
}

impl<T> From<T> for Maybe<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

/// What is rare or large is boxed, so that what is common stays small.
impl<T> From<T> for Maybe<Box<T>> {
    fn from(value: T) -> Self {
        Self::Value(Box::new(value))
    }
}

impl<T> From<Option<T>> for Maybe<T> {
    /// `None` becomes [`Maybe::Absent`].
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Absent, Self::Value)
    }
}

impl<T, const N: usize> From<[T; N]> for Maybe<Vec<T>> {
    fn from(values: [T; N]) -> Self {
        Self::Value(values.into())
    }
}

impl From<&str> for Maybe<String> {
    fn from(value: &str) -> Self {
        Self::Value(value.into())
    }
}

impl From<&str> for Maybe<PathBuf> {
    fn from(value: &str) -> Self {
        Self::Value(value.into())
    }
}

impl From<String> for Maybe<PathBuf> {
    fn from(value: String) -> Self {
        Self::Value(value.into())
    }
}

impl From<&Path> for Maybe<PathBuf> {
    fn from(value: &Path) -> Self {
        Self::Value(value.into())
    }
}

/// Absent is written as `null` where a value must stand; records leave an absent member out.
impl<T: Serialize> Serialize for Maybe<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Absent | Self::Null => serializer.serialize_unit(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}
