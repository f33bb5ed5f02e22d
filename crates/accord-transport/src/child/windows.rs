//! Process trees on Windows.

use std::io;
use std::process::{Command as Blocking, ExitStatus, Stdio};

use tokio::process::{Child, Command};

/// The process tree of a child. Dropping it kills the tree.
#[derive(Debug)]
pub struct Group(u32);

impl Group {
    /// Has the command start in a group of its own.
    pub fn prepare(command: &mut Command) {
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
        const CREATE_NO_WINDOW: u32 = 0x0800_0000;
        command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW);
    }

    /// The group of a child whose command was [prepared](Self::prepare).
    ///
    /// # Errors
    /// The child is gone already.
    pub fn of(child: &Child) -> io::Result<Self> {
        child.id().map(Self).ok_or_else(|| io::Error::other("the process is gone already"))
    }

    /// Asks the process to terminate.
    pub fn terminate(&self) {
        self.taskkill(&["/T"]);
    }

    /// Kills every process of the tree.
    pub fn kill(&self) {
        self.taskkill(&["/T", "/F"]);
    }

    fn taskkill(&self, how: &[&str]) {
        let pid = self.0.to_string();
        // An error means that nothing is left of the tree.
        let _ = Blocking::new("taskkill")
            .args(how)
            .args(["/PID", &pid])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Windows has no signals.
pub(crate) fn signal(_: ExitStatus) -> Option<i32> {
    None
}
