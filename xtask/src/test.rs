//! `cargo xtask test`: everything CI checks, in order, each step with its time.

mod skips;

use std::{process::Command, time::Instant};

use crate::cargo::{cargo, root, show};

/// A named step of the test run.
struct Step {
    name: &'static str,
    /// What it leaves out is added to the list.
    run: fn(&mut Vec<String>) -> Result<(), String>,
}

const STEPS: &[Step] = &[
    Step { name: "format", run: |_| show(cargo().args(["fmt", "--all", "--check"])) },
    Step { name: "tidy", run: |_| crate::tidy::run(&[]) },
    Step { name: "coverage", run: |_| crate::coverage::run(&["--check".into()]) },
    Step { name: "clippy", run: |_| clippy() },
    Step { name: "tests", run: tests },
    Step { name: "doctests", run: |skipped| workspace(&["--doc"], skipped) },
    Step { name: "docs", run: |_| docs() },
    Step { name: "schema", run: |_| crate::schema::run(&[]) },
    Step { name: "vendor", run: |_| crate::vendor::run(&[]) },
    Step { name: "package", run: |_| package() },
    Step { name: "peers", run: peers },
    Step { name: "conformance", run: |_| crate::conformance::run(&[]) },
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
    let (mut times, mut skipped) = (Vec::new(), Vec::new());
    for step in &STEPS[first..] {
        println!("\n=== {}", step.name);
        let start = Instant::now();
        (step.run)(&mut skipped).map_err(|why| format!("step {}: {why}", step.name))?;
        times.push((step.name, start.elapsed()));
    }
    println!("\n=== all steps passed");
    for (name, time) in times {
        println!("{:>8.1} s  {name}", time.as_secs_f64());
    }
    match skipped.len() {
        0 => println!("nothing was skipped"),
        count => println!("{count} skipped:\n  {}", skipped.join("\n  ")),
    }
    Ok(())
}

/// Every feature but the two that only add TLS to an HTTP client: they bring minutes of C and no line of ours.
const FEATURES: &str = "--features=accord-agent/mcp,accord-agent/sqlite,accord-protocol/schemars";

/// The examples are built first: there are tests that use them at a terminal, as people do.
fn tests(skipped: &mut Vec<String>) -> Result<(), String> {
    show(cargo().args(["build", "--workspace", FEATURES, "--examples"]))?;
    workspace(&["--lib", "--bins", "--tests"], skipped)
}

fn workspace(which: &[&str], skipped: &mut Vec<String>) -> Result<(), String> {
    skips::show(cargo().args(["test", "--workspace", FEATURES]).args(which), skipped)
}

fn clippy() -> Result<(), String> {
    show(cargo().args(["clippy", "--workspace", FEATURES, "--all-targets", "--", "-D", "warnings"]))
}

fn docs() -> Result<(), String> {
    let mut command: Command = cargo();
    command.args(["doc", "--workspace", FEATURES, "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
    show(&mut command)
}

/// Whether every publishable crate can be packed; the others are not in the registry yet, so none is built from there.
fn package() -> Result<(), String> {
    show(cargo().args([
        "package",
        "--workspace",
        "--exclude=xtask",
        "--no-verify",
        "--allow-dirty",
        "--quiet",
    ]))
}

/// Our types against the official crate's, in a workspace of their own. Without its packages there is nothing to compare.
fn peers(skipped: &mut Vec<String>) -> Result<(), String> {
    let manifest = root().join("conformance/peers/Cargo.toml");
    let fetched = cargo().args(["fetch", "--quiet", "--manifest-path"]).arg(&manifest).status();
    if !fetched.is_ok_and(|status| status.success()) {
        skipped.push("peers: the official crates can't be fetched here".into());
        return Ok(());
    }
    show(cargo().args(["test", "--package=accord-peer-types", "--manifest-path"]).arg(&manifest))
}
