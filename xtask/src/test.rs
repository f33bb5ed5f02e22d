//! `cargo xtask test`: everything CI checks, in order, each step with its time.

use std::{process::Command, time::Instant};

use crate::cargo::{cargo, show};

/// A named step of the test run.
struct Step {
    name: &'static str,
    run: fn() -> Result<(), String>,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: || show(cargo().args(["fmt", "--all", "--check"])) },
    Step { name: "tidy", run: || crate::tidy::run(&[]) },
    Step { name: "clippy", run: clippy },
    Step { name: "build", run: || show(cargo().args(["build", "--workspace", "--all-features"])) },
    Step {
        name: "tests",
        run: || {
            show(cargo().args([
                "test",
                "--workspace",
                "--all-features",
                "--lib",
                "--bins",
                "--tests",
                "--examples",
            ]))
        },
    },
    Step { name: "doctests", run: || show(cargo().args(["test", "--workspace", "--all-features", "--doc"])) },
    Step { name: "docs", run: docs },
];

/// Runs the steps; `--from STEP` leaves out those before it.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let first = match arguments {
        [] => 0,
        [flag, name] if flag == "--from" => {
            STEPS.iter().position(|step| step.name == name).ok_or_else(|| {
                let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
                format!("no step is called {name}; the steps are {}", names.join(", "))
            })?
        }
        _ => return Err("usage: cargo xtask test [--from STEP]".into()),
    };
    let mut times = Vec::new();
    for step in &STEPS[first..] {
        println!("\n=== {}", step.name);
        let start = Instant::now();
        (step.run)().map_err(|why| format!("step {}: {why}", step.name))?;
        times.push((step.name, start.elapsed()));
    }
    println!("\n=== all steps passed");
    for (name, time) in times {
        println!("{:>8.1} s  {name}", time.as_secs_f64());
    }
    Ok(())
}

fn clippy() -> Result<(), String> {
    show(cargo().args(["clippy", "--workspace", "--all-features", "--all-targets", "--", "-D", "warnings"]))
}

fn docs() -> Result<(), String> {
    let mut command: Command = cargo();
    command.args(["doc", "--workspace", "--all-features", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    show(&mut command)
}
