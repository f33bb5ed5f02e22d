//! The command line of `accord-conformance`.

mod agent;
mod args;
mod catalogue;
mod client;
mod near;
mod output;
mod replay;
mod scenario;
mod subject;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use self::args::{Args, Flag};
use crate::report::Report;
use crate::say::line;
use crate::waiting::Waiting;
use crate::wire::verdict::{BINDING, Verdict};

/// A subcommand: its name, what it does, its flags, its function.
struct Command {
    name: &'static str,
    about: &'static str,
    flags: &'static [&'static [Flag]],
    /// It gives verdicts, which its help explains.
    judges: bool,
    run: fn(&Args) -> Result<ExitCode, String>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "scenario",
        about: "the scenario alone: a session's life over several processes: accord-conformance scenario [flags] -- COMMAND…",
        flags: &[subject::FLAGS, scenario::FLAGS, output::FLAGS],
        judges: true,
        run: scenario::run,
    },
    Command {
        name: "agent",
        about: "the scenario and all checks of an agent: accord-conformance agent [flags] -- COMMAND…",
        flags: &[subject::FLAGS, agent::FLAGS, scenario::FLAGS, output::FLAGS],
        judges: true,
        run: agent::run,
    },
    Command {
        name: "client",
        about: "all checks of a client: accord-conformance client [flags] -- COMMAND… {AGENT} …",
        flags: &[client::FLAGS, output::FLAGS],
        judges: true,
        run: client::run,
    },
    Command {
        name: "replay",
        about: "a recording as an agent on stdin and stdout, or as the client of one: accord-conformance replay RECORDING [-- AGENT…]",
        flags: &[replay::FLAGS],
        judges: false,
        run: replay::run,
    },
    Command {
        name: "list",
        about: "the requirements, and which of them are checked",
        flags: &[catalogue::FLAGS],
        judges: false,
        run: catalogue::list,
    },
    Command {
        name: "explain",
        about: "one requirement: accord-conformance explain ID",
        flags: &[],
        judges: false,
        run: catalogue::explain,
    },
];

/// A command that takes what follows its name.
type Part = fn(&[String]) -> ExitCode;

/// The commands that the kit starts itself as; they are not for people.
const PARTS: &[(&str, Part)] =
    &[("play", crate::play::run), ("tee", crate::tee::run), ("mcp-server", crate::mcp_server::run)];

/// Runs the command line; `args` are the process's own, program name first.
pub fn run(args: &[String]) -> ExitCode {
    let name = args.get(1).map_or("help", String::as_str);
    if let Some((_, part)) = PARTS.iter().find(|(part, _)| *part == name) {
        return part(&args[1..]);
    }
    if matches!(name, "help" | "--help" | "-h") {
        crate::say::out(&overview());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        let names = COMMANDS.iter().map(|command| command.name).chain(["tee"]);
        let hint = near::hint(name, names);
        crate::say::err(&format!("accord-conformance: there is no command {name}{hint}\n\n{}", overview()));
        return ExitCode::from(2);
    };
    if args.iter().skip(2).take_while(|arg| *arg != "--").any(|arg| arg == "--help" || arg == "-h") {
        crate::say::out(&help(command));
        return ExitCode::SUCCESS;
    }
    let outcome = Args::parse(command.flags, &args[2..]).and_then(|args| (command.run)(&args));
    outcome.unwrap_or_else(|why| {
        crate::say::err(&format!("accord-conformance {name}: {why}\n"));
        ExitCode::from(2)
    })
}

/// The program that runs now, which the kit also starts as recorder, scripted agent and MCP server.
fn own_program() -> Result<PathBuf, String> {
    std::env::current_exe().map_err(|error| format!("where am I: {error}"))
}

/// A run of `agent` or `client` without a word on the terminal; `kit` is the program to start as the kit's own parts.
pub(crate) fn quietly(kit: &Path, args: &[String]) -> Result<Report, String> {
    let name = args.first().map_or("", String::as_str);
    let flags = COMMANDS.iter().find(|command| command.name == name).map_or(&[][..], |command| command.flags);
    let parsed = Args::parse(flags, args.get(1..).unwrap_or_default())?;
    match name {
        "agent" => agent::examine(&parsed, kit, &Arc::default(), |_, _| ()),
        "client" => client::examine(&parsed, kit, &Waiting::default(), |_, _| ()),
        other => Err(format!("{other} checks nothing")),
    }
}

fn overview() -> String {
    let mut text = "Does any agent, or any client, speak the Agent Client Protocol?\n\n".to_owned();
    for command in COMMANDS {
        line!(text, "  {:10} {}", command.name, command.about);
    }
    line!(
        text,
        "  {:10} an agent's stand-in that records what crosses: accord-conformance tee FILE -- COMMAND…",
        "tee"
    );
    text.push_str("\naccord-conformance COMMAND --help lists the flags of a command.\n");
    text
}

fn help(command: &Command) -> String {
    let mut text = format!("{}\n\n", command.about);
    for flag in command.flags.iter().copied().flatten() {
        let left = format!("--{} {}", flag.name, flag.value);
        // One that is longer than its column has a line for itself.
        let left = if left.len() > LEFT { format!("{left}\n{:1$}", "", LEFT + 2) } else { left };
        line!(text, "  {left:LEFT$} {}", wrapped(flag.about));
    }
    if command.judges {
        text.push_str(&words());
    }
    text
}

/// How wide the names of flags are, and what stands beside them.
const LEFT: usize = 28;
const RIGHT: usize = 92;

/// Text in lines that fit beside the names.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("it begins with one, and only grows");
        if !line.is_empty() && line.len() + word.len() >= RIGHT {
            lines.push(word.to_owned());
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.join(&format!("\n{:1$}", "", LEFT + 3))
}

/// What the words of a report mean, and what the process says at its end.
fn words() -> String {
    let mut text = String::from("\nVerdicts\n\n");
    for verdict in Verdict::ALL {
        line!(text, "  {:13} {}", verdict.to_string(), verdict.meaning());
    }
    line!(text, "\n  {BINDING}; others are told, and decide nothing");
    line!(
        text,
        "\nStatus  0 no binding failure\n        1 a binding failure, or, with --known, anything that is not as listed\n        2 nothing to check: no such program, or it does not speak ACP"
    );
    text
}
