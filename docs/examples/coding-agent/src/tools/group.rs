//! A command and everything it has started: on Unix a process group, elsewhere the command alone.

use std::process::{Child, Command, Stdio};

/// Something to be killed whole.
#[derive(Clone, Debug)]
pub(super) struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

/// Kills a group should this process end first, however it ends: a helper outside the group waits at a pipe of which
/// only this process has the other end.
pub(super) struct Lifeline(Option<Child>);

impl Lifeline {
    pub(super) fn to(child: &Child) -> Self {
        if cfg!(not(unix)) {
            return Self(None);
        }
        let mut helper = Command::new("sh");
        helper.args(["-c", "read -r _; kill -9 \"-$0\""]).arg(child.id().to_string());
        helper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        lead(&mut helper);
        // Without a helper a command that outlives a killed agent goes on; it is no reason not to run it.
        Self(helper.spawn().ok())
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        if let Some(helper) = &mut self.0 {
            // Before its pipe is closed: the number it would kill may soon be somebody else's.
            let _ = helper.kill();
            let _ = helper.wait();
        }
    }
}

/// Lets `command` lead a group of its own.
pub(super) fn lead(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Waits until `child` has ended, and leaves it to be reaped: until then nobody else can get its number.
pub(super) fn wait(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        while let Some(Err(rustix::io::Errno::INTR)) =
            leader.map(|leader| waitid(WaitId::Pid(leader), options))
        {}
    }
    #[cfg(not(unix))]
    let _ = child.wait();
}

impl Group {
    /// The group that `child` leads.
    pub(super) fn of(child: &Child) -> Self {
        #[cfg(unix)]
        let group = Self { leader: i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) };
        #[cfg(not(unix))]
        let group = {
            let _ = child;
            Self {}
        };
        group
    }

    /// Ends all of it; nothing is left to do where it has ended already.
    pub(super) fn kill(&self) {
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}
