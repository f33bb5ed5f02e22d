//! Checks on raw lines, with none of the workspace's crates: a fault that both our ends share still shows here.

pub mod frame;
pub mod recording;
pub mod schema;
pub mod witness;
