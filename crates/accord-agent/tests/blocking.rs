//! Agents that block: what they are to a client, through the wire.

#[path = "blocking/approvals.rs"]
mod approvals;
#[path = "blocking/cancel.rs"]
mod cancel;
#[path = "blocking/entry.rs"]
mod entry;
#[path = "blocking/harness.rs"]
mod harness;
#[path = "blocking/login.rs"]
mod login;
#[path = "blocking/manager.rs"]
mod manager;
#[path = "blocking/models.rs"]
mod models;
#[path = "blocking/parallel.rs"]
mod parallel;
#[path = "blocking/restore.rs"]
mod restore;
#[path = "blocking/turns.rs"]
mod turns;
