//! Write an Agent Client Protocol agent.
//!
//! An agent, complete:
//!
//! ```no_run
//! use accord_agent::{Agent, Error, ServeError, StopReason, Turn};
//!
//! struct Echo;
//!
//! impl Agent for Echo {
//!     async fn prompt(&self, turn: Turn) -> Result<StopReason, Error> {
//!         turn.say(turn.text()).await?;
//!         Ok(StopReason::EndTurn)
//!     }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), ServeError> {
//!     accord_agent::serve_stdio(Echo).await
//! }
//! ```
//!
//! [`handler`](Agent) has one method for each method of the protocol; what an agent hands out is advertised, and
//! nothing else is.

pub mod blocking;
pub mod cli;
mod client;
mod connection;
mod fence;
mod handler;
#[cfg(feature = "mcp")]
pub mod mcp;
mod permission;
mod router;
pub mod runtime;
mod serve;
mod session;
pub mod store;
mod table;
mod text;
mod tool_calls;
mod turn;
mod wire;

pub use accord_protocol as protocol;
pub use accord_protocol::v1::StopReason;
pub use accord_transport::Group;

pub use client::{Client, ClientError, Command, Filled, Output, Terminal, Visit};
pub use connection::Connection;
pub use handler::{
    Agent, Auth, Closing, Config, Deleting, Error, Forking, Listing, Loading, LoggingOut, Modes, Never,
    Resuming, Reviving,
};
pub use permission::{Decision, Question, standard_options};
pub use runtime::{Backend, Runtime};
pub use serve::{Serve, ServeError, serve, serve_stdio};
pub use session::Session;
pub use tool_calls::Tool;
pub use turn::Turn;
