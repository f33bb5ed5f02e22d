//! What ties a method's name, its params and its answer together.

use serde::{Serialize, de::DeserializeOwned};

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a connection has two ends")]
pub enum Side {
    /// The coding agent: serves `session/prompt` and its like.
    Agent,
    /// The editor or controller: serves `session/request_permission` and its like.
    Client,
}

impl Side {
    /// The other end.
    #[must_use]
    pub const fn peer(self) -> Self {
        match self {
            Self::Agent => Self::Client,
            Self::Client => Self::Agent,
        }
    }
}

/// Who serves a notification: `$/cancel_request` may go either way, every other one has its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "one side, the other, or both")]
pub enum ServedBy {
    /// The agent receives it.
    Agent,
    /// The client receives it.
    Client,
    /// Either side may receive it.
    Both,
}

impl ServedBy {
    /// Whether `side` receives this notification.
    #[must_use]
    pub const fn includes(self, side: Side) -> bool {
        matches!((self, side), (Self::Both, _) | (Self::Agent, Side::Agent) | (Self::Client, Side::Client))
    }
}

/// The params of a request: they know their method, who serves it, and what answers it.
pub trait Request: Serialize + DeserializeOwned + Send + 'static {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// The side that receives the request and answers it.
    const SERVED_BY: Side;
    /// What a successful response holds.
    type Answer: Serialize + DeserializeOwned + Send + 'static;
}

/// The params of a notification: they know their method and who receives it.
pub trait Notification: Serialize + DeserializeOwned + Send + 'static {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// The side that receives the notification.
    const SERVED_BY: ServedBy;
}

/// Declares the requests that one side sends: the enum of them all, and each one's method and answer.
macro_rules! requests {
    (
        $(#[$attr:meta])* pub enum $name:ident served by $side:ident {
            $($method:literal $variant:ident($params:ident) => $answer:ident,)+
        }
    ) => {
        $(impl $crate::method::Request for $params {
            const METHOD: &'static str = $method;
            const SERVED_BY: $crate::method::Side = $crate::method::Side::$side;
            type Answer = $answer;
        })+

        $crate::method::messages! {
            $(#[$attr])* pub enum $name or ExtRequest { $($method $variant($params),)+ }
        }

        impl $name {
            /// Each method with the schema's names of its params and its answer.
            pub const METHODS: &[(&str, &str, &str)] =
                &[$(($method, stringify!($params), stringify!($answer)),)+];
        }
    };
}
pub(crate) use requests;

/// Declares the notifications that one side sends: the enum of them all.
macro_rules! notifications {
    (
        $(#[$attr:meta])* pub enum $name:ident { $($method:literal $variant:ident($params:ident),)+ }
    ) => {
        $crate::method::messages! {
            $(#[$attr])* pub enum $name or ExtNotification { $($method $variant($params),)+ }
        }

        impl $name {
            /// Each method with the schema's name of its params.
            pub const METHODS: &[(&str, &str)] = &[$(($method, stringify!($params)),)+];
        }
    };
}
pub(crate) use notifications;

/// Declares an enum over messages of one sort and direction.
macro_rules! messages {
    (
        $(#[$attr:meta])* pub enum $name:ident or $ext:ident { $($method:literal $variant:ident($params:ident),)+ }
    ) => {
        $(#[$attr])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $(
                #[doc = concat!("`", $method, "`.")]
                $variant($params),
            )+
            /// Any other method: an extension (those start with `_`), or one of a newer protocol.
            Ext($ext),
        }

        impl $name {
            /// Reads a message by its method; absent params are an empty object.
            ///
            /// # Errors
            ///
            /// `-32602` with the place where the params are not what the method takes.
            pub fn decode(
                method: &str,
                params: Option<&serde_json::value::RawValue>,
            ) -> Result<Self, $crate::rpc::Error> {
                match method {
                    $($method => $crate::rpc::params(params).map(Self::$variant),)+
                    _ => Ok(Self::Ext($ext::new(method, params.map(|raw| raw.to_owned().into())))),
                }
            }

            /// The method's name.
            #[must_use]
            pub fn method(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $method,)+
                    Self::Ext(ext) => &ext.method,
                }
            }
        }

        /// Writes the params alone.
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(params) => params.serialize(serializer),)+
                    Self::Ext(ext) => ext.params.serialize(serializer),
                }
            }
        }

        $(impl From<$params> for $name {
            fn from(params: $params) -> Self {
                Self::$variant(params)
            }
        })+
    };
}
pub(crate) use messages;
