//! Stores on real files: the public contract, and what crashes leave.

#[path = "store/faults.rs"]
mod faults;
#[path = "store/forgetful.rs"]
mod forgetful;
#[path = "store/jsonl.rs"]
mod jsonl;
#[path = "store/kills.rs"]
mod kills;
#[path = "store/life.rs"]
mod life;
#[path = "store/lives.rs"]
mod lives;
#[cfg(feature = "sqlite")]
#[path = "store/prepared.rs"]
mod prepared;
#[path = "store/processes.rs"]
mod processes;
#[path = "store/refusals.rs"]
mod refusals;
#[path = "store/spoilt.rs"]
mod spoilt;
#[cfg(feature = "sqlite")]
#[path = "store/sqlite.rs"]
mod sqlite;
#[path = "store/versions.rs"]
mod versions;
