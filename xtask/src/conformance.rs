//! `cargo xtask conformance`: the main job, played on a real agent and judged from outside.

use std::{path::PathBuf, process::Command};

use serde_json::Value;

use crate::cargo::{cargo, output, show};

/// What to type to the subject agent, by the situation it brings about.
const WORDS: &[(&str, &str)] = &[
    ("echo", "echo {TEXT}"),
    ("slow", "slow 20000"),
    ("tool", "write {PATH} {TEXT}"),
    ("mcp", "mcp {TOOL} {JSON}"),
    ("stream", "stream 2000 200"),
    ("history", "history"),
    ("think", "think {TEXT}"),
    ("whoami", "whoami"),
    ("usage", "usage"),
    ("refuse", "refuse"),
    ("limit", "limit"),
];

/// Without a command, on the subject agent; with one after `--`, on that. Flags go to `accord-conformance scenario`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let dashes = arguments.iter().position(|argument| argument == "--");
    let (flags, command) = match dashes {
        Some(place) => (&arguments[..place], &arguments[place + 1..]),
        None => (arguments, &[][..]),
    };
    let kit = built("accord-conformance")?;
    if !command.is_empty() {
        return show(Command::new(kit).arg("scenario").args(flags).arg("--").args(command));
    }
    let agent = built("accord-subject-agent")?;
    let mut scenario = Command::new(kit);
    scenario.args(["scenario", "--strict"]).args(flags);
    for (situation, words) in WORDS {
        scenario.arg(format!("--prompt-{situation}")).arg(words);
    }
    show(scenario.arg("--").arg(agent).args(["--state-dir", "{STATE}"]))
}

/// Builds a binary of the kit, and says where cargo put it.
fn built(name: &str) -> Result<PathBuf, String> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--package", "accord-conformance", "--bin", name]);
    build.arg("--message-format=json-render-diagnostics");
    let messages = output(&mut build)?;
    let mut paths = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let named = message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| named).map(PathBuf::from)
    });
    paths.next_back().ok_or_else(|| format!("cargo built no {name}"))
}
