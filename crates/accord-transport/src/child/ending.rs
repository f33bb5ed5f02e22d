//! The end of a child process: asked politely first, killed at last, always with everything it started.

use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

use super::Child;
#[cfg(unix)]
use super::unix::signal;
#[cfg(windows)]
use super::windows::signal;
use crate::end::Process;
use crate::{Cause, End};

/// A process that closed its output is about to exit: so long is waited before it is helped.
const ABOUT_TO_EXIT: Duration = Duration::from_millis(250);
/// Nothing survives SIGKILL for long.
const AFTER_KILL: Duration = Duration::from_secs(5);

impl Child {
    /// Ends the process, whatever ended the connection, and says how it went. `lose` is called as soon as it is clear
    /// that nothing more will come, which may be long before the process is gone.
    pub(crate) async fn conclude(
        mut self,
        cause: Cause,
        stdout: ChildStdout,
        stdin: ChildStdin,
        lose: impl FnOnce(&End),
    ) -> End {
        // The end of its input is how an agent is told to stop.
        drop(stdin);
        let output = tokio::spawn(discard(stdout));
        let patience = match cause {
            Cause::Closed => Duration::ZERO,
            _ => ABOUT_TO_EXIT,
        };
        let mut status = self.wait(patience).await;
        if status.is_none() {
            lose(&End::new(cause.clone(), Some(self.process(None).await)));
            status = self.wait(self.grace).await;
        }
        if status.is_none() {
            self.group.terminate();
            status = self.wait(self.grace).await;
        }
        // Also when the process itself is gone: what it started may not be.
        self.group.kill();
        if status.is_none() {
            status = self.wait(AFTER_KILL).await;
        }
        output.abort();
        End::new(cause, Some(self.process(status).await))
    }

    async fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        // Elapsed or not, the status says it. An error means that the reaping task is gone, and the process with it.
        let _ = timeout(patience, self.status.wait_for(Option::is_some)).await;
        *self.status.borrow()
    }

    async fn process(&mut self, status: Option<ExitStatus>) -> Process {
        Process {
            program: self.program.clone(),
            code: status.and_then(|status| status.code()),
            signal: status.and_then(signal),
            stderr: self.tail.last_words().await,
        }
    }
}

/// A process that cannot write cannot finish what it is doing.
async fn discard(mut output: impl AsyncRead + Unpin) {
    let mut chunk = Vec::with_capacity(16 << 10);
    while let Ok(1..) = output.read_buf(&mut chunk).await {
        chunk.clear();
    }
}
