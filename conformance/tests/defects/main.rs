//! The kit checks itself: a defect for each check, made on the wire between the kit and a conforming program.

#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method of a line with a lifetime is no function of lines with any, as the tables want"
)]

mod agent;
mod client;
mod fixture;
mod judge;
mod line;
mod process;
mod table;

use std::process::ExitCode;

/// The same program is the test and, started by the kit as the subject, the spoiler.
fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("spoil") => fixture::run(&args[1..]),
        Some("wrap") => process::run(&args[1..]),
        _ => judge::run(&args),
    }
}
