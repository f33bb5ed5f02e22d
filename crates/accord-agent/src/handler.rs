//! What an agent implements: one method for each method of the protocol, the optional ones in groups.
//!
//! What an agent hands out is advertised and routed, what it does not is neither: a client that calls it nevertheless
//! gets `-32601`. That is why optional methods sit in traits of their own, handed out by a method such as
//! [`Agent::listing`]: a default method that nobody overrode could not be told from one that somebody did.

mod never;

use std::{
    fmt,
    future::{Future, ready},
};

use accord_protocol::{
    rpc,
    unstable::{ForkSessionRequest, ForkSessionResponse},
    v1::{
        AuthMethod, AuthMethodId, Implementation, ListSessionsRequest, ListSessionsResponse,
        LoadSessionRequest, LoadSessionResponse, McpCapabilities, NewSessionRequest, NewSessionResponse,
        PromptCapabilities, ResumeSessionRequest, ResumeSessionResponse, SessionConfigOption, SessionId,
        SessionModeId, SetSessionConfigOptionRequest, StopReason,
    },
};
use serde_json::value::RawValue;

use crate::{connection::Connection, session::Session, turn::Turn};

/// What a refused request is answered with.
pub type Error = rpc::Error;

/// An agent. Only [`prompt`](Self::prompt) has to be written; a method is an `async fn` in an implementation.
///
/// Each call runs in a task of its own, so a handler may wait for the client, and a panic costs its own request
/// only. Calls about one session start in the order in which they came, each when the one before it has returned;
/// a prompt holds up the next one only until it waits for something.
pub trait Agent: Send + Sync + 'static {
    /// The agent's name and version.
    fn info(&self) -> Implementation {
        Implementation::new("accord-agent", env!("CARGO_PKG_VERSION"))
    }

    /// Which content a prompt may have besides text and links. Other content is refused before it reaches a handler.
    fn prompt_capabilities(&self) -> PromptCapabilities {
        PromptCapabilities::default()
    }

    /// Which MCP servers can be mounted besides stdio ones. Others are refused before they reach a handler.
    fn mcp_capabilities(&self) -> McpCapabilities {
        McpCapabilities::default()
    }

    /// Whether sessions may have directories besides their working directory.
    fn additional_directories(&self) -> bool {
        false
    }

    /// The client has introduced itself. What it can do is known from here on.
    fn connected(&self, connection: Connection) {
        let _ = connection;
    }

    /// Opens a session, under an id that was never given before. By default there is nothing to open.
    fn new_session(
        &self,
        request: NewSessionRequest,
    ) -> impl Future<Output = Result<NewSessionResponse, Error>> + Send {
        let _ = request;
        ready(Ok(NewSessionResponse::new(SessionId::from(uuid::Uuid::now_v7().to_string()))))
    }

    /// A session was opened, loaded or resumed, and the client has been told: the first moment at which updates about
    /// it may be sent.
    fn opened(&self, session: Session) -> impl Future<Output = ()> + Send {
        let _ = session;
        ready(())
    }

    /// Runs a turn. Its updates go out through the [`Turn`]; what it returns is the answer.
    ///
    /// After a cancel the answer is [`StopReason::Cancelled`], whatever this returns; it should return soon. Until it is
    /// answered the turn has not ended: a prompt that a client writes right behind its `session/cancel` is refused, as
    /// any second prompt, and has to wait for the answer to the first.
    fn prompt(&self, turn: Turn) -> impl Future<Output = Result<StopReason, Error>> + Send;

    /// Listing sessions.
    fn listing(&self) -> Option<&impl Listing> {
        None::<&Never>
    }

    /// Loading sessions, with a replay of what happened in them.
    fn loading(&self) -> Option<&impl Loading> {
        None::<&Never>
    }

    /// Resuming sessions, without a replay.
    fn resuming(&self) -> Option<&impl Resuming> {
        None::<&Never>
    }

    /// Forking sessions. **Unstable**: `session/fork` is not in the protocol's stable schema and may change with it.
    fn forking(&self) -> Option<&impl Forking> {
        None::<&Never>
    }

    /// Opening stored sessions for a prompt that names them without a load or resume. No client may rely on it, and by
    /// default such a prompt is refused.
    fn reviving(&self) -> Option<&impl Reviving> {
        None::<&Never>
    }

    /// Closing sessions.
    fn closing(&self) -> Option<&impl Closing> {
        None::<&Never>
    }

    /// Deleting sessions.
    fn deleting(&self) -> Option<&impl Deleting> {
        None::<&Never>
    }

    /// Switching modes.
    fn modes(&self) -> Option<&impl Modes> {
        None::<&Never>
    }

    /// Config options.
    fn config(&self) -> Option<&impl Config> {
        None::<&Never>
    }

    /// Logging in.
    fn auth(&self) -> Option<&impl Auth> {
        None::<&Never>
    }

    /// Logging out.
    fn logging_out(&self) -> Option<&impl LoggingOut> {
        None::<&Never>
    }

    /// A request whose method is not the protocol's own; those of extensions start with `_`.
    fn extension(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> impl Future<Output = Result<Box<RawValue>, Error>> + Send {
        let _ = params;
        ready(Err(Error::method_not_found(method)))
    }

    /// A call that opens a session was dropped half-way: its client withdrew it or is gone, or has closed the session
    /// already. Returns when nothing is left of it; the call is answered after that.
    fn given_up(&self) -> impl Future<Output = ()> + Send {
        ready(())
    }

    /// The connection has ended, every turn has been cancelled and has ended.
    fn disconnected(&self) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

/// `session/list`.
pub trait Listing: Send + Sync {
    /// A page of sessions; the cursor is whatever this agent gave out.
    fn list(
        &self,
        request: ListSessionsRequest,
    ) -> impl Future<Output = Result<ListSessionsResponse, Error>> + Send;
}

/// `session/load`.
pub trait Loading: Send + Sync {
    /// Opens a stored session and sends everything that happened in it through `session` before it returns.
    fn load(
        &self,
        request: LoadSessionRequest,
        session: Session,
    ) -> impl Future<Output = Result<LoadSessionResponse, Error>> + Send;
}

/// `session/resume`.
pub trait Resuming: Send + Sync {
    /// Opens a stored session and sends nothing of what happened in it.
    fn resume(
        &self,
        request: ResumeSessionRequest,
    ) -> impl Future<Output = Result<ResumeSessionResponse, Error>> + Send;
}

/// `session/fork`. **Unstable**: it is not in the protocol's stable schema and may change with it.
pub trait Forking: Send + Sync {
    /// Opens a new session that begins as a copy of another one.
    fn fork(
        &self,
        request: ForkSessionRequest,
    ) -> impl Future<Output = Result<ForkSessionResponse, Error>> + Send;
}

/// `session/prompt` in a session that is stored and not open.
pub trait Reviving: Send + Sync {
    /// Opens a stored session as it was left. The client has said nothing of MCP servers, so there are none.
    fn revive(&self, session: SessionId) -> impl Future<Output = Result<(), Error>> + Send;
}

/// `session/close`.
pub trait Closing: Send + Sync {
    /// Frees what a session holds. Its turn has been cancelled, and is waited for here if that matters.
    fn close(&self, session: SessionId) -> impl Future<Output = Result<(), Error>> + Send;
}

/// `session/delete`.
pub trait Deleting: Send + Sync {
    /// Removes a session. An unknown one counts as removed.
    fn delete(&self, session: SessionId) -> impl Future<Output = Result<(), Error>> + Send;
}

/// `session/set_mode`.
pub trait Modes: Send + Sync {
    /// Switches a session's mode.
    fn set_mode(
        &self,
        session: SessionId,
        mode: SessionModeId,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// `session/set_config_option`.
pub trait Config: Send + Sync {
    /// Changes one option and returns the state of all of them.
    fn set_option(
        &self,
        request: SetSessionConfigOptionRequest,
    ) -> impl Future<Output = Result<Vec<SessionConfigOption>, Error>> + Send;
}

/// `authenticate`, and the gate before sessions.
pub trait Auth: Send + Sync {
    /// The ways to log in. Terminal ones are advertised only to clients that can do them.
    fn methods(&self) -> Vec<AuthMethod>;

    /// Asked before each call that needs a login, since one may have been made, or lost, elsewhere.
    ///
    /// # Errors
    /// [`Error::auth_required`], or what else is in the way.
    fn ready(&self) -> impl Future<Output = Result<(), Error>> + Send;

    /// Logs in by one of the agent's own methods; its id was advertised.
    fn authenticate(&self, method: AuthMethodId) -> impl Future<Output = Result<(), Error>> + Send;
}

/// `logout`.
pub trait LoggingOut: Send + Sync {
    /// Forgets the login.
    fn logout(&self) -> impl Future<Output = Result<(), Error>> + Send;
}

/// What an agent hands out that has nothing to hand out; it cannot exist.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "a type without values gets none later")]
pub enum Never {}

impl fmt::Debug for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}
