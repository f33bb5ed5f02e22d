//! The kit judged by itself: one binary, a module a subject.

mod captures;
mod field_cases;
mod fixtures;
mod kills;
mod mcp_server;
mod process;
mod relay;
mod replay;
mod subject;
mod subject_client;
mod termination;
