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

/// Without a command, on the subject agent, the coding agent of the guides and the subject client; with one after `--`, on
/// that. Flags go to the kit.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let dashes = arguments.iter().position(|argument| argument == "--");
    let (flags, command) = match dashes {
        Some(place) => (&arguments[..place], &arguments[place + 1..]),
        None => (arguments, &[][..]),
    };
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
    let agent = built("accord-subject-agent")?;
    let reports = kit.parent().unwrap_or(Path::new(".")).join("conformance");
    fs::create_dir_all(&reports).map_err(|error| format!("{}: {error}", reports.display()))?;
    let run = |command: &str, name: Option<&str>, more: &[&str], how: &[&str]| {
        let mut flags = flags.to_vec();
        flags.extend(more.iter().map(|flag| (*flag).to_owned()));
        for (form, end) in [("html", "html"), ("json", "json"), ("junit", "xml")] {
            let path = name.map(|name| reports.join(name).with_extension(end));
            flags.extend(path.map(|path| format!("--{form}={}", path.display())));
        }
        subject(&kit, command, &flags, &agent, how)
    };
    // The automation's view shows committed facts alone; it has to carry the whole scenario just as well.
    run("scenario", None, &[], &["--store", "sqlite", "--projection", "committed"])?;
    run("agent", Some("agent"), &[], &["--store", "jsonl", "--projection", "live"])?;
    let stored = ["--only", STORED];
    run("agent", Some("agent-sqlite"), &stored, &["--store", "sqlite", "--projection", "live"])?;
    run("agent", Some("agent-committed"), &stored, &["--store", "jsonl", "--projection", "committed"])?;
    example::run(&kit, flags)?;
    println!("the report with its diagrams: {}", reports.join("agent.html").display());
    client(&kit, &reports)
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
fn client(kit: &Path, reports: &Path) -> Result<(), String> {
    let client = built("accord-subject-client")?;
    let mut call = Command::new(kit);
    call.args(["client", "--interrupt", "--timeout", "90"]);
    let waiting =
        format!("'{}' --permission wait --timeout 60 --prompt hello -- {{AGENT}}", client.display());
    call.arg("--to-wait").arg(waiting);
    let commanding = format!("'{}' --timeout 60 --prompt '/accord run it' -- {{AGENT}}", client.display());
    call.arg("--to-command").arg(commanding);
    for (form, name) in [("html", "client.html"), ("json", "client.json"), ("junit", "client.xml")] {
        call.arg(format!("--{form}={}", reports.join(name).display()));
    }
    call.arg("--known").arg(root().join(KNOWN));
    show(call.arg("--").arg(client).args(["--timeout", "60", "--prompt", "hello", "--", "{AGENT}"]))
}

/// One command of the kit on the subject agent.
fn subject(kit: &Path, command: &str, flags: &[String], agent: &Path, how: &[&str]) -> Result<(), String> {
    let mut call = Command::new(kit);
    call.args([command, "--strict", "--known"]).arg(root().join(KNOWN)).args(flags);
    for (situation, words) in WORDS {
        call.arg(format!("--prompt-{situation}")).arg(words);
    }
    show(call.arg("--").arg(agent).args(["--state-dir", "{STATE}"]).args(how))
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
