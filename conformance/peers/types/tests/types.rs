//! Values cross between our types and the official schema crate's, in both directions.
#![expect(clippy::print_stdout, reason = "figures of a run")]

#[path = "types/allocations.rs"]
mod allocations;
#[path = "../../../../crates/accord-protocol/tests/types/compare.rs"]
mod compare;
#[path = "types/cross.rs"]
mod cross;
#[path = "../../../../crates/accord-protocol/tests/types/generate.rs"]
mod generate;
#[path = "types/mutate.rs"]
mod mutate;
#[path = "types/registry.rs"]
mod registry;
#[path = "types/validation.rs"]
mod validation;
