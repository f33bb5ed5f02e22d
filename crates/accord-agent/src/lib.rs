//! Write an Agent Client Protocol agent.

pub mod store;
