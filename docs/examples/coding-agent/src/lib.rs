//! A small coding agent that blocks: it reads, writes, patches, searches and runs commands for whatever model is behind it.
//!
//! Everything in it is synchronous; `accord-agent`'s adapter makes an ACP agent of it. Point it at any server that
//! speaks chat completions (`--setup` asks for it) and start it from an editor.

mod agent;
mod config;
mod model;
pub mod server;
mod setup;
mod tools;

use std::{path::PathBuf, process::ExitCode};

use accord_agent::{
    blocking::Blocking,
    cli::{self, BinaryTarget, Check, Console, Environment, Manifest, Program, ServeFailure, SetupError},
    protocol::v1::Implementation,
    store::{Store, sqlite::SqliteStore},
};

use agent::CodingAgent;
use config::Config;

/// The guide's own code is compiled with this package's tests.
#[cfg(doctest)]
#[doc = include_str!("../../../guides/wrap-a-blocking-agent.md")]
struct Guide;

/// Does what the command line asks for: serves the agent, or says what it is and whether it is configured.
///
/// # Cancel safety
///
/// Dropping the future ends the connection.
pub async fn run() -> ExitCode {
    cli::run(CodingAgentProgram).await
}

/// The program around the agent.
struct CodingAgentProgram;

impl Program for CodingAgentProgram {
    fn info(&self) -> Implementation {
        info()
    }

    fn env_file(&self) -> Option<PathBuf> {
        config::env_file()
    }

    fn check(&self, environment: &Environment) -> Vec<Check> {
        setup::check(&Config::read(environment))
    }

    fn setup(&self, environment: &mut Environment, console: &mut Console<'_>) -> Result<(), SetupError> {
        setup::ask(environment, console)
    }

    fn manifest(&self) -> Option<Manifest> {
        let mut target = BinaryTarget::default();
        target.archive =
            concat!("https://example.org/accord-coding-agent-", env!("CARGO_PKG_VERSION"), ".tar.gz").into();
        target.cmd = "./accord-coding-agent".into();
        let description = "A small coding agent for any server that speaks chat completions.";
        let manifest = Manifest::new(
            "accord-coding-agent",
            "Accord coding agent",
            env!("CARGO_PKG_VERSION"),
            description,
        );
        Some(manifest.binary("linux-x86_64", target))
    }

    async fn serve(self, environment: Environment) -> Result<(), ServeFailure> {
        let folder = Config::read(&environment).state_dir();
        let folder = folder.ok_or("no directory for the sessions: set ACCORD_STATE_DIR")?;
        let store = Store::start(SqliteStore::open(folder)?)?;
        let runtime = Blocking::new(CodingAgent::new(environment)).runtime().store(store).build();
        Ok(accord_agent::serve_stdio(runtime).await?)
    }
}

/// The agent's name and version.
fn info() -> Implementation {
    Implementation::new("accord-coding-agent", env!("CARGO_PKG_VERSION"))
}
