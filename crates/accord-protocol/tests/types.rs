//! The types against frames: what is kept, what is refused, what is written back.

#[path = "types/compare.rs"]
mod compare;
#[path = "types/generate.rs"]
mod generate;
#[path = "types/open.rs"]
mod open;
#[path = "types/registry.rs"]
mod registry;
#[path = "types/schema.rs"]
mod schema;
