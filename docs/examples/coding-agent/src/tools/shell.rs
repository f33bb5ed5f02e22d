//! Command lines: in a process group of their own, which a cancel or a time-out kills whole.

use std::{
    fmt::Write as _,
    io::{Read, Write as _},
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

/// How long to wait for the end of its output once a command and its group are gone.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Runs a command line and waits for its end; its output is shown meanwhile.
pub(super) fn run(command: &str, cwd: &Path, seconds: Option<u64>, callbacks: &Callbacks) -> ToolResult {
    let mut child = match started(command, cwd) {
        Ok(child) => child,
        Err(error) => return ToolResult::failed(format!("the command cannot be started: {error}")),
    };
    let group = Group::of(&child);
    let _lifeline = Lifeline::to(&child);
    if let Some(mut gate) = child.stdin.take() {
        // It can't be written to where the command's shell is gone already; its end tells the rest.
        let _ = gate.write_all(b"\n");
    }
    let reach = callbacks.cancel().on_cancel({
        let group = group.clone();
        move || group.kill()
    });
    let output = Arc::new(Mutex::new(Output::default()));
    let (reading, read) = mpsc::channel::<()>();
    if let Some(pipe) = child.stdout.take() {
        reader(pipe, &output, callbacks, reading.clone());
    }
    if let Some(pipe) = child.stderr.take() {
        reader(pipe, &output, callbacks, reading);
    }

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
    // The readers send nothing: all of them are done, or somebody left the group and holds a pipe for as long as it likes.
    let held = read.recv_timeout(LAST_WORDS) == Err(mpsc::RecvTimeoutError::Timeout);
    let status = ended.map(|mut child| child.wait());
    let output = output.lock().unwrap_or_else(PoisonError::into_inner).close(held);
    match status {
        _ if callbacks.is_cancelled() => ToolResult::failed(format!("{output}[cancelled]")),
        _ if timed_out => ToolResult::failed(format!("{output}[killed after {} s]", limit.as_secs())),
        Some(Ok(status)) => {
            ToolResult::judged(json!({ "output": output, "exit_code": status.code().unwrap_or(-1) }))
        }
        _ => ToolResult::failed(format!("{output}[its end is unknown]")),
    }
}

/// On Unix the command waits at its standard input for a line: should this process be killed before the lifeline is
/// there, the command never begins.
const GATE: &str = r#"read -r _ || exit; exec sh -c "$0" </dev/null"#;

fn started(command: &str, cwd: &Path) -> std::io::Result<Child> {
    let mut shell = if cfg!(unix) { Command::new("sh") } else { Command::new("cmd") };
    if cfg!(unix) {
        shell.args(["-c", GATE, command]).stdin(Stdio::piped());
    } else {
        shell.args(["/C", command]).stdin(Stdio::null());
    }
    shell.current_dir(cwd).stdout(Stdio::piped()).stderr(Stdio::piped());
    group::lead(&mut shell);
    shell.spawn()
}

#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    dropped: usize,
    closed: bool,
}

impl Output {
    fn take(&mut self, bytes: &[u8]) {
        let room = MOST_OUTPUT.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        self.dropped += bytes.len() - room;
    }

    /// The text there is. What still comes is nobody's any more.
    fn close(&mut self, held: bool) -> String {
        self.closed = true;
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        if self.dropped > 0 {
            write!(text, "\n[{} more bytes]\n", self.dropped).expect("writing to a string cannot fail");
        }
        if held {
            text.push_str("\n[something that the command started goes on and holds its output]\n");
        }
        text
    }
}

/// Reads until the end; `done` is dropped then.
fn reader(
    mut pipe: impl Read + Send + 'static,
    output: &Arc<Mutex<Output>>,
    callbacks: &Callbacks,
    done: mpsc::Sender<()>,
) {
    let (output, callbacks) = (output.clone(), callbacks.clone());
    thread::spawn(move || {
        let _done = done;
        let mut buffer = [0; 8192];
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            if output.closed {
                return;
            }
            output.take(&buffer[..read]);
            // Under the lock: told later, it would be taken for another command's.
            callbacks.tool_progress("shell", &String::from_utf8_lossy(&buffer[..read]));
        }
    });
}
