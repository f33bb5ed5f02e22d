//! Does any agent, or any client, speak the Agent Client Protocol?

pub mod cli;
pub mod mcp_server;
mod report;
mod say;
mod scenario;
pub mod subject;
mod tee;
pub mod wire;
