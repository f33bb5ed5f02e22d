//! Preparing a connection: what this client is and offers, how long it waits, and the handshake.

use std::{fmt, sync::Arc, time::Duration};

use accord_protocol::v1::{
    ClientCapabilities, FileSystemCapabilities, Implementation, InitializeRequest, InitializeResponse,
    ProtocolVersion,
};
use accord_transport::{
    AgentCommand, CallError, Connection, End, Gate, Handle, LaneSender, Options, SpawnError,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};

use super::{Client, Limits, Shared};
use crate::{
    ConnectError, Elicitations, Files, Handler, Permissions, Refuse, Terminals,
    auth::Login,
    router::{Asks, Host, Router, SessionHooks, Sessions},
    session::Item,
};

/// Prepares a connection to an agent.
///
/// Without further calls a client offers no files, no terminals and no forms, and refuses permissions.
pub struct Builder<H = Refuse> {
    host: Host<H>,
    info: Implementation,
    capabilities: ClientCapabilities,
    limits: Limits,
    login: Option<Login>,
    options: Options,
    wiring: Option<Wiring>,
}

/// Where a connection takes everything of its sessions, for whoever wants it in one order.
#[derive(Debug, Clone)]
pub(crate) struct Wiring {
    pub(crate) gate: Gate,
    pub(crate) feed: LaneSender<Item>,
    pub(crate) asks: Arc<Asks>,
}

impl Default for Builder<Refuse> {
    fn default() -> Self {
        Self {
            host: Host::default(),
            info: Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            capabilities: ClientCapabilities::new(),
            limits: Limits {
                startup: Duration::from_secs(60),
                request: None,
                cancel_grace: Duration::from_secs(10),
                turn: None,
                silence: None,
            },
            login: None,
            options: Options::client(),
            wiring: None,
        }
    }
}

impl<H: Handler> Builder<H> {
    /// Serves the agent's requests with `handler`, where no ready-made part does.
    ///
    /// Say with [`capabilities`](Self::capabilities) which of them it serves: the agent calls only what is offered.
    #[must_use]
    pub fn handler<N: Handler>(self, handler: N) -> Builder<N> {
        let Host { permissions, files, terminals, elicitations, .. } = self.host;
        let host = Host { handler: Arc::new(handler), permissions, files, terminals, elicitations };
        let Self { info, capabilities, limits, login, options, wiring, .. } = self;
        Builder { host, info, capabilities, limits, login, options, wiring }
    }

    /// Answers permission questions.
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.host.permissions = Some(permissions);
        self
    }

    /// Offers files, and serves them.
    #[must_use]
    pub fn files(mut self, files: Files) -> Self {
        let fs = FileSystemCapabilities::new().read_text_file(true).write_text_file(files.is_writable());
        self.capabilities.fs = Some(fs);
        self.host.files = Some(files);
        self
    }

    /// Offers terminals, and serves them.
    #[must_use]
    pub fn terminals(mut self, terminals: Terminals) -> Self {
        self.capabilities.terminal = Some(true);
        self.host.terminals = Some(terminals);
        self
    }

    /// Offers forms, visits to pages, or both, and serves them.
    #[must_use]
    pub fn elicitations(mut self, elicitations: Elicitations) -> Self {
        self.capabilities.elicitation = elicitations.capabilities().into();
        self.host.elicitations = Some(elicitations);
        self
    }

    /// Chooses how to log in when the agent wants that.
    #[must_use]
    pub fn login(mut self, login: Login) -> Self {
        self.login = Some(login);
        self
    }

    /// What this client calls itself. Default: this crate's name and version.
    #[must_use]
    pub fn info(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// What this client offers. Replaces what earlier calls of this builder offered.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// How long the agent may take to answer `initialize`. Default 60 s: some are downloaded first.
    #[must_use]
    pub fn startup_deadline(mut self, limit: Duration) -> Self {
        self.limits.startup = limit;
        self
    }

    /// How long the agent may take to answer any request but a prompt and a login. Default: as long as it lives.
    #[must_use]
    pub fn request_deadline(mut self, limit: Duration) -> Self {
        self.limits.request = Some(limit);
        self
    }

    /// How long a cancelled turn may take to end before it counts as ignored. Default 10 s.
    #[must_use]
    pub fn cancel_grace(mut self, grace: Duration) -> Self {
        self.limits.cancel_grace = grace;
        self
    }

    /// How long a turn may take. Default: as long as it needs.
    #[must_use]
    pub fn turn_deadline(mut self, limit: Duration) -> Self {
        self.limits.turn = Some(limit);
        self
    }

    /// How long the agent may say nothing during a turn while none of its questions is open. Default: as long as it likes.
    #[must_use]
    pub fn turn_silence(mut self, limit: Duration) -> Self {
        self.limits.silence = Some(limit);
        self
    }

    /// The longest message, in bytes, in either direction. Default 32 MiB.
    #[must_use]
    pub fn frame_limit(mut self, bytes: usize) -> Self {
        self.options = self.options.frame_limit(bytes);
        self
    }

    /// Takes everything of every session to one lane, with the messages as they came.
    pub(crate) fn wired(mut self, wiring: Wiring) -> Self {
        self.options = self.options.keep_raw(true);
        self.wiring = Some(wiring);
        self
    }

    /// Starts the agent's program and agrees with it on the protocol.
    ///
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// [`ConnectError`] says whether the program did not start, ended, was silent, refused, or speaks another version.
    /// In every case it is ended.
    ///
    /// # Cancel safety
    /// Dropping the future ends the program.
    pub async fn spawn(self, command: AgentCommand) -> Result<Client, ConnectError> {
        let (handle, connection) = Connection::new(self.options.clone());
        self.connect_with(handle, Some(command.clone()), |router| connection.spawn_child(&command, router))
            .await
    }

    /// Agrees on the protocol with an agent at the other end of a byte stream.
    ///
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn); the connection is closed then.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection.
    pub async fn connect(
        self,
        read: impl AsyncRead + Unpin + Send + 'static,
        write: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Result<Client, ConnectError> {
        let (handle, connection) = Connection::new(self.options.clone());
        self.connect_with(handle, None, |router| {
            connection.spawn(read, write, router);
            Ok(())
        })
        .await
    }

    async fn connect_with(
        self,
        handle: Handle,
        command: Option<AgentCommand>,
        start: impl FnOnce(Router<H>) -> Result<(), SpawnError>,
    ) -> Result<Client, ConnectError> {
        let Self { host, info, capabilities, limits, login, wiring, .. } = self;
        let (gate, feed, asks) = match wiring {
            Some(Wiring { gate, feed, asks }) => (gate, Some(feed), asks),
            None => (Gate::new(), None, Arc::new(Asks::new(None))),
        };
        let sessions = Arc::<Sessions>::default();
        let host = Arc::new(host);
        let parts = (Arc::clone(&host), Arc::clone(&sessions), Arc::clone(&asks));
        start(Router::new(parts, capabilities.clone(), gate.clone(), feed.clone()))?;

        let request =
            InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities).client_info(info);
        let agent = match initialize(&handle, &request, limits.startup).await {
            Ok(agent) => agent,
            Err(refusal) => {
                handle.close();
                let end = handle.closed().await;
                return Err(refusal.with(end));
            }
        };
        sessions.agree();
        if let (true, Some(feed)) = (handle.is_closed(), &feed) {
            // It ended before the line above, so nobody told.
            feed.push(Item::Gone(Some(handle.closed().await)), 0);
        }
        let hooks: Arc<dyn SessionHooks> = host;
        let runtime = tokio::runtime::Handle::current();
        let shared =
            Shared { handle, agent, sessions, asks, hooks, gate, feed, limits, login, command, runtime };
        Ok(Client { shared: Arc::new(shared) })
    }
}

/// Why the handshake failed, before the end of the program is known.
enum HandshakeError {
    Lost,
    Timeout(Duration),
    Failed(ConnectError),
}

impl HandshakeError {
    fn with(self, end: End) -> ConnectError {
        match self {
            Self::Lost => ConnectError::Ended(end),
            Self::Timeout(after) => ConnectError::Timeout { after, end },
            Self::Failed(error) => error,
        }
    }
}

async fn initialize(
    handle: &Handle,
    request: &InitializeRequest,
    startup: Duration,
) -> Result<InitializeResponse, HandshakeError> {
    let answered =
        timeout(startup, handle.call(request)).await.map_err(|_| HandshakeError::Timeout(startup))?;
    let agent = answered.map_err(|error| match error {
        CallError::Lost(_) => HandshakeError::Lost,
        CallError::Refused(error) => HandshakeError::Failed(ConnectError::Refused(error)),
        CallError::Undecodable { misfit, .. } => HandshakeError::Failed(ConnectError::Undecodable(misfit)),
        other => HandshakeError::Failed(ConnectError::Handshake(other)),
    })?;
    if agent.protocol_version == ProtocolVersion::V1 {
        Ok(agent)
    } else {
        let (agent, ours) = (agent.protocol_version.get(), ProtocolVersion::V1.get());
        Err(HandshakeError::Failed(ConnectError::Version { agent, ours }))
    }
}

impl<H> Clone for Builder<H> {
    fn clone(&self) -> Self {
        Self {
            host: self.host.clone(),
            info: self.info.clone(),
            capabilities: self.capabilities.clone(),
            limits: self.limits,
            login: self.login.clone(),
            options: self.options.clone(),
            wiring: self.wiring.clone(),
        }
    }
}

impl<H> fmt::Debug for Builder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("info", &self.info).field("host", &self.host).finish_non_exhaustive()
    }
}
