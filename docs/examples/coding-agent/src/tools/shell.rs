//! Command lines: in a process group of their own, which a cancel or a time-out kills whole.

use std::{
    fmt::Write as _,
    io::Read,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use accord_agent::blocking::{Callbacks, ToolResult};
use serde_json::json;

use super::group::{self, Group, Lifeline};

/// How long a command may run when the model does not say.
const TIMEOUT: u64 = 120;
/// The longest that the model may ask for, in seconds.
const LONGEST: u64 = 3_600;
/// The most output that is kept, in bytes; the rest is counted.
const MOST_OUTPUT: usize = 256 << 10;

/// Runs a command line and waits for its end; its output is shown meanwhile.
pub(super) fn run(command: &str, cwd: &Path, seconds: Option<u64>, callbacks: &Callbacks) -> ToolResult {
    let mut child = match started(command, cwd) {
        Ok(child) => child,
        Err(error) => return ToolResult::failed(format!("the command cannot be started: {error}")),
    };
    let group = Group::of(&child);
    let _lifeline = Lifeline::to(&child);
    let reach = callbacks.cancel().on_cancel({
        let group = group.clone();
        move || group.kill()
    });
    let output = Arc::new(Mutex::new(Output::default()));
    let readers = [
        child.stdout.take().map(|pipe| reader(pipe, &output, callbacks)),
        child.stderr.take().map(|pipe| reader(pipe, &output, callbacks)),
    ];

    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        group::wait(&mut child);
        tell.send(child)
    });
    let limit = Duration::from_secs(seconds.unwrap_or(TIMEOUT).min(LONGEST));
    let in_time = told.recv_timeout(limit).ok();
    let timed_out = in_time.is_none();
    // What the command left in the background would hold the pipes, and outlive the session. The leader is not reaped
    // yet, so the group's number is still its own.
    group.kill();
    let ended = in_time.or_else(|| told.recv().ok());
    drop(reach);
    for reader in readers.into_iter().flatten() {
        // A reader only reads and reports; if it panicked there is simply less output.
        let _ = reader.join();
    }
    let status = ended.map(|mut child| child.wait());
    let output = output.lock().unwrap_or_else(PoisonError::into_inner).text();
    match status {
        _ if callbacks.is_cancelled() => ToolResult::failed(format!("{output}[cancelled]")),
        _ if timed_out => ToolResult::failed(format!("{output}[killed after {} s]", limit.as_secs())),
        Some(Ok(status)) => {
            ToolResult::judged(json!({ "output": output, "exit_code": status.code().unwrap_or(-1) }))
        }
        _ => ToolResult::failed(format!("{output}[its end is unknown]")),
    }
}

fn started(command: &str, cwd: &Path) -> std::io::Result<Child> {
    let mut shell = if cfg!(windows) { Command::new("cmd") } else { Command::new("sh") };
    shell.arg(if cfg!(windows) { "/C" } else { "-c" }).arg(command).current_dir(cwd);
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    group::lead(&mut shell);
    shell.spawn()
}

#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    dropped: usize,
}

impl Output {
    fn take(&mut self, bytes: &[u8]) {
        let room = MOST_OUTPUT.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        self.dropped += bytes.len() - room;
    }

    fn text(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        if self.dropped > 0 {
            write!(text, "\n[{} more bytes]\n", self.dropped).expect("writing to a string cannot fail");
        }
        text
    }
}

fn reader(
    mut pipe: impl Read + Send + 'static,
    output: &Arc<Mutex<Output>>,
    callbacks: &Callbacks,
) -> thread::JoinHandle<()> {
    let (output, callbacks) = (output.clone(), callbacks.clone());
    thread::spawn(move || {
        let mut buffer = [0; 8192];
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            output.lock().unwrap_or_else(PoisonError::into_inner).take(&buffer[..read]);
            callbacks.tool_progress("shell", &String::from_utf8_lossy(&buffer[..read]));
        }
    })
}
