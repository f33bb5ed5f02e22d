//! A scripted agent with everything a real one has: `accord-subject-agent --help` lists its options.

use std::process::ExitCode;

fn main() -> ExitCode {
    accord_conformance::subject::run(std::env::args().skip(1))
}
