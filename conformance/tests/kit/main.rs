//! The kit judged by itself: one binary, a module a subject.

mod captures;
mod field_cases;
mod kills;
mod mcp_server;
mod process;
mod replay;
mod subject;
mod termination;
