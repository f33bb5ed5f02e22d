//! Process groups.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

use super::watcher;

/// The process group of a child: the child and everything it started that did not leave with `setsid`.
///
/// Dropping it kills the group, and so does the end of this process, however it ends.
#[derive(Debug)]
pub struct Group(Pid);

impl Group {
    /// Has the command start in a group of its own.
    pub fn prepare(command: &mut Command) {
        command.process_group(0);
    }

    /// The group of a child whose command was [prepared](Self::prepare).
    ///
    /// # Errors
    /// The child is gone already.
    pub fn of(child: &Child) -> io::Result<Self> {
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let pid = pid.ok_or_else(|| io::Error::other("the process is gone already"))?;
        watcher::guard(pid);
        Ok(Self(pid))
    }

    /// Asks every process of the group to terminate.
    pub fn terminate(&self) {
        // An error means that nothing is left of the group.
        let _ = kill_process_group(self.0, Signal::TERM);
    }

    /// Kills every process of the group.
    pub fn kill(&self) {
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        watcher::release(self.0);
    }
}

pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}
