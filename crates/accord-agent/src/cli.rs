//! An agent program's entry: `--version`, `--check`, `--setup` and `--manifest` before anything is served, then the wire.
//!
//! What a program needs besides its agent is the same every time: an env file, a log on stderr with a level, a way to ask
//! whether it is configured, an interactive set-up that an editor can start in a terminal, and a stdout that carries the
//! protocol alone. [`run`] has all of it; a program implements [`Program`].

mod console;
mod env_file;
mod files;
mod log;
mod manifest;

use std::{
    future::Future,
    io::{self, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use accord_protocol::v1::Implementation;

pub use console::Console;
pub use env_file::{EnvFileError, Environment};
pub use files::more_open_files;
pub use log::log_to_stderr;
pub use tracing::level_filters::LevelFilter;

pub use manifest::{BinaryTarget, Distribution, Manifest, ManifestFault, PLATFORMS, Package};

/// The name of the flag that configures the program, as it stands in a terminal authentication method.
pub const SETUP_FLAG: &str = "--setup";

/// A program that serves an agent.
pub trait Program: Sized {
    /// Its name and version.
    fn info(&self) -> Implementation;

    /// The env file that is read where none is named.
    fn env_file(&self) -> Option<PathBuf> {
        None
    }

    /// What is configured and whether the agent can start, for `--check`.
    fn check(&self, environment: &Environment) -> Vec<Check>;

    /// Configures the program in a conversation, for `--setup`.
    ///
    /// # Errors
    ///
    /// When the answers end, or what they say can't be stored.
    fn setup(&self, environment: &mut Environment, console: &mut Console<'_>) -> Result<(), SetupError>;

    /// The manifest for agent registries, for `--manifest`.
    fn manifest(&self) -> Option<Manifest> {
        None
    }

    /// Serves the agent on stdin and stdout until the client goes.
    ///
    /// # Errors
    ///
    /// When it can't start, or the connection fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the connection.
    fn serve(self, environment: Environment) -> impl Future<Output = Result<(), ServeFailure>>;
}

/// Why a program stopped serving.
pub type ServeFailure = Box<dyn std::error::Error + Send + Sync>;

/// One thing that `--check` looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// What.
    pub what: String,
    /// How it stands, and what to do where it stands badly.
    pub finding: String,
    /// Whether the agent can start with it.
    pub good: bool,
}

impl Check {
    /// Something that is as it should be.
    pub fn good(what: impl Into<String>, finding: impl Into<String>) -> Self {
        Self { what: what.into(), finding: finding.into(), good: true }
    }

    /// Something that keeps the agent from starting.
    pub fn bad(what: impl Into<String>, finding: impl Into<String>) -> Self {
        Self { what: what.into(), finding: finding.into(), good: false }
    }
}

/// Why a set-up came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The person or the terminal went away.
    #[error("the set-up was not finished")]
    Console(#[from] io::Error),
    /// What was said could not be stored.
    #[error("the set-up could not be stored")]
    Store(#[from] EnvFileError),
    /// What was said can't work.
    #[error("{0}")]
    Refused(String),
}

/// What the command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Arguments {
    action: Action,
    env_file: Option<PathBuf>,
    log: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Action {
    #[default]
    Serve,
    Help,
    Version,
    Check,
    Setup,
    Manifest,
}

/// Does what the command line asks for: by default serves the agent, else answers and ends before anything is served.
///
/// Exit status: 0 when all went well, 1 when a check or a set-up failed or serving ended with an error, 2 for a command
/// line that is not understood.
///
/// # Cancel safety
///
/// Dropping the future ends the connection that is being served.
pub async fn run<P: Program>(program: P) -> ExitCode {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    match Arguments::read(&arguments) {
        Ok(arguments) => {
            act(program, arguments, &mut io::stdout()).await.unwrap_or_else(|error| fail(&error))
        }
        Err(error) => {
            complain(&format!("{error} (--help tells what there is)"));
            ExitCode::from(2)
        }
    }
}

async fn act<P: Program>(
    program: P,
    arguments: Arguments,
    out: &mut impl Write,
) -> Result<ExitCode, ServeFailure> {
    match arguments.action {
        Action::Help => {
            out.write_all(help(&program.info().name).as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        Action::Version => {
            let info = program.info();
            writeln!(out, "{} {}", info.name, info.version)?;
            return Ok(ExitCode::SUCCESS);
        }
        Action::Manifest => return manifest(&program, out),
        Action::Serve | Action::Check | Action::Setup => {}
    }
    let mut environment = Environment::process();
    if let Some(path) = arguments.env_file.or_else(|| program.env_file()) {
        environment = environment.with_file(path)?;
    }
    let level = arguments.log.or_else(|| environment.get("ACCORD_LOG")).unwrap_or_else(|| "warn".into());
    log_to_stderr(log::level(&level).ok_or_else(|| format!("{level} is no log level"))?);
    match arguments.action {
        Action::Check => Ok(report(&program.info(), &program.check(&environment), out)?),
        Action::Setup => {
            let mut input = io::stdin().lock();
            program.setup(&mut environment, &mut Console::on_stdin(&mut input, out))?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            if io::stdin().is_terminal() {
                complain("this is an agent for an ACP client, which speaks JSON on stdin; see --help");
            }
            program.serve(environment).await?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn manifest<P: Program>(program: &P, out: &mut impl Write) -> Result<ExitCode, ServeFailure> {
    let manifest = program.manifest().ok_or("this program has no manifest")?;
    manifest.check()?;
    serde_json::to_writer_pretty(&mut *out, &manifest)?;
    writeln!(out)?;
    Ok(ExitCode::SUCCESS)
}

fn report(info: &Implementation, checks: &[Check], out: &mut impl Write) -> io::Result<ExitCode> {
    writeln!(out, "{} {}", info.name, info.version)?;
    for check in checks {
        writeln!(out, "  {} {}: {}", if check.good { "ok " } else { "BAD" }, check.what, check.finding)?;
    }
    let good = checks.iter().all(|check| check.good);
    writeln!(out, "{}", if good { "ready" } else { "not ready" })?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Arguments {
    fn read(given: &[String]) -> Result<Self, String> {
        let mut arguments = Self::default();
        let mut given = given.iter();
        while let Some(argument) = given.next() {
            let (name, inline) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            let mut value = || {
                inline
                    .clone()
                    .or_else(|| given.next().cloned())
                    .ok_or_else(|| format!("{name} needs a value"))
            };
            match name {
                "--env-file" => arguments.env_file = Some(value()?.into()),
                "--log" => arguments.log = Some(value()?),
                _ => {
                    let action =
                        Action::named(argument).ok_or_else(|| format!("unknown argument {argument}"))?;
                    if arguments.action != Action::Serve && arguments.action != action {
                        return Err(format!("{argument} cannot be combined with another action"));
                    }
                    arguments.action = action;
                }
            }
        }
        Ok(arguments)
    }
}

impl Action {
    fn named(flag: &str) -> Option<Self> {
        Some(match flag {
            "--help" | "-h" => Self::Help,
            "--version" | "-V" => Self::Version,
            "--check" => Self::Check,
            SETUP_FLAG => Self::Setup,
            "--manifest" => Self::Manifest,
            // Clients commonly start agents with it; serving is what this program does anyway.
            "--acp" => Self::Serve,
            _ => return None,
        })
    }
}

fn help(name: &str) -> String {
    format!(
        "{name}: an agent that speaks the Agent Client Protocol on stdin and stdout\n\n\
         usage: {name} [--env-file FILE] [--log LEVEL] [ACTION]\n\n\
         \x20 --version   print the version\n\
         \x20 --check     say what is configured and whether the agent can start\n\
         \x20 --setup     configure it, in a conversation\n\
         \x20 --manifest  print the manifest for agent registries\n\
         \x20 --help      print this\n\n\
         Without an action the agent is served. LEVEL is off, error, warn (the default), info, debug or trace;\n\
         the log goes to stderr.\n"
    )
}

fn fail(error: &ServeFailure) -> ExitCode {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    complain(&text);
    ExitCode::FAILURE
}

/// Tells the person on stderr; with stderr gone there is nobody left to tell.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
