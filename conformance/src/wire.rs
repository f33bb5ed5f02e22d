//! Checks on raw lines, with none of the workspace's crates: a fault that both our ends share still shows here.

pub(crate) mod case;
pub(crate) mod checks;
pub(crate) mod client;
pub(crate) mod desk;
pub mod frame;
pub(crate) mod leftovers;
pub(crate) mod player;
pub(crate) mod process;
pub mod recording;
pub(crate) mod requirement;
pub(crate) mod run;
pub(crate) mod run_client;
pub mod schema;
pub(crate) mod scripts;
pub(crate) mod seen;
pub(crate) mod verdict;
pub(crate) mod visit;
pub mod witness;
