//! The Agent Client Protocol v1 as data.

pub mod rpc;
