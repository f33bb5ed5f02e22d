//! JSON-RPC 2.0 as the Agent Client Protocol uses it: one object a line, told apart by its members.
//!
//! [`decode`] turns one line into a [`Message`]; [`write_request`], [`write_notification`] and [`write_answer`]
//! serialise one line straight into a buffer; [`params`] turns raw parameters into a typed value with an error
//! that names the place and never the value.

mod answer;
mod depth;
mod encode;
mod envelope;
mod error;
mod glimpse;
mod held;
mod id;
mod malformed;
mod message;
mod params;
mod surrogates;
mod typed;
mod usual;

pub use answer::Answer;
pub use depth::MAX_DEPTH;
pub use encode::{write_answer, write_notification, write_request};
pub use error::{Error, ErrorCode};
pub use id::Id;
pub use malformed::{Fault, Malformed, Shape};
pub use message::{Message, decode, decode_into};
pub use params::Params;
pub use typed::{Misfit, params, typed};
