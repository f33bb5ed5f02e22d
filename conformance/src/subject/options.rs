//! The subject agent's command line.

use std::{env, path::PathBuf, time::Duration};

use accord_agent::{
    mcp::{McpPolicy, McpSettings},
    runtime::Projection,
};

/// The variable that stands for `--state-dir`.
const STATE_DIR: &str = "ACCORD_STATE_DIR";

pub(super) const HELP: &str = "\
accord-subject-agent: a scripted agent over stdio

  --state-dir DIR              keep sessions in DIR (or ACCORD_STATE_DIR); without it nothing is kept
  --store jsonl|sqlite         how it is kept (default jsonl)
  --projection live|committed  what the client sees: an editor's view (default) or an automation's
  --mcp-policy strict|lenient  what an MCP server that does not start means: no session (default), or a notice
  --mcp-limit MS               how long an MCP server may take to start (default 30000)
  --mcp-call-limit MS          how long a tool call may go on in silence (default 600000)
  --grace MS                   how long a turn may go on after a cancel (default 5000)
  --fork                       offer session/fork, which is unstable
  --auth                       ask for a login: the method `token`, or this program with --login in a terminal
  --login                      log in, and end
  --help                       this text

The first word of a prompt chooses the turn: ping, echo TEXT, stream N S, think TEXT, tools N, permit N, write PATH TEXT,
read PATH, run COMMAND, mcp TOOL JSON, ask, visit, slow MS, history, whoami, usage, plan, commands, title TEXT, refuse, limit,
requests, fail TEXT, stumble TEXT, panic; and mode ID, notice TEXT, compact, expire, child TEXT, print TEXT, image. Anything else is echoed in a few pieces.
";

/// What the command line asks for.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) state_dir: Option<PathBuf>,
    pub(super) projection: Projection,
    pub(super) mcp: McpSettings,
    pub(super) kind: StoreKind,
    pub(super) grace: Option<Duration>,
    pub(super) fork: bool,
    pub(super) auth: bool,
    pub(super) login: bool,
}

/// How sessions are kept.
#[derive(Clone, Copy, Debug)]
pub(super) enum StoreKind {
    Jsonl,
    Sqlite,
}

impl Options {
    /// `None` when help is asked for.
    pub(super) fn parse(args: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let state_dir = env::var_os(STATE_DIR).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let mut options = Self {
            state_dir,
            projection: Projection::Live,
            mcp: McpSettings::default(),
            kind: StoreKind::Jsonl,
            grace: None,
            fork: false,
            auth: false,
            login: false,
        };
        let mut args = args;
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--state-dir" => options.state_dir = Some(value()?.into()),
                "--projection" => {
                    options.projection = match value()?.as_str() {
                        "live" => Projection::Live,
                        "committed" => Projection::Committed,
                        _ => return Err("--projection is live or committed".to_owned()),
                    }
                }
                "--store" => {
                    options.kind = match value()?.as_str() {
                        "jsonl" => StoreKind::Jsonl,
                        "sqlite" => StoreKind::Sqlite,
                        _ => return Err("--store is jsonl or sqlite".to_owned()),
                    }
                }
                "--fork" => options.fork = true,
                "--auth" => options.auth = true,
                "--login" => options.login = true,
                "--mcp-policy" => {
                    options.mcp.policy = match value()?.as_str() {
                        "strict" => McpPolicy::Strict,
                        "lenient" => McpPolicy::Lenient,
                        _ => return Err("--mcp-policy is strict or lenient".to_owned()),
                    }
                }
                "--mcp-limit" => {
                    options.mcp.start_limit = milliseconds("--mcp-limit", &value()?)?;
                }
                "--mcp-call-limit" => {
                    options.mcp.call_limit = milliseconds("--mcp-call-limit", &value()?)?;
                }
                "--grace" => options.grace = Some(milliseconds("--grace", &value()?)?),
                "--help" | "-h" => return Ok(None),
                _ => return Err(format!("{arg} is not an option; --help lists them")),
            }
        }
        Ok(Some(options))
    }
}

fn milliseconds(option: &str, value: &str) -> Result<Duration, String> {
    value.parse().map(Duration::from_millis).map_err(|_| format!("{option} wants milliseconds"))
}
