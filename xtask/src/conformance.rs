//! `cargo xtask conformance`: the main job, played on a real agent and judged from outside.

mod blocks;
mod example;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use self::blocks::Blocks;
use crate::cargo::{cargo, output, root, show};

/// What to type to the subject agent, by the situation it brings about.
const WORDS: &[(&str, &str)] = &[
    ("echo", "echo {TEXT}"),
    ("slow", "slow 20000"),
    ("busy", "slow 2000"),
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
    ("mode", "mode auto"),
    ("refuse", "refuse"),
    ("limit", "limit"),
    ("requests", "requests"),
    ("fail", "fail on purpose"),
    ("image", "image"),
    ("notice", "notice Mind the gap"),
    ("compact", "compact"),
    ("visit", "visit"),
];

/// The checks that touch what is stored: all that a second store can change.
const STORED: &str = "ACP-LOAD-*,ACPX-LOAD-*,ACP-RESUME-*,ACPX-RESUME-*,ACP-LIST-*,ACPX-LIST-00*,ACPX-LIST-010,ACPX-LIST-014,ACPX-LIST-015,ACP-CLOSE-*,ACPX-CLOSE-*,\
    ACP-DELETE-*,ACPX-DELETE-*,ACPX-RESTART-*,ACPX-SESS-010,ACPX-ADDDIRS-003,ACPX-ADDDIRS-006,ACPX-MCP-011,ACP-SCHEMA-001";

/// What the subjects are known to fail, each with its reason.
const KNOWN: &str = "conformance/known-failures.toml";

/// What is known of the flags before the kit sees them.
const HELP: &str = "\
cargo xtask conformance                         the kit on the subject agent (each store and projection), the coding agent and the subject client
cargo xtask conformance [FLAGS] -- COMMAND…     the scenario and all checks on that agent
cargo xtask conformance --only IDS              these checks alone, on the subject agent
cargo xtask conformance --self-check[=full]     the kit on itself: a planted defect for each check

The other flags go to the kit:

";

/// Without a command, on the subject agent, the coding agent of the guides and the subject client; with one after `--`, on
/// that. Flags go to the kit.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let dashes = arguments.iter().position(|argument| argument == "--");
    let (flags, command) = match dashes {
        Some(place) => (&arguments[..place], &arguments[place + 1..]),
        None => (arguments, &[][..]),
    };
    if flags.iter().any(|flag| matches!(flag.as_str(), "--help" | "-h" | "help")) {
        print!("{HELP}");
        return show(Command::new(built("accord-conformance")?).args(["agent", "--help"]));
    }
    if let Some(flag) = flags.iter().find(|flag| flag.starts_with("--self-check")) {
        return self_check(flag == "--self-check=full");
    }
    let kit = built("accord-conformance")?;
    if !command.is_empty() {
        let mut call = Command::new(kit);
        call.arg("agent");
        if example::is(command) {
            example::introduce(&mut call);
        }
        return show(call.args(flags).arg("--").args(command));
    }
    let mut blocks = Blocks::beside(&kit, flags)?;
    agents(&mut blocks, &built("accord-subject-agent")?);
    // Chosen checks are those of agents, and of one agent.
    if !blocks.chosen() {
        example::run(&mut blocks)?;
        client(&mut blocks)?;
    }
    blocks.sum()
}

/// The scenario and the checks of the subject agent, on each store and each view.
fn agents(blocks: &mut Blocks, agent: &Path) {
    // The automation's view shows committed facts alone; it has to carry the whole scenario just as well.
    if !blocks.chosen() {
        let scenario =
            subject(blocks, "scenario", agent, &["--store", "sqlite", "--projection", "committed"]);
        blocks.run("scenario", "the scenario: subject agent, SQLite, committed facts", &scenario);
    }
    let checks = subject(blocks, "agent", agent, &["--store", "jsonl", "--projection", "live"]);
    blocks.run("agent", "scenario and checks: subject agent, JSONL", &checks);
    for (name, title, how) in [
        ("agent-sqlite", "checks: subject agent, SQLite", ["--store", "sqlite", "--projection", "live"]),
        (
            "agent-committed",
            "checks: subject agent, JSONL, committed facts",
            ["--store", "jsonl", "--projection", "committed"],
        ),
    ] {
        let mut checks = subject(blocks, "agent", agent, &how);
        if !blocks.chosen() {
            checks.splice(1..1, ["--only".to_owned(), STORED.to_owned()]);
        }
        blocks.run(name, title, &checks);
    }
}

/// The kit on itself: a planted defect for each check; `full` holds all mandatory checks against each of them, which takes long.
fn self_check(full: bool) -> Result<(), String> {
    let mut check = cargo();
    check.args(["test", "--package", "accord-conformance", "--test", "defects"]);
    if full {
        check.args(["--", "--full"]);
    }
    show(&mut check)
}

/// All checks of the subject client, with scripted agents in its agent's place.
fn client(blocks: &mut Blocks) -> Result<(), String> {
    let client = built("accord-subject-client")?;
    let mut call = words(&["client", "--interrupt", "--timeout", "90", "--to-wait"]);
    call.push(format!("'{}' --permission wait --timeout 60 --prompt hello -- {{AGENT}}", client.display()));
    call.push("--to-command".into());
    call.push(format!("'{}' --timeout 60 --prompt '/accord run it' -- {{AGENT}}", client.display()));
    call.extend(["--known".into(), root().join(KNOWN).display().to_string(), "--".into()]);
    call.push(client.display().to_string());
    call.extend(words(&["--timeout", "60", "--prompt", "hello", "--", "{AGENT}"]));
    blocks.run("client", "checks: subject client", &call);
    Ok(())
}

/// The kit's arguments for one of its commands on the subject agent.
fn subject(blocks: &Blocks, command: &str, agent: &Path, how: &[&str]) -> Vec<String> {
    let mut call = words(&[command, "--strict", "--known"]);
    call.push(root().join(KNOWN).display().to_string());
    call.extend(blocks.flags.iter().cloned());
    for (situation, typed) in WORDS {
        call.extend([format!("--prompt-{situation}"), (*typed).to_owned()]);
    }
    call.extend(["--".into(), agent.display().to_string()]);
    // What a server that never answers costs is this limit, and no more than it is to be seen.
    call.extend(words(&["--state-dir", "{STATE}", "--mcp-limit", "3000"]));
    call.extend(words(how));
    call
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
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
