//! Checks agents and clients of the Agent Client Protocol: `accord-conformance --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    accord_conformance::cli::run(&std::env::args().collect::<Vec<_>>())
}
