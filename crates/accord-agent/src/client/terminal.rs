//! The client's terminals, each released on every path: when it is dropped, cancelled, or comes too late.

use std::{path::PathBuf, sync::Arc};

use accord_protocol::v1::{
    CreateTerminalRequest, EnvVariable, KillTerminalRequest, ReleaseTerminalRequest, TerminalExitStatus,
    TerminalId, TerminalOutputRequest, WaitForTerminalExitRequest,
};
use tokio::{runtime, sync::oneshot};

use super::{Client, ClientError, absolute, need};
use crate::session::Session;

/// A command for a terminal: a program and its arguments, never a line for a shell.
#[derive(Clone, Debug)]
pub struct Command {
    program: String,
    args: Vec<String>,
    env: Vec<EnvVariable>,
    cwd: Option<PathBuf>,
    output_limit: Option<u64>,
}

impl Command {
    /// A program without arguments, in the session's directory.
    pub fn new(program: impl Into<String>) -> Self {
        Self { program: program.into(), args: vec![], env: vec![], cwd: None, output_limit: None }
    }

    /// With these arguments.
    #[must_use]
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// With this variable in its environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push(EnvVariable::new(name, value.into()));
        self
    }

    /// In this directory (absolute).
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Keeps at most the last so many bytes of output.
    #[must_use]
    pub fn output_limit(mut self, bytes: u64) -> Self {
        self.output_limit = Some(bytes);
        self
    }

    fn request(self, client: &Client) -> Result<CreateTerminalRequest, ClientError> {
        let mut request = CreateTerminalRequest::new(client.id(), self.program);
        if let Some(cwd) = self.cwd {
            request = request.cwd(absolute(&cwd)?);
        }
        request.args = (!self.args.is_empty()).then_some(self.args);
        request.env = (!self.env.is_empty()).then_some(self.env);
        request.output_byte_limit = self.output_limit.into();
        Ok(request)
    }
}

impl Client {
    /// Starts a command in one of the client's terminals.
    ///
    /// # Errors
    /// [`ClientError::Unsupported`], [`ClientError::NotAbsolute`], or what the client said.
    ///
    /// # Cancel safety
    /// A terminal whose id comes after the future was dropped is killed and released.
    pub async fn create_terminal(&self, command: Command) -> Result<Terminal, ClientError> {
        need(self.has_terminals(), "terminal")?;
        let request = command.request(self)?;
        self.still_in_turn()?;
        let session = self.session.clone();
        let (give, take) = oneshot::channel();
        // The request outlives its caller: an id nobody waits for any more has to be released all the same.
        tokio::spawn(async move {
            let created = session.wire.handle.call(&request).await;
            let terminal = created.map(|created| Held { session, id: Some(created.terminal_id) });
            drop(give.send(terminal));
        });
        let created = self.given_up().or(take).await.ok_or(ClientError::Cancelled)?;
        let held = created.map_err(|_| ClientError::Ended)??;
        Ok(Terminal { client: self.clone(), held: Arc::new(held) })
    }
}

/// A terminal of the client. It is killed and released when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Terminal {
    client: Client,
    held: Arc<Held>,
}

/// What a terminal has written, and how it ended.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Output {
    /// The output, as far as it is kept.
    pub text: String,
    /// Whether the beginning is missing.
    pub truncated: bool,
    /// How the command ended, once it has.
    pub exit: Option<TerminalExitStatus>,
}

impl Terminal {
    /// The terminal's id, to be shown in a tool call.
    pub fn id(&self) -> TerminalId {
        self.held.id()
    }

    /// What the command has written so far; does not wait.
    ///
    /// # Errors
    /// What the client said, or the turn was cancelled.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the request.
    pub async fn output(&self) -> Result<Output, ClientError> {
        let output = self.client.call(&TerminalOutputRequest::new(self.client.id(), self.id())).await?;
        Ok(Output {
            text: output.output,
            truncated: output.truncated,
            exit: output.exit_status.into_option(),
        })
    }

    /// Waits for the command to end.
    ///
    /// # Errors
    /// What the client said, or the turn was cancelled.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the request; the command runs on.
    pub async fn wait(&self) -> Result<TerminalExitStatus, ClientError> {
        let exit = self.client.call(&WaitForTerminalExitRequest::new(self.client.id(), self.id())).await?;
        let mut status = TerminalExitStatus::new();
        status.exit_code = exit.exit_code;
        status.signal = exit.signal;
        Ok(status)
    }

    /// Ends the command; the terminal stays, with its output.
    ///
    /// # Errors
    /// What the client said, or the turn was cancelled.
    ///
    /// # Cancel safety
    /// The command may be ended although the future was dropped.
    pub async fn kill(&self) -> Result<(), ClientError> {
        self.client.call(&KillTerminalRequest::new(self.client.id(), self.id())).await.map(drop)
    }
}

/// Owns a terminal's id until it is released.
#[derive(Debug)]
struct Held {
    session: Session,
    id: Option<TerminalId>,
}

impl Held {
    fn id(&self) -> TerminalId {
        // Taken only when dropped.
        self.id.clone().expect("the id is there until the drop")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Without a runtime there is no connection left either.
        let (Some(id), Ok(runtime)) = (self.id.take(), runtime::Handle::try_current()) else { return };
        let session = self.session.clone();
        runtime.spawn(async move {
            // Releasing also ends the command (terminals.mdx); a client that is gone has released everything.
            drop(session.wire.handle.call(&ReleaseTerminalRequest::new(session.id().clone(), id)).await);
        });
    }
}
