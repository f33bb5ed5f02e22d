//! The asynchronous transport of the Agent Client Protocol: one driver loop, handles, child processes, stdio.
//!
//! A [`Connection`] is made from two halves of any byte stream, from a child process ([`AgentCommand`]), from this
//! process's own stdin and stdout ([`stdio`]), or as one of an in-memory [`pair`]. It calls a [`Service`] with what the
//! wire brought, in wire order, and is spoken through by a [`Handle`].
//!
//! The loop is in `driver.rs`; nothing else here waits for the wire.

mod call;
mod child;
mod connection;
mod driver;
mod end;
mod error;
mod handle;
mod lane;
mod memory;
mod options;
mod pending;
mod service;
mod shared;
pub mod stdio;
mod tap;
mod trace_context;
mod writer;

pub use call::Call;
pub use child::{AgentCommand, EnvPolicy, Group, SpawnError};
pub use connection::{Connection, connect};
pub use end::{Cause, End, Reason};
pub use error::{CallError, Lost};
pub use handle::{Handle, WeakHandle};
pub use lane::{Gate, LaneReceiver, LaneSender, lane};
pub use memory::pair;
pub use options::Options;
pub use pending::Started;
pub use service::{Notification, Service, Update};
pub use tap::Tap;
pub use trace_context::TraceContext;
