//! An object's members, gathered as raw JSON for when its meaning is known only later.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{
        self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, Visitor,
        value::MapAccessDeserializer,
    },
    ser::SerializeMap,
};
use serde_json::{Value, value::RawValue};
use serde_path_to_error::Track;

use super::Json;

/// The members of an object in the order they came.
#[derive(Default)]
pub(crate) struct Members(Vec<(Box<str>, Box<RawValue>)>);

impl Members {
    pub(crate) fn push(&mut self, name: Box<str>, value: Box<RawValue>) {
        self.0.push((name, value));
    }

    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(member, _)| **member == *name).map(|(_, value)| &**value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The object as it came, but for the space between its parts.
    pub(crate) fn to_json(&self) -> Json {
        let mut text = String::from("{");
        for (name, value) in self.iter() {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(&Value::from(name).to_string());
            text.push(':');
            text.push_str(value.get());
        }
        text.push('}');
        Json::parse(text).expect("names and JSON values make an object")
    }

    /// Reads the gathered object as a `T`.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        struct Whole<T>(T);
        impl<T: DeserializeOwned> FromMembers for Whole<T> {
            fn read<'de, D: Deserializer<'de>>(_: &Members, all: D) -> Result<Self, D::Error> {
                T::deserialize(all).map(Self)
            }
        }
        self.read().map(|Whole(value)| value)
    }

    /// Reads a `T` from the members. Whoever reads the object around them sees only the object's own place, so an error
    /// says where inside it is: a second, slower reading finds out.
    pub(crate) fn read<T: FromMembers>(&self) -> Result<T, serde_json::Error> {
        T::read(self, self.deserializer()).map_err(|error| {
            let mut track = Track::new();
            let tracked = serde_path_to_error::Deserializer::new(self.deserializer(), &mut track);
            let again = T::read(self, tracked).err().unwrap_or(error);
            let path = track.path();
            if path.iter().len() == 0 { again } else { within(path, again) }
        })
    }

    pub(crate) fn deserializer(
        &self,
    ) -> MapAccessDeserializer<impl MapAccess<'_, Error = serde_json::Error>> {
        MapAccessDeserializer::new(Reader { members: self.0.iter(), value: None })
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor(Self::default()))
    }
}

/// Gathers what is left of a map behind the members already read from it.
pub(crate) struct MembersVisitor(pub(crate) Members);

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Members, A::Error> {
        while let Some((name, value)) = map.next_entry()? {
            self.0.push(name, value);
        }
        Ok(self.0)
    }
}

/// An error with its place inside the object or list that is reported; `rpc` finds the place again.
pub(crate) fn within(place: impl fmt::Display, error: impl fmt::Display) -> serde_json::Error {
    de::Error::custom(format_args!("in `{place}`: {error}"))
}

/// What can be read from gathered members.
pub(crate) trait FromMembers: Sized {
    /// Reads from `all`, which is the members again.
    fn read<'de, D: Deserializer<'de>>(members: &Members, all: D) -> Result<Self, D::Error>;
}

/// A union whose members lie in the object around it, beside that object's own.
pub(crate) trait Inline: FromMembers {
    /// Writes the union's members into the object around it.
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

struct Reader<'a> {
    members: std::slice::Iter<'a, (Box<str>, Box<RawValue>)>,
    value: Option<&'a RawValue>,
}

impl<'de> MapAccess<'de> for Reader<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Self::Error> {
        let Some((name, value)) = self.members.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize((&**name).into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Self::Error> {
        let value = self.value.take().unwrap_or(RawValue::NULL);
        seed.deserialize(value)
    }
}
