//! One JSON value on its way from the line to whoever wants it: as text, and as what it says, where that was read at once.

use std::any::Any;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// A JSON value out of a line.
///
/// Most values are wanted as one type, and some of those come all the time. They are read with their line, once; the
/// text stays for whoever wants it, or wants another type.
pub(crate) enum Held {
    /// Not read yet.
    Raw(Box<RawValue>),
    /// Read as what it should be, until that is taken. The text is JSON.
    Read { text: Box<str>, value: Option<Value> },
}

pub(crate) type Value = Box<dyn Any + Send + Sync>;

/// How a value is read as what it should be.
pub(crate) type Reader = fn(&str) -> Option<Value>;

impl Held {
    /// What `text` says if `read` can tell, or else the value as it stands; nothing if it is not one JSON value.
    pub(crate) fn of(text: &str, read: Option<Reader>) -> Option<Self> {
        match read.and_then(|read| read(text)) {
            Some(value) => Some(Self::Read { text: text.trim_ascii().into(), value: Some(value) }),
            None => serde_json::from_str(text).ok().map(Self::Raw),
        }
    }

    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Raw(raw) => raw.get(),
            Self::Read { text, .. } => text,
        }
    }

    pub(crate) fn raw(&self) -> Option<&RawValue> {
        match self {
            Self::Raw(raw) => Some(raw),
            Self::Read { text, .. } => serde_json::from_str(text).ok(),
        }
    }

    pub(crate) fn into_raw(self) -> Box<RawValue> {
        match self {
            Self::Raw(raw) => raw,
            // What was read as something is JSON.
            Self::Read { text, .. } => RawValue::from_string(text.into()).unwrap_or_default(),
        }
    }

    /// What was read, once, if it is a `T`.
    pub(crate) fn take<T: 'static>(&mut self) -> Option<T> {
        match self {
            Self::Read { value, .. } if value.as_deref()?.is::<T>() => {
                value.take()?.downcast().ok().map(|value| *value)
            }
            _ => None,
        }
    }
}

/// The copy has the text alone.
impl Clone for Held {
    fn clone(&self) -> Self {
        Self::Raw(match self {
            Self::Raw(raw) => raw.clone(),
            Self::Read { text, .. } => Self::Read { text: text.clone(), value: None }.into_raw(),
        })
    }
}

/// Reads a value as a `T`.
pub(crate) fn read<T: DeserializeOwned + Send + Sync + 'static>(text: &str) -> Option<Value> {
    let value: T = serde_json::from_str(text).ok()?;
    Some(Box::new(value))
}
