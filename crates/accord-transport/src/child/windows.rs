//! Process trees on Windows: job objects.

use std::io;
use std::process::ExitStatus;
use std::sync::{Mutex, PoisonError};

use tokio::process::{Child, Command};
use win32job::{ExtendedLimitInfo, Job};

/// The process tree of a child: the child and everything it starts once it is in its job.
///
/// Dropping it kills the tree, and so does the end of this process, however it ends: the system closes the job with
/// its last handle. What the child starts in the moment before it is put into the job is not part of the tree.
#[derive(Debug)]
pub struct Group(Mutex<Option<Job>>);

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
    /// The child is gone already, or may not be put into a job.
    pub fn of(child: &Child) -> io::Result<Self> {
        let handle = child.raw_handle().ok_or_else(|| io::Error::other("the process is gone already"))?;
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
        job.assign_process(handle as isize).map_err(io::Error::other)?;
        Ok(Self(Mutex::new(Some(job))))
    }

    /// Does nothing: Windows has no polite way to end a process without a window. The end of its input was it.
    #[expect(clippy::unused_self, reason = "the same functions as on Unix")]
    pub fn terminate(&self) {}

    /// Kills every process of the tree.
    pub fn kill(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Windows has no signals.
pub(crate) fn signal(_: ExitStatus) -> Option<i32> {
    None
}
