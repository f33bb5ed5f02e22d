//! Ready-made terminals: commands the agent runs, each in a process group of its own.

mod command;
mod output;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use accord_protocol::{
    rpc::Error,
    v1::{
        CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
        ReleaseTerminalRequest, ReleaseTerminalResponse, SessionId, TerminalExitStatus, TerminalId,
        TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
        WaitForTerminalExitResponse,
    },
};

use command::Running;

/// The output kept of a command whose agent sets no limit, in bytes.
const DEFAULT_OUTPUT: usize = 1024 * 1024;

/// Ready-made terminals for [`Builder::terminals`](crate::Builder::terminals).
///
/// Each command runs in its session's folder unless the agent says where, without input, in a process group of its own;
/// its output and its errors are kept in the order they came. What still runs when its terminal is released, its
/// session closes or the connection ends is ended with its group. A command that leaves its group escapes.
///
/// A command without arguments that names no program is taken for a line of shell: some agents send those.
#[derive(Debug, Clone)]
pub struct Terminals {
    shared: Arc<Shared>,
    max_output: usize,
}

#[derive(Debug, Default)]
struct Shared {
    running: Mutex<BTreeMap<TerminalId, Terminal>>,
    last: AtomicU64,
}

#[derive(Debug, Clone)]
struct Terminal {
    session: SessionId,
    running: Arc<Running>,
}

impl Default for Terminals {
    fn default() -> Self {
        Self { shared: Arc::default(), max_output: 16 * 1024 * 1024 }
    }
}

impl Terminals {
    /// Terminals that keep what the agent asks for, at most 16 MiB of output each.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The most output a terminal keeps, whatever the agent asks for, in bytes.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    pub(crate) fn create(
        &self,
        roots: Vec<PathBuf>,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, Error> {
        let cwd = match request.cwd.get() {
            Some(cwd) if !cwd.is_absolute() => return Err(Error::invalid_params("cwd", "an absolute path")),
            Some(cwd) => Some(cwd.clone()),
            None => roots.into_iter().next(),
        };
        let asked =
            request.output_byte_limit.get().map(|limit| usize::try_from(*limit).unwrap_or(usize::MAX));
        let limit = asked.unwrap_or(DEFAULT_OUTPUT).min(self.max_output);
        let running = command::start(&request, cwd, limit)
            .map_err(|error| Error::internal(format!("the command cannot be started: {}", error.kind())))?;
        let number = self.shared.last.fetch_add(1, Ordering::Relaxed) + 1;
        let id = TerminalId::from(format!("terminal-{number}"));
        self.lock().insert(id.clone(), Terminal { session: request.session_id, running });
        Ok(CreateTerminalResponse::new(id))
    }

    pub(crate) fn output(&self, request: &TerminalOutputRequest) -> Result<TerminalOutputResponse, Error> {
        let running = self.get(&request.session_id, &request.terminal_id)?;
        let (output, truncated) = running.output();
        let mut response = TerminalOutputResponse::new(output, truncated);
        if let Some(exit) = running.exit() {
            response = response.exit_status(exit);
        }
        Ok(response)
    }

    pub(crate) async fn wait_for_exit(
        &self,
        request: &WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, Error> {
        let running = self.get(&request.session_id, &request.terminal_id)?;
        let TerminalExitStatus { exit_code, signal, .. } = running.wait().await;
        let mut response = WaitForTerminalExitResponse::new();
        response.exit_code = exit_code;
        response.signal = signal;
        Ok(response)
    }

    pub(crate) fn kill(&self, request: &KillTerminalRequest) -> Result<KillTerminalResponse, Error> {
        self.get(&request.session_id, &request.terminal_id)?.kill();
        Ok(KillTerminalResponse::new())
    }

    pub(crate) fn release(&self, request: &ReleaseTerminalRequest) -> Result<ReleaseTerminalResponse, Error> {
        self.get(&request.session_id, &request.terminal_id)?;
        // Its command ends with the last one who holds it.
        if let Some(terminal) = self.lock().remove(&request.terminal_id) {
            terminal.running.end();
        }
        Ok(ReleaseTerminalResponse::new())
    }

    pub(crate) fn release_session(&self, session: &SessionId) {
        self.release_where(|terminal| terminal.session == *session);
    }

    pub(crate) fn release_all(&self) {
        self.release_where(|_| true);
    }

    fn release_where(&self, chosen: impl Fn(&Terminal) -> bool) {
        self.lock().retain(|_, terminal| {
            let released = chosen(terminal);
            if released {
                terminal.running.end();
            }
            !released
        });
    }

    /// A session's terminals are no other session's business.
    fn get(&self, session: &SessionId, id: &TerminalId) -> Result<Arc<Running>, Error> {
        let terminals = self.lock();
        let terminal = terminals.get(id).filter(|terminal| terminal.session == *session);
        terminal
            .map(|terminal| Arc::clone(&terminal.running))
            .ok_or_else(|| Error::resource_not_found("terminal"))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<TerminalId, Terminal>> {
        // Every change under the lock is whole before anything in it could panic.
        self.shared.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let running = self.running.get_mut().unwrap_or_else(PoisonError::into_inner);
        for terminal in running.values() {
            terminal.running.end();
        }
    }
}
