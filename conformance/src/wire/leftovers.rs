//! Processes that outlive the agent that started them, found by a mark in the environment that children inherit.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

/// The variable that carries a check's mark.
pub(crate) const MARK: &str = "ACCORD_CONFORMANCE_MARK";

/// A process that still runs and carries the mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leftover {
    /// Its process id.
    pub(crate) pid: i32,
    /// Its command line, for the report.
    pub(crate) command: String,
}

/// The processes that carry `mark`, other than zombies; `None` where the system has no `/proc` to look in.
pub(crate) fn find(mark: &str) -> Option<Vec<Leftover>> {
    let wanted = format!("{MARK}={mark}");
    let entries = fs::read_dir("/proc").ok()?;
    let found = entries.filter_map(|entry| {
        let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let marked = environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes());
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).trim_end_matches('\0').replace('\0', " ");
        (marked && !command.is_empty()).then_some(Leftover { pid, command })
    });
    Some(found.collect())
}

/// Kills what a check left behind.
pub(crate) fn sweep(mark: &str) {
    for leftover in find(mark).unwrap_or_default() {
        if let Some(pid) = Pid::from_raw(leftover.pid) {
            // It may have ended by itself in between.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
