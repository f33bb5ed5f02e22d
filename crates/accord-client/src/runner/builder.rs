//! Preparing a runner: which agent, which session, what the client offers, where the events go.

use std::{
    fmt,
    future::Future,
    path::PathBuf,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use accord_protocol::v1::{
    BooleanConfigOptionCapabilities, ClientCapabilities, ClientSessionCapabilities, CompactionCapabilities,
    ElicitationCapabilities, ElicitationFormCapabilities, McpServer, NoticeCapabilities, SessionConfigId,
    SessionConfigOptionValue, SessionConfigOptionsCapabilities, SessionId,
};
use accord_transport::{AgentCommand, Gate, lane};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::watch,
};

use super::{EventSink, Events, Runner, shared::Shared, sink, teller::Teller};
use crate::{
    Builder, Client, ConnectError, Handler, Refuse, Registry, auth::Login, client::Wiring, router::LANE_LIMIT,
};

/// The agent a runner runs.
#[non_exhaustive]
pub enum Source {
    /// A program to start.
    Command(AgentCommand),
    /// An agent of a registry, by its name. How its handshake goes is written down there.
    Configured(Registry, String),
    /// An agent at the other end of a byte stream.
    Stream(ByteStream),
}

/// Both halves of a byte stream.
pub struct ByteStream(Box<dyn AsyncRead + Unpin + Send>, Box<dyn AsyncWrite + Unpin + Send>);

/// Which session a runner takes up again.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Restore {
    /// Resumed, without its history; loaded with it, told as replay, where the agent only offers that.
    Resume(SessionId),
    /// Loaded, with its history.
    Load(SessionId),
}

type Connecting = Pin<Box<dyn Future<Output = Result<Client, ConnectError>> + Send>>;
type Connect = Box<dyn Fn(Wiring) -> Connecting + Send + Sync>;

/// What is to be opened, and how.
pub(super) struct Plan {
    pub(super) connect: Connect,
    pub(super) cwd: PathBuf,
    pub(super) directories: Vec<PathBuf>,
    pub(super) servers: Vec<McpServer>,
    pub(super) restore: Option<Restore>,
    pub(super) wanted: Vec<(SessionConfigId, SessionConfigOptionValue)>,
    pub(super) login: Option<Login>,
}

/// Prepares a runner.
pub struct RunnerBuilder<H = Refuse> {
    source: Source,
    client: Builder<H>,
    cwd: Option<PathBuf>,
    directories: Vec<PathBuf>,
    servers: Vec<McpServer>,
    restore: Option<Restore>,
    wanted: Vec<(SessionConfigId, SessionConfigOptionValue)>,
    login: Option<Login>,
}

impl RunnerBuilder {
    pub(super) fn new(source: Source) -> Self {
        let client = Self::client_builder();
        Self {
            source,
            client,
            cwd: None,
            directories: Vec::new(),
            servers: Vec::new(),
            restore: None,
            wanted: Vec::new(),
            login: None,
        }
    }

    /// What a runner's client offers unless told otherwise: forms, notices, compactions and boolean options, since it tells
    /// them as events; no files and no terminals. Start from this to offer more.
    #[must_use]
    pub fn client_builder() -> Builder<Refuse> {
        let boolean = SessionConfigOptionsCapabilities::new().boolean(BooleanConfigOptionCapabilities::new());
        let sessions = ClientSessionCapabilities::new()
            .config_options(boolean)
            .notices(NoticeCapabilities::new())
            .compaction(CompactionCapabilities::new());
        let forms = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
        Client::builder().capabilities(ClientCapabilities::new().session(sessions).elicitation(forms))
    }
}

impl<H: Handler> RunnerBuilder<H> {
    /// How the client connects and what it offers. Default: [`client_builder`](RunnerBuilder::client_builder).
    ///
    /// Questions that it has ready-made answers for are answered by those; the others are told as events.
    #[must_use]
    pub fn client<N: Handler>(self, client: Builder<N>) -> RunnerBuilder<N> {
        let Self { source, cwd, directories, servers, restore, wanted, login, .. } = self;
        RunnerBuilder { source, client, cwd, directories, servers, restore, wanted, login }
    }

    /// The session's folder. Default: the one this program runs in.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// More folders the session may work in.
    #[must_use]
    pub fn directories(mut self, directories: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.directories = directories.into_iter().map(Into::into).collect();
        self
    }

    /// The MCP servers the agent is to use.
    #[must_use]
    pub fn mcp_servers(mut self, servers: impl IntoIterator<Item = McpServer>) -> Self {
        self.servers = servers.into_iter().collect();
        self
    }

    /// Takes up a session again instead of opening a new one.
    #[must_use]
    pub fn restore(mut self, restore: Restore) -> Self {
        self.restore = Some(restore);
        self
    }

    /// What an option of the session is to be: set before the first prompt, where the session that was opened or restored says
    /// otherwise. Several are set in the order of these calls.
    ///
    /// A session that does not offer it does not open: a prompt must not run with what nobody chose.
    #[must_use]
    pub fn config_option(
        mut self,
        option: impl Into<SessionConfigId>,
        value: impl Into<SessionConfigOptionValue>,
    ) -> Self {
        self.wanted.push((option.into(), value.into()));
        self
    }

    /// Chooses how to log in when the agent wants that, also among the ways that need the terminal.
    #[must_use]
    pub fn login(mut self, login: Login) -> Self {
        self.login = Some(login);
        self
    }

    /// Makes the runner and the stream of its events. Must be called within a tokio runtime. Nothing is started yet.
    ///
    /// Take the events while a prompt runs: what nobody takes holds the agent up, and [`Runner::run`] with it. Drop the stream
    /// if nobody wants them.
    #[must_use]
    pub fn start(self) -> (Runner, Events) {
        let (sink, events) = sink::stream();
        (self.start_with(sink), events)
    }

    /// Makes the runner, its events going to `sink`. Must be called within a tokio runtime. Nothing is started yet.
    #[must_use]
    pub fn start_with(self, sink: impl EventSink) -> Runner {
        let gate = Gate::new();
        let (feed, receiver) = lane(&gate, LANE_LIMIT);
        let plan = Arc::new(Plan {
            connect: connect(self.source, self.client),
            // Without a folder of its own a program runs nowhere; then the agent says what it makes of that.
            cwd: self.cwd.or_else(|| std::env::current_dir().ok()).unwrap_or_default(),
            directories: self.directories,
            servers: self.servers,
            restore: self.restore,
            wanted: self.wanted,
            login: self.login,
        });
        let (tells, telling) = watch::channel(());
        let shared = Arc::new(Shared::new(plan, gate, feed, telling));
        let teller = Teller::new(sink, Arc::downgrade(&shared), Arc::clone(&shared.asks));
        tokio::spawn(async move {
            teller.tell_all(receiver).await;
            drop(tells);
        });
        Runner { shared }
    }
}

impl Source {
    /// An agent at the other end of a byte stream.
    pub fn stream(
        read: impl AsyncRead + Unpin + Send + 'static,
        write: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Self {
        Self::Stream(ByteStream(Box::new(read), Box::new(write)))
    }
}

impl From<AgentCommand> for Source {
    fn from(command: AgentCommand) -> Self {
        Self::Command(command)
    }
}

fn connect<H: Handler>(source: Source, builder: Builder<H>) -> Connect {
    match source {
        Source::Command(command) => {
            Box::new(move |wiring| Box::pin(builder.clone().wired(wiring).spawn(command.clone())))
        }
        Source::Configured(registry, name) => Box::new(move |wiring| {
            let (registry, name, builder) = (registry.clone(), name.clone(), builder.clone().wired(wiring));
            Box::pin(async move { registry.connect(&name, builder).await })
        }),
        Source::Stream(stream) => {
            let once = Mutex::new(Some(stream));
            Box::new(move |wiring| {
                let stream = once.lock().unwrap_or_else(PoisonError::into_inner).take();
                let builder = builder.clone().wired(wiring);
                Box::pin(async move {
                    match stream {
                        Some(ByteStream(read, write)) => builder.connect(read, write).await,
                        None => Err(ConnectError::StreamUsed),
                    }
                })
            })
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => command.fmt(f),
            Self::Configured(_, name) => f.debug_tuple("Configured").field(name).finish(),
            Self::Stream(_) => f.write_str("Stream(…)"),
        }
    }
}

impl<H> fmt::Debug for RunnerBuilder<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunnerBuilder")
            .field("source", &self.source)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
