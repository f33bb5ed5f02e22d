//! What to start, where, and with which environment.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// Called with each line of the child's stderr.
pub(crate) type StderrSink = Arc<dyn Fn(&str) + Send + Sync>;

/// The command line of an agent, and how to treat its process.
///
/// There is no command *string* to split: the program and each argument are given apart, so backslashes, blanks and
/// quotes need no thought.
#[derive(Clone)]
pub struct AgentCommand {
    program: OsString,
    args: Vec<OsString>,
    cwd: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
    policy: EnvPolicy,
    grace: Duration,
    first_frame: Option<Duration>,
    stderr: Option<StderrSink>,
}

/// Which variables of this process's environment a child gets. What [`AgentCommand::env`] sets comes on top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnvPolicy {
    /// All of them.
    #[default]
    Inherit,
    /// Those with these names.
    Allow(Vec<OsString>),
    /// None.
    Clear,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// There is no such program.
    #[error("program not found: {program}")]
    NotFound {
        /// As it was given.
        program: String,
    },
    /// The working directory is not there.
    #[error("working directory not found: {}", cwd.display())]
    NoDirectory {
        /// As it was given.
        cwd: PathBuf,
    },
    /// The system refused to start it.
    #[error("{program} could not be started: {source}")]
    Failed {
        /// As it was given.
        program: String,
        /// What the system said.
        source: io::Error,
    },
}

impl SpawnError {
    pub(crate) fn failed(program: &str, source: io::Error) -> Self {
        let program = program.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { program },
            _ => Self::Failed { program, source },
        }
    }
}

impl AgentCommand {
    /// The program, looked up in `PATH` unless it is a path. On Windows the extensions of `PATHEXT` are tried, so that
    /// `npx` finds `npx.cmd`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: None,
            env: Vec::new(),
            policy: EnvPolicy::default(),
            grace: Duration::from_secs(2),
            first_frame: None,
            stderr: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets the working directory of the process.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets an environment variable, over what the policy lets through. Its value is never logged.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets which variables of this process's environment the child gets.
    #[must_use]
    pub fn env_policy(mut self, policy: EnvPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets how long the process may take to exit after its stdin was closed, and again after it was asked to
    /// terminate. Default 2 s.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets how long the first message may take to come. No limit by default.
    #[must_use]
    pub fn first_frame_deadline(mut self, deadline: Duration) -> Self {
        self.first_frame = Some(deadline);
        self
    }

    /// Calls `sink` with each line the process writes to its stderr, on a task of its own. The last lines are kept for
    /// the errors in any case.
    #[must_use]
    pub fn stderr(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.stderr = Some(Arc::new(sink));
        self
    }

    /// The program as it was given.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    pub(crate) fn program_name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    pub(crate) fn grace_period(&self) -> Duration {
        self.grace
    }

    pub(crate) fn first_frame(&self) -> Option<Duration> {
        self.first_frame
    }

    pub(crate) fn stderr_sink(&self) -> Option<StderrSink> {
        self.stderr.clone()
    }

    /// The command as the standard library takes it, for running the program in another way, such as in the foreground.
    ///
    /// # Errors
    /// The working directory is not there.
    pub fn to_command(&self) -> Result<Command, SpawnError> {
        let mut command = Command::new(self.executable());
        command.args(&self.args);
        if let Some(cwd) = &self.cwd {
            // Otherwise the system's "not found" would be blamed on the program.
            if !Path::is_dir(cwd) {
                return Err(SpawnError::NoDirectory { cwd: cwd.clone() });
            }
            command.current_dir(cwd);
        }
        match &self.policy {
            EnvPolicy::Inherit => {}
            EnvPolicy::Clear => {
                command.env_clear();
            }
            EnvPolicy::Allow(names) => {
                command.env_clear();
                command.envs(names.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
            }
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }

    /// What the system has to be told to start.
    #[cfg(not(windows))]
    fn executable(&self) -> &OsStr {
        &self.program
    }

    /// As above, with the extension that Windows does not find by itself. What is not found stays as it was given, so
    /// that the system's error is about that.
    #[cfg(windows)]
    fn executable(&self) -> OsString {
        let own = self.env.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("PATH"));
        let path = own.map(|(_, value)| value.clone()).or_else(|| std::env::var_os("PATH"));
        let places = super::lookup::Places::new(path.as_deref(), std::env::var_os("PATHEXT").as_deref());
        places.find(&self.program).map_or_else(|| self.program.clone(), Into::into)
    }
}

/// Arguments and environment may hold secrets: only their number and the names are shown.
impl fmt::Debug for AgentCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentCommand")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("cwd", &self.cwd)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
