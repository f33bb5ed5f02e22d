//! The chores of this workspace; `cargo xtask` lists them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool speaks to its user")]

mod bench;
mod cargo;
mod conformance;
mod coverage;
mod schema;
mod test;
mod tidy;
mod vendor;

use std::process::ExitCode;

/// A chore: its name, its arguments, what it is for, and the function that does it.
struct Chore {
    name: &'static str,
    arguments: &'static str,
    purpose: &'static str,
    run: fn(&[String]) -> Result<(), String>,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "bench",
        arguments: "[--help] [--quick] […]",
        purpose: "the speed of Accord beside a floor and the official SDKs",
        run: bench::run,
    },
    Chore {
        name: "conformance",
        arguments: "[--self-check[=full]] [FLAGS] [-- COMMAND…]",
        purpose: "the kit on the subjects, on any agent's command, or on itself",
        run: conformance::run,
    },
    Chore {
        name: "schema",
        arguments: "[FILE]",
        purpose: "the types of accord-protocol against an official schema file",
        run: schema::run,
    },
    Chore {
        name: "test",
        arguments: "[--from STEP]",
        purpose: "everything CI checks, in order",
        run: test::run,
    },
    Chore {
        name: "coverage",
        arguments: "[--check]",
        purpose: "which test shows which requirement: docs/coverage.md",
        run: coverage::run,
    },
    Chore { name: "tidy", arguments: "", purpose: "the habits of docs/style.md, as a check", run: tidy::run },
    Chore {
        name: "vendor",
        arguments: "",
        purpose: "accord-protocol alone in an empty folder",
        run: vendor::run,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(chore) = CHORES.iter().find(|chore| arguments.first().is_some_and(|name| name == chore.name))
    else {
        return list(arguments.first());
    };
    match (chore.run)(&arguments[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask {}: {why}", chore.name);
            ExitCode::FAILURE
        }
    }
}

/// Says which chores there are; asking for one that is not there is a failure.
fn list(asked: Option<&String>) -> ExitCode {
    println!("cargo xtask CHORE [ARGUMENTS]\n");
    for chore in CHORES {
        let call = format!("{} {}", chore.name, chore.arguments);
        println!("  {call:<52} {}", chore.purpose);
    }
    match asked.map(String::as_str) {
        None | Some("help" | "--help" | "-h") => ExitCode::SUCCESS,
        Some(name) => {
            eprintln!("\nxtask: no chore is called {name}");
            ExitCode::FAILURE
        }
    }
}
