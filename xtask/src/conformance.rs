//! `cargo xtask conformance`: the main job, played on a real agent and judged from outside.

mod example;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::cargo::{cargo, output, root, show};

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
    ("read", "read {PATH}"),
    ("run", "run {COMMAND}"),
    ("ask", "ask"),
    ("usage", "usage"),
    ("title", "title {TEXT}"),
    ("plan", "plan"),
    ("commands", "commands"),
    ("refuse", "refuse"),
    ("limit", "limit"),
    ("requests", "requests"),
    ("fail", "fail on purpose"),
    ("image", "image"),
    ("notice", "notice Mind the gap"),
    ("compact", "compact"),
];

/// What the subjects are known to fail, each with its reason.
const KNOWN: &str = "conformance/known-failures.toml";

/// Without a command, on the subject agent, the coding agent of the guides and the subject client; with one after `--`, on
/// that. Flags go to the kit.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let dashes = arguments.iter().position(|argument| argument == "--");
    let (flags, command) = match dashes {
        Some(place) => (&arguments[..place], &arguments[place + 1..]),
        None => (arguments, &[][..]),
    };
    let kit = built("accord-conformance")?;
    if !command.is_empty() {
        let mut call = Command::new(kit);
        call.arg("agent");
        if example::is(command) {
            example::introduce(&mut call);
        }
        return show(call.args(flags).arg("--").args(command));
    }
    let agent = built("accord-subject-agent")?;
    // The automation's view shows committed facts alone; it has to carry the whole scenario just as well.
    subject(&kit, "scenario", flags, &agent, "committed")?;
    let reports = kit.parent().unwrap_or(Path::new(".")).join("conformance");
    fs::create_dir_all(&reports).map_err(|error| format!("{}: {error}", reports.display()))?;
    let given = flags;
    let mut flags = given.to_vec();
    for (form, name) in [("html", "agent.html"), ("json", "agent.json"), ("junit", "agent.xml")] {
        flags.push(format!("--{form}={}", reports.join(name).display()));
    }
    subject(&kit, "agent", &flags, &agent, "live")?;
    println!("the report with its diagrams: {}", reports.join("agent.html").display());
    example::run(&kit, given)?;
    client(&kit, &reports)
}

/// All checks of the subject client, with scripted agents in its agent's place.
fn client(kit: &Path, reports: &Path) -> Result<(), String> {
    let client = built("accord-subject-client")?;
    let mut call = Command::new(kit);
    call.args(["client", "--interrupt", "--timeout", "90"]);
    let waiting =
        format!("'{}' --permission wait --timeout 60 --prompt hello -- {{AGENT}}", client.display());
    call.arg("--to-wait").arg(waiting);
    for (form, name) in [("html", "client.html"), ("json", "client.json"), ("junit", "client.xml")] {
        call.arg(format!("--{form}={}", reports.join(name).display()));
    }
    call.arg("--known").arg(root().join(KNOWN));
    show(call.arg("--").arg(client).args(["--timeout", "60", "--prompt", "hello", "--", "{AGENT}"]))
}

/// One command of the kit on the subject agent.
fn subject(
    kit: &Path,
    command: &str,
    flags: &[String],
    agent: &Path,
    projection: &str,
) -> Result<(), String> {
    let mut call = Command::new(kit);
    call.args([command, "--strict", "--known"]).arg(root().join(KNOWN)).args(flags);
    for (situation, words) in WORDS {
        call.arg(format!("--prompt-{situation}")).arg(words);
    }
    show(call.arg("--").arg(agent).args(["--state-dir", "{STATE}", "--projection", projection]))
}

/// Builds a binary of the kit or of the coding agent, and says where cargo put it. Both packages are always named: what they
/// share is then built once.
fn built(name: &str) -> Result<PathBuf, String> {
    let mut build = cargo();
    build.args(["build", "--quiet", "--package", "accord-conformance", "--package", example::AGENT]);
    build.args(["--bin", name]);
    build.arg("--message-format=json-render-diagnostics");
    let messages = output(&mut build)?;
    let mut paths = messages.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let named = message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| named).map(PathBuf::from)
    });
    paths.next_back().ok_or_else(|| format!("cargo built no {name}"))
}
