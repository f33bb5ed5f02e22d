//! One command: its process group, its output as it comes, its end.

use std::{
    io::{self, PipeReader, Read},
    path::PathBuf,
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use accord_protocol::v1::{CreateTerminalRequest, TerminalExitStatus};
use accord_transport::Group;
use tokio::{
    process::{Child, Command},
    sync::{oneshot, watch},
    time::{sleep, timeout},
};

use super::output::Output;

/// How long a command may take to heed a kill before it is forced.
const KILL_GRACE: Duration = Duration::from_secs(2);

/// How long the rest of the output is waited for after the end: a left-over process may hold the pipe for ever.
const DRAIN_GRACE: Duration = Duration::from_millis(500);

/// A command that runs, or has run.
#[derive(Debug)]
pub(super) struct Running {
    output: Mutex<Output>,
    exit: watch::Sender<Option<TerminalExitStatus>>,
    /// The process group, until its leader was waited for: after that its number may be somebody else's.
    group: Mutex<Option<Group>>,
}

/// Starts the command of a request.
pub(super) fn start(
    request: &CreateTerminalRequest,
    cwd: Option<PathBuf>,
    output_limit: usize,
) -> io::Result<Arc<Running>> {
    let (reader, writer) = io::pipe()?;
    let mut child = {
        let mut command = command(request, cwd);
        command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        // The command holds the writing ends, and the output ends only when they are all gone.
        command.spawn()?
    };
    let running = Arc::new(Running {
        output: Mutex::new(Output::new(output_limit)),
        exit: watch::Sender::new(None),
        group: Mutex::new(Some(Group::of(&child)?)),
    });
    let (drained_sender, drained) = oneshot::channel();
    let reading = Arc::clone(&running);
    // A thread of its own: it may be blocked for as long as the command lives.
    std::thread::Builder::new().name("terminal-output".to_owned()).spawn(move || {
        reading.read_all(reader);
        let _ = drained_sender.send(());
    })?;
    let waiting = Arc::clone(&running);
    tokio::spawn(async move { waiting.wait_for(&mut child, drained).await });
    Ok(running)
}

impl Running {
    pub(super) fn output(&self) -> (String, bool) {
        lock(&self.output).read()
    }

    pub(super) fn exit(&self) -> Option<TerminalExitStatus> {
        self.exit.borrow().clone()
    }

    pub(super) async fn wait(&self) -> TerminalExitStatus {
        let mut exit = self.exit.subscribe();
        let ended = exit.wait_for(Option::is_some).await;
        // The sender lives in `self`, so the wait ends with a status.
        ended.ok().and_then(|status| status.clone()).unwrap_or_default()
    }

    /// Asks the command to end, and forces it after a grace.
    pub(super) fn kill(self: &Arc<Self>) {
        self.signal(Group::terminate);
        let running = Arc::clone(self);
        tokio::spawn(async move {
            tokio::select! {
                _ = running.wait() => {}
                () = sleep(KILL_GRACE) => running.signal(Group::kill),
            }
        });
    }

    /// Ends the command at once, without a runtime if need be.
    pub(super) fn end(&self) {
        self.signal(Group::kill);
    }

    fn read_all(&self, mut pipe: PipeReader) {
        let mut buffer = [0; 16 * 1024];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => lock(&self.output).push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        lock(&self.output).finish();
    }

    async fn wait_for(&self, child: &mut Child, drained: oneshot::Receiver<()>) {
        let status = child.wait().await;
        // What is left of the group goes with its leader.
        drop(lock(&self.group).take());
        let _ = timeout(DRAIN_GRACE, drained).await;
        lock(&self.output).finish();
        let status = status.map_or_else(|_| TerminalExitStatus::new(), exit_status);
        self.exit.send_replace(Some(status));
    }

    fn signal(&self, signal: impl FnOnce(&Group)) {
        if let Some(group) = &*lock(&self.group) {
            signal(group);
        }
    }
}

fn command(request: &CreateTerminalRequest, cwd: Option<PathBuf>) -> Command {
    let args = request.args.as_deref().unwrap_or_default();
    let line = &request.command;
    let mut command =
        if args.is_empty() && line.contains(char::is_whitespace) && !PathBuf::from(line).exists() {
            let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("/bin/sh", "-c") };
            let mut command = Command::new(shell);
            command.args([flag, line]);
            command
        } else {
            let mut command = Command::new(line);
            command.args(args);
            command
        };
    if let Some(cwd) = cwd {
        command.current_dir(cwd);
    }
    for variable in request.env.iter().flatten() {
        command.env(&variable.name, variable.value.as_str());
    }
    command.kill_on_drop(true);
    Group::prepare(&mut command);
    command
}

fn exit_status(status: ExitStatus) -> TerminalExitStatus {
    let mut exit = TerminalExitStatus::new();
    if let Some(code) = status.code().and_then(|code| u32::try_from(code).ok()) {
        exit = exit.exit_code(code);
    }
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        exit = exit.signal(signal_name(signal));
    }
    exit
}

#[cfg(unix)]
fn signal_name(signal: i32) -> String {
    let known = [
        (1, "HUP"),
        (2, "INT"),
        (3, "QUIT"),
        (6, "ABRT"),
        (9, "KILL"),
        (11, "SEGV"),
        (13, "PIPE"),
        (15, "TERM"),
    ];
    let name = known.iter().find(|(number, _)| *number == signal).map(|(_, name)| *name);
    name.map_or_else(|| signal.to_string(), |name| format!("SIG{name}"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
