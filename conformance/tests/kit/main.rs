//! The kit judged by itself: one binary, a module a subject.

mod alarms;
mod calls;
mod captures;
mod choice;
mod command_line;
mod field_cases;
mod fixtures;
mod fork_kills;
mod isolation;
mod kills;
mod mcp_server;
mod openings;
mod process;
mod relay;
mod replay;
mod store_kills;
mod store_processes;
mod store_scale;
mod stored;
mod strangers;
mod subject;
mod subject_client;
mod terminal;
mod termination;
