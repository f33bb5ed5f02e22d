//! One end of an Agent Client Protocol connection, as a pure state machine: no I/O, no clock, no lock.
//!
//! Bytes that were read go through [`Frames`] and [`decode`](accord_protocol::rpc::decode) into
//! [`Peer::receive`], which says what to do as an [`Event`]. What the application wants is a verb:
//! [`Peer::request`], [`Peer::notify`], [`Peer::answer`], [`Peer::cancel`]. Both leave lines in the output, which
//! [`Peer::take_output`] hands over for writing. The order of the calls is the order on the wire.
//!
//! Two promises are kept here, whatever the other end does:
//!
//! * every request of ours has exactly one outcome: its waiter comes back in one [`Event::Outcome`], or from
//!   [`Peer::abandon`], or from [`Peer::receive_eof`] and [`Peer::end`];
//! * every call of theirs has at most one answer: its [`CallKey`] is never reused and answers once.

mod append;
mod buffer;
mod event;
mod frame;
mod incoming;
mod outgoing;
mod peer;
mod phase;

pub use append::SendError;
pub use buffer::Shrink;
pub use event::{Event, Failed, Violation};
pub use frame::{Frame, Frames};
pub use incoming::CallKey;
pub use outgoing::RequestKey;
pub use peer::{CANCEL_REQUEST, Config, Peer};
