//! Objects of the protocol: one declaration gives the type, its constructor and setters, and how it is read and written.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Visitor},
    ser::SerializeMap,
};

/// An object whose members can be written into a map that already holds others.
pub(crate) trait Record {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// Declares an object of the protocol.
///
/// Each field says how it is read: `strict` (an error fails the message), `lenient` (an error counts as absent) or
/// `nullable` (`null` counts as absent). Fields have the type `Maybe<T>` where `null` is a value of its own and
/// `Option<T>` where the member may only be absent. The `inline` field is a union whose members lie among the
/// object's own. `= …` is what an absent member means, as JSON. Every `struct` has `_meta`; a `part` is the inside of another object and has none. A
/// `message` is params or an answer in which nothing is required, so that `null` is read as an empty one.
macro_rules! record {
    (
        $(#[doc = $doc:literal])* pub struct $name:ident {
            $(required { $($required:tt)* })?
            $(optional { $($optional:tt)* })?
            $(inline { $($inline:tt)* })?
        }
    ) => {
        $crate::open::record! {
            @emit struct $(#[doc = $doc])* $name
            { $($($required)*)? }
            { $($($optional)*)?
                /// Data outside the protocol (`_meta`); nobody may rely on it.
                lenient meta: $crate::open::Maybe<$crate::open::Meta>, }
            { $($($inline)*)? }
        }
    };
    (
        $(#[doc = $doc:literal])* pub message $name:ident {
            $(optional { $($optional:tt)* })?
        }
    ) => {
        $crate::open::record! {
            @emit message $(#[doc = $doc])* $name
            {}
            { $($($optional)*)?
                /// Data outside the protocol (`_meta`); nobody may rely on it.
                lenient meta: $crate::open::Maybe<$crate::open::Meta>, }
            {}
        }
    };
    (
        $(#[doc = $doc:literal])* pub part $name:ident {
            $(required { $($required:tt)* })?
            $(optional { $($optional:tt)* })?
            $(inline { $($inline:tt)* })?
        }
    ) => {
        $crate::open::record! {
            @emit struct $(#[doc = $doc])* $name
            { $($($required)*)? } { $($($optional)*)? } { $($($inline)*)? }
        }
    };
    (
        @emit $kind:ident $(#[doc = $doc:literal])* $name:ident
        { $($(#[doc = $rdoc:literal])* $rmark:ident $rfield:ident: $rtype:ty,)* }
        { $($(#[doc = $odoc:literal])* $omark:ident $ofield:ident: $otype:ty $(= $default:tt)?,)* }
        { $($(#[$idoc:meta])* $ifield:ident: $itype:ty,)? }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[doc = $rdoc])* pub $rfield: $rtype,)*
            $($(#[$idoc])* pub $ifield: $itype,)?
            $($(#[doc = $odoc])* pub $ofield: $otype,)*
        }

        impl $name {
            /// Makes one with what is required; the rest is absent.
            #[must_use]
            pub fn new($($rfield: impl Into<$rtype>,)* $($ifield: impl Into<$itype>,)?) -> Self {
                Self {
                    $($rfield: $rfield.into(),)*
                    $($ifield: $ifield.into(),)?
                    $($ofield: Default::default(),)*
                }
            }

            $(
                /// Sets the field of the same name.
                #[must_use]
                pub fn $ofield(mut self, $ofield: impl Into<$otype>) -> Self {
                    self.$ofield = $ofield.into();
                    self
                }
            )*
        }

        $crate::open::record!(@default $name { $($rfield)* $($ifield)? });

        impl $crate::open::Record for $name {
            fn write<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $(map.serialize_entry(&$crate::open::name!($crate::open::camel!($rfield)), &self.$rfield)?;)*
                $($crate::open::Inline::write(&self.$ifield, map)?;)?
                $(
                    if !$crate::lenient::Slot::is_absent(&self.$ofield) {
                        map.serialize_entry(&$crate::open::name!($crate::open::camel!($ofield)), &self.$ofield)?;
                    }
                )*
                Ok(())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $crate::open::Record::write(self, &mut map)?;
                serde::ser::SerializeMap::end(map)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[expect(non_camel_case_types, reason = "named like the fields")]
                enum Key { $($rfield,)* $($ofield,)* }

                impl $crate::open::Names for Key {
                    fn of(name: &str) -> Option<Self> {
                        $(if name == $crate::open::camel!($rfield) { return Some(Self::$rfield); })*
                        $(if name == $crate::open::camel!($ofield) { return Some(Self::$ofield); })*
                        None
                    }
                }

                struct Visitor;

                impl<'de> serde::de::Visitor<'de> for Visitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    $crate::open::record!(@unit $kind $name);

                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        $(let mut $rfield: Option<$rtype> = None;)*
                        $(let mut $ofield: Option<$otype> = None;)*
                        $(let mut $ifield = $crate::open::Members::default();)?
                        while let Some(key) = map.next_key_seed($crate::open::record!(@key $($ifield)?))? {
                            match key {
                                $(Ok(Key::$rfield) => {
                                    $rfield = Some(map.next_value_seed($crate::open::record!(@required $rmark $rtype))?);
                                })*
                                $(Ok(Key::$ofield) => {
                                    $ofield = Some(map.next_value_seed($crate::open::record!(@optional $omark $otype))?);
                                })*
                                Err(other) => $crate::open::record!(@other map other $($ifield)?),
                            }
                        }
                        Ok($name {
                            $($rfield: match $rfield {
                                Some(value) => value,
                                None => return Err(serde::de::Error::missing_field($crate::open::camel!($rfield))),
                            },)*
                            $($ifield: $ifield.read::<$itype>().map_err(serde::de::Error::custom)?,)?
                            $($ofield: $ofield.unwrap_or_default(),)*
                        })
                    }
                }

                $crate::open::record!(@read $kind deserializer Visitor)
            }
        }

        impl $crate::lenient::Lenient for $name {}

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut object = $crate::schema::Object::new(generator);
                $(object.required::<$rtype>(
                    $crate::open::camel!($rfield), stringify!($rmark), concat!($($rdoc, "\n",)*),
                );)*
                $(object.optional::<$otype>(
                    $crate::open::camel!($ofield), stringify!($omark), concat!($($odoc, "\n",)*),
                    $crate::open::record!(@json $($default)?),
                );)*
                $(object.inline::<$itype>();)?
                object.finish(concat!($($doc, "\n",)*))
            }
        }
    };
    (@json) => { None };
    (@json $default:tt) => { Some(serde_json::json!($default)) };
    (@default $name:ident {}) => {
        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
    (@default $name:ident { $($field:ident)+ }) => {};
    (@read struct $deserializer:ident $visitor:ident) => { $deserializer.deserialize_map($visitor) };
    (@read message $deserializer:ident $visitor:ident) => { $deserializer.deserialize_any($visitor) };
    (@unit struct $name:ident) => {};
    (@unit message $name:ident) => {
        fn visit_unit<E>(self) -> Result<$name, E> {
            Ok($name::new())
        }
    };
    (@key) => { $crate::open::KnownKey::<Key>::new() };
    (@key $inline:ident) => { $crate::open::AnyKey::<Key>::new() };
    (@other $map:ident $other:ident) => {{
        let () = $other;
        $map.next_value::<serde::de::IgnoredAny>()?;
    }};
    (@other $map:ident $other:ident $inline:ident) => { $inline.push($other, $map.next_value()?) };
    (@required strict $type:ty) => { $crate::lenient::Strict::<$type>::new() };
    (@required lenient $type:ty) => { $crate::lenient::OnError::<$type>::new() };
    (@required nullable $type:ty) => { $crate::lenient::OnNull::<$type>::new() };
    (@optional strict $type:ty) => { $crate::lenient::StrictSlot::<$type>::new() };
    (@optional lenient $type:ty) => { $crate::lenient::OnError::<$type>::new() };
    (@optional nullable $type:ty) => { $crate::lenient::OnNull::<$type>::new() };
}
pub(crate) use record;

/// The members that a record knows.
pub(crate) trait Names: Sized {
    fn of(name: &str) -> Option<Self>;
}

/// Reads a member's name; the names of unknown members are forgotten.
pub(crate) struct KnownKey<K>(PhantomData<K>);

/// Reads a member's name; the names of unknown members are kept.
pub(crate) struct AnyKey<K>(PhantomData<K>);

impl<K> KnownKey<K> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<K> AnyKey<K> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, K: Names> DeserializeSeed<'de> for KnownKey<K> {
    type Value = Result<K, ()>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<K: Names> Visitor<'_> for KnownKey<K> {
    type Value = Result<K, ()>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(K::of(name).ok_or(()))
    }
}

impl<'de, K: Names> DeserializeSeed<'de> for AnyKey<K> {
    type Value = Result<K, Box<str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<K: Names> Visitor<'_> for AnyKey<K> {
    type Value = Result<K, Box<str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(K::of(name).ok_or_else(|| name.into()))
    }
}

/// A field's name on the wire: `tool_call_id` is `toolCallId`, and `meta` is `_meta`.
macro_rules! camel {
    ($field:ident) => {
        const {
            const FIELD: &str = stringify!($field);
            const LENGTH: usize = $crate::open::camel_length(FIELD);
            const NAME: [u8; LENGTH] = $crate::open::camel_bytes(FIELD);
            match std::str::from_utf8(&NAME) {
                Ok(name) => name,
                Err(_) => FIELD,
            }
        }
    };
}
pub(crate) use camel;

pub(crate) const fn camel_length(field: &str) -> usize {
    let field = field.as_bytes();
    let (mut at, mut length) = (start(field), 0);
    while at < field.len() {
        if field[at] != b'_' {
            length += 1;
        }
        at += 1;
    }
    if is_meta(field) { length + 1 } else { length }
}

pub(crate) const fn camel_bytes<const N: usize>(field: &str) -> [u8; N] {
    let field = field.as_bytes();
    let mut name = [b'_'; N];
    let (mut at, mut to) = (start(field), if is_meta(field) { 1 } else { 0 });
    while at < field.len() {
        if field[at] == b'_' {
            at += 1;
            name[to] = field[at].to_ascii_uppercase();
        } else {
            name[to] = field[at];
        }
        at += 1;
        to += 1;
    }
    name
}

/// Behind the `r#` of a field that is named like a keyword.
const fn start(field: &[u8]) -> usize {
    if field.len() > 2 && field[1] == b'#' { 2 } else { 0 }
}

const fn is_meta(field: &[u8]) -> bool {
    matches!(field, b"meta")
}
