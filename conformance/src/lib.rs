//! Does any agent, or any client, speak the Agent Client Protocol?
