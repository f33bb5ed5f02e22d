//! Enums of strings that keep a word they do not know.

/// Declares an enum whose variants are strings on the wire, with one more variant for every other string; `or` names
/// the default.
macro_rules! strings {
    (
        $(#[doc = $doc:literal])* pub enum $name:ident {
            $($(#[doc = $vdoc:literal])* $variant:ident = $text:literal,)+
        } $(or $default:ident)?
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[doc = $vdoc])* $variant,)+
            /// A word of a newer protocol or of an extension (those start with `_`); it is written back unchanged.
            Unknown(std::sync::Arc<str>),
        }

        impl $name {
            /// Every variant this version knows.
            pub const KNOWN: &[Self] = &[$(Self::$variant,)+];

            /// The word on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Unknown(text) => text,
                }
            }
        }

        $(
            /// What an absent one means.
            impl Default for $name {
                fn default() -> Self {
                    Self::$default
                }
            }
        )?

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)+
                    unknown => Self::Unknown(unknown.into()),
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::lenient::from_text(deserializer)
            }
        }

        impl $crate::lenient::FromText for $name {
            fn from_text(text: &str) -> Self {
                text.into()
            }
        }

        $crate::lenient::text!($name);

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::schema::words(concat!($($doc, "\n",)*), &[$(($text, concat!($($vdoc, "\n",)*)),)+])
            }
        }
    };
}
pub(crate) use strings;
