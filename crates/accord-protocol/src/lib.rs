//! The Agent Client Protocol v1 as data: types, methods and the JSON-RPC around them; no I/O, no clock, no threads.
//!
//! * [`v1`] has every type of the schema under its name, a file a subject: `v1::NewSessionRequest` is in
//!   `v1/session.rs`.
//! * [`unstable`] has a few things that real agents use and the stable protocol lacks.
//! * [`method`] ties a method's name, its params and its answer together.
//! * [`open`] has what makes the types outlive the version they were written for: a variant for what is unknown,
//!   [`Maybe`](open::Maybe) for the three states of an optional member, `_meta`.
//! * [`rpc`] turns a line into a message and a message into a line.
//!
//! ```
//! use accord_protocol::v1::{ContentBlock, SessionNotification, SessionUpdate};
//!
//! let line = r#"{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"}}}"#;
//! let note: SessionNotification = serde_json::from_str(line)?;
//! let SessionUpdate::AgentMessageChunk(chunk) = &note.update else { panic!() };
//! assert_eq!(chunk.content, ContentBlock::text("Hi"));
//! assert_eq!(serde_json::to_string(&note)?, line);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod lenient;
pub mod method;
pub mod open;
pub mod rpc;
#[cfg(feature = "schemars")]
mod schema;
pub mod unstable;
pub mod v1;
