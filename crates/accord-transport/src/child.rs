//! The agent as a child process: started in a group of its own, watched, and ended with everything it started.

mod command;
mod ending;
#[cfg(any(windows, test))]
mod lookup;
mod stderr;
#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod watcher;
#[cfg(windows)]
mod windows;

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{oneshot, watch};

pub use command::{AgentCommand, EnvPolicy, SpawnError};
use stderr::Tail;
#[cfg(unix)]
pub use unix::Group;
#[cfg(windows)]
pub use windows::Group;

/// A running child process and everything it started.
pub(crate) struct Child {
    program: String,
    pid: u32,
    group: Group,
    status: watch::Receiver<Option<ExitStatus>>,
    tail: Tail,
    grace: Duration,
    first_frame: Option<Duration>,
    /// Dropped with the child, which tells the task that reaps it to kill it.
    _keep: oneshot::Sender<()>,
}

impl Child {
    /// Starts the program; its stdout and stdin are the wire. `exited` is called when the process itself is gone,
    /// whatever it left behind.
    pub(crate) fn spawn(
        command: &AgentCommand,
        exited: impl FnOnce() + Send + 'static,
    ) -> Result<(Self, ChildStdout, ChildStdin), SpawnError> {
        let program = command.program_name();
        let mut process = Command::from(command.to_command()?);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        Group::prepare(&mut process);
        let failed = |source| SpawnError::failed(&program, source);
        let mut child = process.spawn().map_err(failed)?;
        let pid = child.id().unwrap_or_default();
        let group = Group::of(&child).map_err(failed)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed(std::io::ErrorKind::BrokenPipe.into()));
        };
        let tail = Tail::drain(stderr, command.stderr_sink());
        let (status_sender, status) = watch::channel(None);
        let (keep, mut dropped) = oneshot::channel();
        tokio::spawn(async move {
            let status = tokio::select! {
                status = child.wait() => status,
                _ = &mut dropped => {
                    // The group is killed by now; this only reaps.
                    let _ = child.start_kill();
                    child.wait().await
                }
            };
            status_sender.send_replace(status.ok());
            exited();
        });
        let this = Self {
            program,
            pid,
            group,
            status,
            tail,
            grace: command.grace_period(),
            first_frame: command.first_frame(),
            _keep: keep,
        };
        Ok((this, stdout, stdin))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn first_frame(&self) -> Option<Duration> {
        self.first_frame
    }
}
