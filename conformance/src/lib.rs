//! Does any agent, or any client, speak the Agent Client Protocol?

pub mod mcp_server;
pub mod wire;
