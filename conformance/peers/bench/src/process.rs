//! A measured process: its clock, its memory, its end, and a limit on how long it may take.

use std::{
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use nix::{
    sys::{
        signal::{Signal, kill},
        wait::{Id, WaitPidFlag, waitid},
    },
    time::{clock_getcpuclockid, clock_gettime},
    unistd::Pid,
};

use crate::text::words;

/// A child that is killed when it is dropped or when its time is up.
#[derive(Debug)]
pub struct Process {
    child: Child,
    _limit: Limit,
}

impl Process {
    /// Starts a command line, with `extra` arguments behind its own, with pipes at its input and output.
    ///
    /// What it says on stderr is dropped unless `ACPBENCH_STDERR` is set.
    ///
    /// # Errors
    ///
    /// Fails when the program cannot be started.
    pub fn start(
        command: &str,
        extra: &[&str],
        environment: &[(&str, &str)],
        limit: Duration,
    ) -> Result<Self> {
        let words = words(command);
        let (program, arguments) = words.split_first().context("a command names a program")?;
        let stderr =
            if std::env::var_os("ACPBENCH_STDERR").is_some() { Stdio::inherit() } else { Stdio::null() };
        let child = Command::new(program)
            .args(arguments)
            .args(extra)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .with_context(|| format!("start {program}"))?;
        let limit = Meter(pid_of(&child)).kill_after(limit);
        Ok(Self { child, _limit: limit })
    }

    /// Its ends of the pipes; they can be taken once.
    ///
    /// # Errors
    ///
    /// Fails when they were taken before.
    pub fn pipes(&mut self) -> Result<(ChildStdin, ChildStdout)> {
        let input = self.child.stdin.take().context("its input was taken")?;
        Ok((input, self.child.stdout.take().context("its output was taken")?))
    }

    /// A handle to measure it by, for another thread.
    pub fn meter(&self) -> Meter {
        Meter(pid_of(&self.child))
    }

    /// Waits until it has ended, and reads its clock before it is forgotten.
    ///
    /// # Errors
    ///
    /// Fails when it ended with anything but success.
    pub fn end(mut self) -> Result<Duration> {
        let meter = self.meter();
        waitid(Id::Pid(meter.0), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)?;
        let cpu = meter.cpu()?;
        let status = self.child.wait()?;
        if !status.success() {
            bail!("it ended with {status}");
        }
        Ok(cpu)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Errors say that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads the clock and the memory of a process from outside.
#[derive(Clone, Copy, Debug)]
pub struct Meter(Pid);

impl Meter {
    /// The processor time of all its threads, also those that have ended, to the nanosecond.
    ///
    /// # Errors
    ///
    /// Fails when there is no such process any more.
    pub fn cpu(self) -> Result<Duration> {
        let clock = clock_getcpuclockid(self.0).context("its clock")?;
        Ok(clock_gettime(clock).context("its clock")?.into())
    }

    /// The most memory that was ever resident, in kilobytes; `None` once it has ended.
    pub fn peak_kb(self) -> Option<u64> {
        self.status("VmHWM:")
    }

    /// The memory that is resident now, in kilobytes; `None` once it has ended.
    pub fn resident_kb(self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// Kills the process after `limit`, unless what this gives is dropped before.
    pub fn kill_after(self, limit: Duration) -> Limit {
        let (off, called_off) = mpsc::channel();
        std::thread::spawn(move || {
            if called_off.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
                // An error says that it has ended already.
                let _ = kill(self.0, Signal::SIGKILL);
            }
        });
        Limit { _off: off }
    }

    fn status(self, key: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

/// How long a process may still take, so that a peer that hangs ends its run and not the rounds.
#[derive(Debug)]
pub struct Limit {
    /// Dropping it calls the limit off.
    _off: mpsc::Sender<()>,
}

fn pid_of(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed())
}
