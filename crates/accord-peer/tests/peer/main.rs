//! The state machine, without a wire and without a runtime.

mod frames;
mod pair;
mod phases;
mod rules;
mod support;
