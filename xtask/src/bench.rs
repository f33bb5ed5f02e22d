//! `cargo xtask bench`: Accord's agent and client beside the floor and the official SDKs, in one run.

mod scripts;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::cargo::{cargo, root, show};

/// The programs of ours that are timed; the keeper keeps its sessions.
const AGENT: &str = "accord-bench-agent";
const CLIENT: &str = "accord-bench-client";
const KEEPER: &str = "accord-subject-agent";

const USAGE: &str = "\
cargo xtask bench [OPTIONS]
  --suite NAMES    of agent, client, start, stall, slow, store, agent-instructions, client-instructions (these two need
                   valgrind), with commas, or all (default agent,client,start)
  --work WORK      only this work, such as 'stream 1000 64'; may be given again
  --rounds N       how often each is run (default 5)
  --quick          a tenth of each work, three rounds
  --with NAMES     also the SDKs for typescript, python (with a comma); their packages are installed when missing
  --built          use what was built before
  --json FILE      every run and every figure as JSON
  --cpu N|none     the processor everything is pinned to
  --agent NAME=COMMAND, --client NAME=COMMAND
                   time this one too; a client is run as COMMAND AGENT_COMMAND PROMPT";

/// What is built and run: commands under the names they have in the tables.
#[derive(Default)]
struct Peers {
    agents: Vec<(String, String)>,
    clients: Vec<(String, String)>,
}

/// What of the arguments is for this chore; the rest goes on to `accord-bench`.
struct Choice {
    /// Peers that are scripts: `typescript`, `python`.
    scripts: Vec<String>,
    /// Whether what was built before is used as it is.
    built: bool,
    rest: Vec<String>,
}

/// Builds everything in release, and hands over to `accord-bench`.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if arguments.iter().any(|argument| argument == "--help") {
        println!("{USAGE}");
        return Ok(());
    }
    let choice = choose(arguments)?;
    let peers = root().join("conformance/peers");
    // One folder for both workspaces, so that what they share is built once.
    let target = peers.join("target");
    if !choice.built {
        let ours = [AGENT, CLIENT, KEEPER].map(|program| format!("--bin={program}"));
        build(&root(), None, &["--package=accord-conformance"], &ours)?;
        build(&peers, Some(&target), &["--package=accord-bench", "--bins"], &[])?;
        build(&peers.join("sdk"), Some(&target), &["--bins"], &[])?;
    }
    let ours = target_folder().join("release");
    let theirs = target.join("release");
    let mut all = Peers::default();
    all.add("accord", &program(&ours, AGENT), &program(&ours, CLIENT));
    all.add("serde", &program(&theirs, "floor-agent"), &program(&theirs, "floor-client"));
    all.add("rust-sdk", &program(&theirs, "sdk-agent"), &program(&theirs, "sdk-client"));
    for name in &choice.scripts {
        let (agent, client) = scripts::install(name, &peers)?;
        all.add(name, &agent, &client);
    }
    let mut bench = Command::new(theirs.join("accord-bench"));
    for (flag, commands) in [("--agent", &all.agents), ("--client", &all.clients)] {
        for (name, command) in commands {
            bench.arg(flag).arg(format!("{name}={command}"));
        }
    }
    let keeper = program(&ours, KEEPER);
    bench.arg("--stored").arg(format!("no-store={keeper}"));
    for store in ["jsonl", "sqlite"] {
        bench.arg("--stored").arg(format!("{store}={keeper} --store {store} --state-dir {{store}}"));
    }
    show(bench.args(&choice.rest))
}

impl Peers {
    fn add(&mut self, name: &str, agent: &str, client: &str) {
        self.agents.push((name.into(), agent.into()));
        self.clients.push((name.into(), client.into()));
    }
}

fn choose(arguments: &[String]) -> Result<Choice, String> {
    let mut choice = Choice { scripts: Vec::new(), built: false, rest: Vec::new() };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--with" => {
                let names = arguments.next().ok_or("--with needs typescript, python or both with a comma")?;
                choice.scripts = names.split(',').map(str::to_owned).collect();
            }
            "--built" => choice.built = true,
            _ => choice.rest.push(argument.clone()),
        }
    }
    Ok(choice)
}

fn build(workspace: &Path, target: Option<&Path>, what: &[&str], more: &[String]) -> Result<(), String> {
    let mut command = cargo();
    command.current_dir(workspace).args(["build", "--release"]).args(what).args(more);
    if let Some(target) = target {
        command.arg("--target-dir").arg(target);
    }
    show(&mut command)
}

/// Where cargo puts what it builds for the main workspace.
fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// A program's path as one word of a command line.
fn program(folder: &Path, name: &str) -> String {
    format!("'{}'", folder.join(name).display())
}
