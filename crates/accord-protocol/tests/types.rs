//! The types against frames: what is kept, what is refused, what is written back.

#[path = "types/open.rs"]
mod open;
