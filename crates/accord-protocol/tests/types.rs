//! The types against frames: what is kept, what is refused, what is written back.
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

#[path = "types/captures.rs"]
mod captures;
#[path = "types/cases.rs"]
mod cases;
#[path = "types/compare.rs"]
mod compare;
#[path = "types/docs.rs"]
mod docs;
#[path = "types/generate.rs"]
mod generate;
#[path = "types/open.rs"]
mod open;
#[path = "types/places.rs"]
mod places;
#[path = "types/registry.rs"]
mod registry;
#[path = "types/schema.rs"]
mod schema;
