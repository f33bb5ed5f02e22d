//! The chores of this workspace; `cargo xtask` lists them.
fn main() {}
