//! The flags that describe an agent, and the agent they describe.

use std::path::{Path, PathBuf};

use super::args::{Args, Flag, flag};
use crate::waiting::Waiting;
use crate::wire::case::{Facts, Subject};
use crate::wire::process::Launch;
use crate::wire::run;

/// The flags that describe an agent; every command that starts one has them.
pub(super) const FLAGS: &[Flag] = &[
    flag("prompt-echo", "TEXT", "what to type for an ordinary turn; {TEXT} is what it should say"),
    flag("prompt-slow", "TEXT", "… for a turn of some seconds that can be cancelled"),
    flag(
        "prompt-busy",
        "TEXT",
        "… for a turn that ends by itself after two or three seconds (default: the slow one)",
    ),
    flag("prompt-tool", "TEXT", "… for a tool that needs permission; {PATH} and {TEXT}: the file it writes"),
    flag("prompt-mcp", "TEXT", "… for a call of a mounted MCP server's tool; {TOOL} and {JSON}"),
    flag("prompt-stream", "TEXT", "… for a turn of many chunks"),
    flag("prompt-history", "TEXT", "… so that it tells what was said before"),
    flag("prompt-think", "TEXT", "… so that it shows a thought"),
    flag("prompt-whoami", "TEXT", "… so that it says its model and effort"),
    flag("prompt-read", "TEXT", "… so that it reads the file {PATH}"),
    flag("prompt-run", "TEXT", "… so that it runs {COMMAND}"),
    flag("prompt-ask", "TEXT", "… so that it asks the user with a form"),
    flag("prompt-usage", "TEXT", "… so that it reports its usage"),
    flag("prompt-title", "TEXT", "… so that it names the session {TEXT}"),
    flag("prompt-plan", "TEXT", "… so that it makes a plan"),
    flag("prompt-commands", "TEXT", "… so that it announces its commands"),
    flag("prompt-refuse", "TEXT", "… so that it refuses"),
    flag("prompt-limit", "TEXT", "… so that it meets its output limit"),
    flag("prompt-requests", "TEXT", "… so that it meets its limit of model requests"),
    flag("prompt-fail", "TEXT", "… so that its backend fails"),
    flag("prompt-image", "TEXT", "… so that it shows an image"),
    flag("prompt-notice", "TEXT", "… so that it gives a notice"),
    flag("prompt-mode", "TEXT", "… so that it changes its own mode"),
    flag("prompt-visit", "TEXT", "… so that it asks the user to open an address"),
    flag("prompt-compact", "TEXT", "… so that it compacts the conversation"),
    flag(
        "env",
        "NAME=VALUE",
        "a variable for the agent; {STATE} is a folder for its sessions, in arguments, too",
    ),
    flag("cwd", "DIR", "where the agent is started (default: a fresh folder)"),
    flag(
        "timeout",
        "SECONDS",
        "the longest an answer may take: by default 20, or ten times as long as the agent took to start; a program that prints nothing \
         has three times as long for its first answer",
    ),
    flag("auth", "METHOD", "authenticate with this method first"),
    flag("logout", "", "check logout, too: it ends the login"),
    flag("quiet", "SECONDS", "how long to listen where nothing should come (default 0.3)"),
];

/// The agent; `kit` is the program that serves it as an MCP server.
pub(super) fn of(args: &Args, kit: &Path) -> Result<Subject, String> {
    let command = args.program("agent")?.to_vec();
    let mut launch = Launch { command, ..Launch::default() };
    // The agent starts in a folder of the check's own, where a relative path would lead nowhere.
    if launch.command[0].contains('/') {
        launch.command[0] = absolute(&launch.command[0])?;
    }
    launch.env = env(args)?;
    launch.cwd = args.value("cwd").map(folder).transpose()?;
    Ok(Subject {
        launch,
        prompts: args.starting("prompt-").map(|(kind, text)| (kind.to_owned(), text.to_owned())).collect(),
        patience: args.seconds("timeout", 20.0)?,
        quiet: args.seconds("quiet", 0.3)?,
        auth: args.value("auth").map(str::to_owned),
        logout: args.has("logout"),
        mcp: vec![kit.to_string_lossy().into_owned(), "mcp-server".into()],
        facts: Facts::default(),
    })
}

/// Looks at the agent once; what is no agent is an error, unless that is to be `overlooked`.
pub(super) fn probe(
    args: &Args,
    subject: &mut Subject,
    overlooked: bool,
    waiting: &Waiting,
) -> Result<(), String> {
    let unfit = run::probe(subject, waiting).or_else(|unfit| unfit.unless(overlooked));
    let hint = if args.has("cwd") { String::new() } else { elsewhere(args, ", or --cwd .") };
    unfit.map_err(|why| why + &hint)
}

/// What to add to the complaint that a program did not do as it should: it is not started in the folder that its words mean.
pub(super) fn elsewhere(args: &Args, way_out: &str) -> String {
    let words = args.command.iter().skip(1);
    let mut near = words.filter(|word| !word.starts_with(['/', '-']) && Path::new(word).exists());
    near.next().map_or_else(String::new, |word| {
        format!("\n  {word} is here, and the program is started in a folder of its own: give the full path{way_out}")
    })
}

/// The variables that `--env` gives.
pub(super) fn env(args: &Args) -> Result<Vec<(String, String)>, String> {
    let pair = |variable: &str| {
        let (name, value) =
            variable.split_once('=').ok_or_else(|| format!("--env needs NAME=VALUE, not {variable}"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    args.values("env").map(pair).collect()
}

fn folder(path: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(absolute(path)?);
    if path.is_dir() { Ok(path) } else { Err(format!("--cwd: {} is no folder", path.display())) }
}

pub(super) fn absolute(path: &str) -> Result<String, String> {
    let absolute = std::path::absolute(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(absolute.to_string_lossy().into_owned())
}
