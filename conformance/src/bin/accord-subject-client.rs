//! A client for outside checkers to start in place of a user's: `accord-subject-client` says how.

use std::process::ExitCode;

fn main() -> ExitCode {
    accord_conformance::subject_client::run(&std::env::args().collect::<Vec<_>>())
}
