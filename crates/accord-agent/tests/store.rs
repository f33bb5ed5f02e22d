//! Stores on real files: the public contract, and what crashes leave.

#[path = "store/faults.rs"]
mod faults;
#[path = "store/jsonl.rs"]
mod jsonl;
#[cfg(feature = "sqlite")]
#[path = "store/sqlite.rs"]
mod sqlite;
