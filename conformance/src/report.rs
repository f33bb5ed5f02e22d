//! What a run has to say, to people and to machines.

pub(crate) mod scenario;
pub(crate) mod terminal;
