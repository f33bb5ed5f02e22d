//! The coding agent as a process, driven by lines of JSON, with both of its models.

#[path = "acp/chat.rs"]
mod chat;
#[path = "acp/harness.rs"]
mod harness;
#[path = "acp/program.rs"]
mod program;
#[path = "acp/server.rs"]
mod server;
#[path = "acp/sessions.rs"]
mod sessions;
#[path = "acp/tools.rs"]
mod tools;
