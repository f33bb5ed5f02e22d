//! The kit judged by itself: one binary, a module a subject.

mod captures;
mod kills;
mod mcp_server;
