//! The subject agent: built on `accord-agent` as any agent would be, deterministic, without a key and without a network.
//!
//! What a turn does is chosen by the first word of the prompt; the rest is as real as it can be: files are written,
//! commands run, MCP servers mounted, sessions kept on the disk.

mod backend;
mod catalogue;
mod command;
mod login;
mod options;
mod turns;

use std::{path::Path, process::ExitCode};

use accord_agent::{
    Serve,
    cli::{LevelFilter, log_to_stderr, more_open_files},
    runtime::{Active, Projection, Runtime},
    store::{SessionStore, Store, jsonl::JsonlStore, sqlite::SqliteStore},
};

use self::backend::Subject;
use self::login::Login;
use self::options::{Options, StoreKind};
use crate::say;

/// Serves on stdin and stdout until the client is gone; `args` are the process's own, without its name.
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    let options = match Options::parse(args) {
        Ok(Some(options)) => options,
        Ok(None) => {
            say::err(options::HELP);
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            say::err(&format!("accord-subject-agent: {why}\n"));
            return ExitCode::from(2);
        }
    };
    log_to_stderr(LevelFilter::WARN);
    more_open_files();
    let served = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(serve(&options)));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            say::err(&format!("accord-subject-agent: {why}\n"));
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: &Options) -> Result<(), String> {
    let login = Login::of(options);
    if options.login {
        return login.record(true).map_err(|error| error.to_string());
    }
    let mut builder = Runtime::builder(Subject::new(login))
        .catalogue(catalogue::catalogue())
        .projection(options.projection)
        .mcp(options.mcp)
        // An editor wants to see what is open, a controller knows.
        .active(match options.projection {
            Projection::Live => Active::Reopenable,
            _ => Active::Reserved,
        });
    if options.fork {
        builder = builder.unstable_fork();
    }
    if let Some(dir) = &options.state_dir {
        builder =
            builder.store(store(options.kind, dir).map_err(|error| format!("{}: {error}", dir.display()))?);
    }
    let mut serve = Serve::new(builder.build());
    if let Some(grace) = options.grace {
        serve = serve.grace(grace);
    }
    serve.run_stdio().await.map_err(|error| error.to_string())
}

fn store(kind: StoreKind, dir: &Path) -> Result<Store, String> {
    let opened: Result<Box<dyn SessionStore>, _> = match kind {
        StoreKind::Jsonl => JsonlStore::open(dir).map(|store| Box::new(store) as _),
        StoreKind::Sqlite => SqliteStore::open(dir).map(|store| Box::new(store) as _),
    };
    let store = opened.map_err(|error| error.to_string())?;
    Store::start(store).map_err(|error| error.to_string())
}
