//! Unions told apart by one member (the tag), which keep a variant they do not know.

use std::{fmt, marker::PhantomData, sync::Arc};

use serde::{
    Deserializer, Serialize, Serializer,
    de::{DeserializeSeed, Error, MapAccess, Visitor, value::MapAccessDeserializer},
    ser::SerializeMap,
};

use super::{FromMembers, Json, Members, members::MembersVisitor, within};

/// A variant that this version does not know: its tag, and all of it as JSON, which is written back unchanged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Unknown {
    /// The tag's value. Names of extensions start with `_`; others belong to a newer protocol.
    pub tag: Arc<str>,
    /// The object, its tag included.
    pub raw: Json,
}

impl Unknown {
    pub(crate) fn new(tag: impl Into<Arc<str>>, members: &Members) -> Self {
        Self { tag: tag.into(), raw: members.to_json() }
    }

    /// Writes the members into an object that has others already.
    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let members: Members = self.raw.to().map_err(serde::ser::Error::custom)?;
        members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))
    }
}

impl Serialize for Unknown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

/// How to read the rest of an object once its tag is known.
pub(crate) type Decoder<T, D, E> = fn(D) -> Result<T, E>;

/// A union with a tag.
pub(crate) trait Tagged: Sized {
    /// The tag's name.
    const TAG: &'static str;

    /// How to read the variant that `tag` names; `None` is an unknown one.
    fn decoder<'de, D: Deserializer<'de>>(tag: &str) -> Option<Decoder<Self, D, D::Error>>;

    /// How to read an object without a tag; `None` where the tag is required.
    fn untagged<'de, D: Deserializer<'de>>() -> Option<Decoder<Self, D, D::Error>>;

    /// The variant for everything else.
    fn unknown(unknown: Unknown) -> Self;
}

impl<T: Tagged> FromMembers for T {
    fn read<'de, D: Deserializer<'de>>(members: &Members, all: D) -> Result<Self, D::Error> {
        let Some(tag) = members.get(T::TAG) else {
            return T::untagged().ok_or_else(|| Error::missing_field(T::TAG))?(all);
        };
        let tag: Box<str> = serde_json::from_str(tag.get())
            .map_err(|_| Error::custom(within(T::TAG, "invalid type: another value, expected a string")))?;
        match T::decoder(&tag) {
            Some(decode) => decode(all),
            None => Ok(T::unknown(Unknown::new(tag, members))),
        }
    }
}

/// Reads a [`Tagged`] union. When the tag comes first, as everybody writes it, the rest decodes straight through;
/// otherwise the members are gathered until all are there.
pub(crate) struct TaggedVisitor<T>(PhantomData<T>);

impl<T> TaggedVisitor<T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Tagged> Visitor<'de> for TaggedVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut members = Members::default();
        match map.next_key_seed(FirstKey(T::TAG))? {
            Some(None) => match map.next_value_seed(TagValue::<T, A>(PhantomData))? {
                Ok(decode) => return decode(MapAccessDeserializer::new(map)),
                Err(tag) => {
                    let text = serde_json::value::to_raw_value(&tag).map_err(Error::custom)?;
                    members.push(T::TAG.into(), text);
                    let members = MembersVisitor(members).visit_map(map)?;
                    return Ok(T::unknown(Unknown::new(tag, &members)));
                }
            },
            Some(Some(other)) => members.push(other, map.next_value()?),
            None => {}
        }
        MembersVisitor(members).visit_map(map)?.read().map_err(Error::custom)
    }
}

/// Reads the first member's name: `None` is the tag.
struct FirstKey(&'static str);

impl<'de> DeserializeSeed<'de> for FirstKey {
    type Value = Option<Box<str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for FirstKey {
    type Value = Option<Box<str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok((name != self.0).then(|| name.into()))
    }
}

/// Reads the tag's value: how to go on, or the name of an unknown variant.
struct TagValue<T, A>(PhantomData<(T, A)>);

impl<'de, T: Tagged, A: MapAccess<'de>> DeserializeSeed<'de> for TagValue<T, A> {
    type Value = Result<Decoder<T, MapAccessDeserializer<A>, A::Error>, Box<str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, T: Tagged, A: MapAccess<'de>> Visitor<'de> for TagValue<T, A> {
    type Value = Result<Decoder<T, MapAccessDeserializer<A>, A::Error>, Box<str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, tag: &str) -> Result<Self::Value, E> {
        Ok(T::decoder(tag).ok_or_else(|| tag.into()))
    }
}

/// Declares a union: `"text" => Text(TextContent)` for each variant, `"cancelled" => Cancelled` for one without
/// members of its own, and `else "stdio" => Stdio(McpServerStdio)` for an object without a tag, or with that one.
macro_rules! tagged {
    (
        $(#[doc = $doc:literal])* pub enum $name:ident by $tag:literal {
            $($(#[doc = $vdoc:literal])* $($text:literal)|+ => $variant:ident $(($type:ty))?,)+
            $(else $($else_text:literal)? => $(#[doc = $else_doc:literal])* $else:ident($else_type:ty),)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[doc = $vdoc])* $variant $(($type))?,)+
            $($(#[doc = $else_doc])* $else($else_type),)?
            /// A variant of a newer protocol or of an extension, kept as it came.
            Unknown($crate::open::Unknown),
        }

        impl $crate::open::Tagged for $name {
            const TAG: &'static str = $tag;

            fn decoder<'de, D: serde::Deserializer<'de>>(
                tag: &str,
            ) -> Option<$crate::open::Decoder<Self, D, D::Error>> {
                match tag {
                    $($($text)|+ => $crate::open::tagged!(@decoder $variant $($type)?),)+
                    $($($else_text => $crate::open::tagged!(@decoder $else $else_type),)?)?
                    _ => None,
                }
            }

            fn untagged<'de, D: serde::Deserializer<'de>>() -> Option<$crate::open::Decoder<Self, D, D::Error>> {
                $crate::open::tagged!(@untagged $($else $else_type)?)
            }

            fn unknown(unknown: $crate::open::Unknown) -> Self {
                Self::Unknown(unknown)
            }
        }

        impl $crate::open::Inline for $name {
            fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                match self {
                    $(Self::$variant { $(0: $crate::open::tagged!(@bind inner $type))? } => {
                        map.serialize_entry(&$crate::open::name!($tag), $crate::open::tagged!(@first $($text)+))?;
                        $($crate::open::tagged!(@write inner map $type)?;)?
                        Ok(())
                    })+
                    $(Self::$else(inner) => $crate::open::tagged!(@write inner map $else_type),)?
                    Self::Unknown(unknown) => unknown.write(map),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if let Self::Unknown(unknown) = self {
                    return unknown.serialize(serializer);
                }
                let mut map = serializer.serialize_map(None)?;
                $crate::open::Inline::write(self, &mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_map($crate::open::TaggedVisitor::new())
            }
        }

        impl $crate::lenient::Lenient for $name {}

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut union = $crate::schema::Union::new(generator, $tag);
                $($crate::open::tagged!(
                    @schema union ($crate::open::tagged!(@first $($text)+)) (concat!($($vdoc, "\n",)*)) $($type)?
                );)+
                $(union.otherwise::<$else_type>(
                    $crate::open::tagged!(@title $($else_text)?), concat!($($else_doc, "\n",)*),
                );)?
                union.finish(concat!($($doc, "\n",)*))
            }
        }
    };
    (@schema $union:ident ($text:expr) ($doc:expr)) => { $union.unit($text, $doc) };
    (@schema $union:ident ($text:expr) ($doc:expr) $type:ty) => { $union.variant::<$type>($text, $doc) };
    (@title) => { "untagged" };
    (@title $text:literal) => { $text };
    (@decoder $variant:ident) => {
        Some(|rest| <serde::de::IgnoredAny as serde::Deserialize>::deserialize(rest).map(|_| Self::$variant))
    };
    (@decoder $variant:ident $type:ty) => {
        Some(|rest| <$type as serde::Deserialize>::deserialize(rest).map(Self::$variant))
    };
    (@untagged) => { None };
    (@untagged $variant:ident $type:ty) => { $crate::open::tagged!(@decoder $variant $type) };
    (@bind $inner:ident $type:ty) => { $inner };
    (@write $inner:ident $map:ident $type:ty) => { $crate::open::Record::write($inner, $map) };
    (@first $text:literal $($alias:literal)*) => { $text };
}
pub(crate) use tagged;

/// Lets a variant's contents be given where the union is asked for.
macro_rules! from {
    ($union:ident { $($variant:ident($type:ty),)+ }) => {$(
        impl From<$type> for $union {
            fn from(inner: $type) -> Self {
                Self::$variant(inner)
            }
        }
    )+};
}
pub(crate) use from;
