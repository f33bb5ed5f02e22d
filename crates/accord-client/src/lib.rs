//! Drive any Agent Client Protocol agent.
//!
//! A [`Client`] is a connected agent, a [`Session`] a conversation with it, a [`Turn`] one prompt and what came of it:
//!
//! ```no_run
//! use accord_client::{AgentCommand, Client, SessionUpdate};
//!
//! # async fn example(cwd: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Client::builder().spawn(AgentCommand::new("gemini").arg("--acp")).await?;
//! let session = agent.new_session(cwd).await?;
//! let mut turn = session.prompt("explain this repository").await?;
//! while let Some(update) = turn.next().await {
//!     if let SessionUpdate::AgentMessageChunk(chunk) = update {
//!         print!("{}", chunk.content.as_text().unwrap_or_default());
//!     }
//! }
//! println!("{:?}", turn.finish().await?); // why the agent stopped, or an error that says whose fault it was
//! # Ok(())
//! # }
//! ```
//!
//! What the agent asks back goes to a [`Handler`], or to the ready-made [`Permissions`], [`Files`], [`Terminals`] and
//! [`Elicitations`]. A client that answers permissions:
//!
//! ```no_run
//! use accord_client::{Client, Permissions, permission};
//!
//! let builder = Client::builder().permissions(Permissions::ask(|request| async move {
//!     println!("may the agent {}?", request.tool_call.title.get().map_or("do this", String::as_str));
//!     permission::allow_once(&request)
//! }));
//! ```
//!
//! Nothing here waits for ever: every future ends with the connection, and most can be given a limit. Calls are
//! checked against what the agent advertised before anything is sent.

pub mod auth;
mod client;
pub mod diff;
pub mod elicitation;
mod error;
pub mod events;
mod fs;
mod handler;
pub mod permission;
mod prompt;
pub mod registry;
mod replay;
mod router;
pub mod runner;
mod session;
mod terminal;
pub mod transcript;
mod turn;

pub use accord_protocol as protocol;
pub use accord_protocol::v1::{ContentBlock, NewSessionRequest, SessionId, SessionUpdate, StopReason};
pub use accord_transport as transport;
pub use accord_transport::{AgentCommand, CallError, End, EnvPolicy, Lost, Reason};

pub use client::{AllSessions, Builder, Client};
pub use elicitation::{Elicitations, InputReply};
pub use error::{ConnectError, Error, Limit, Misuse, TurnError};
pub use fs::Files;
pub use handler::{Handler, Refuse};
pub use permission::Permissions;
pub use prompt::Prompt;
pub use registry::Registry;
pub use replay::Replay;
pub use runner::Runner;
pub use session::{Session, SessionState, SessionStatus};
pub use terminal::Terminals;
pub use transcript::Transcript;
pub use turn::{Canceller, Turn};
