//! Types that outlive the version of the protocol they were written for: what a newer peer adds is kept and written back.

mod ids;
mod json;
mod maybe;
mod members;
mod meta;
mod name;
mod ordered;
mod record;
mod strings;
mod tagged;

pub use json::Json;
pub use maybe::Maybe;
pub use meta::Meta;
pub use ordered::Ordered;
pub use tagged::Unknown;

pub(crate) use ids::id;
pub(crate) use members::{FromMembers, Inline, Members, within};
pub(crate) use name::{Name, name, ready};
pub(crate) use record::{AnyKey, KnownKey, Names, Record, camel, camel_bytes, camel_length, record};
pub(crate) use strings::strings;
pub(crate) use tagged::{Decoder, Tagged, TaggedVisitor, from, tagged};
