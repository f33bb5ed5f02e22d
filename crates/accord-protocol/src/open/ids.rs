//! Names that one side makes up and the other repeats: opaque strings, cheap to clone, each a type of its own.

/// Declares identifier types: a newtype over `Arc<str>` each.
macro_rules! id {
    ($($(#[$attr:meta])* pub struct $name:ident;)+) => {$(
        $(#[$attr])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Takes the text as it is: identifiers are opaque.
            #[must_use]
            pub fn new(id: impl Into<std::sync::Arc<str>>) -> Self {
                Self(id.into())
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.into())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id.into())
            }
        }

        impl From<std::sync::Arc<str>> for $name {
            fn from(id: std::sync::Arc<str>) -> Self {
                Self(id)
            }
        }

        impl From<&$name> for $name {
            fn from(id: &$name) -> Self {
                id.clone()
            }
        }

        impl From<&str> for $crate::open::Maybe<$name> {
            fn from(id: &str) -> Self {
                Self::Value(id.into())
            }
        }

        impl From<String> for $crate::open::Maybe<$name> {
            fn from(id: String) -> Self {
                Self::Value(id.into())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::lenient::from_text(deserializer)
            }
        }

        impl $crate::lenient::FromText for $name {
            fn from_text(text: &str) -> Self {
                Self(text.into())
            }
        }

        $crate::lenient::text!($name);

        #[cfg(feature = "schemars")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    )+};
}
pub(crate) use id;
