//! A connected agent: sessions are opened here, and what belongs to no session is asked here.

mod all;
mod builder;
mod calls;
pub(crate) mod offers;
mod open;

use std::{fmt, future::Future, sync::Arc, time::Duration};

use accord_protocol::{method::Request, v1::InitializeResponse};
use accord_transport::{AgentCommand, CallError, End, Gate, Handle, LaneSender, Lost};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::{sync::oneshot, time::timeout};

pub use all::AllSessions;
pub use builder::Builder;
pub(crate) use builder::Wiring;

use crate::{
    Error, Refuse,
    auth::Login,
    router::{Asks, SessionHooks, Sessions},
    session::Item,
};

/// A connected agent. Clones share the connection; it is closed when the last of them, and of the sessions and turns
/// made from it, is dropped.
#[derive(Clone)]
pub struct Client {
    pub(crate) shared: Arc<Shared>,
}

/// What the clones of a client share.
pub(crate) struct Shared {
    pub(crate) handle: Handle,
    pub(crate) agent: InitializeResponse,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) asks: Arc<Asks>,
    pub(crate) hooks: Arc<dyn SessionHooks>,
    pub(crate) gate: Gate,
    /// Where everything of every session goes, in one order, if somebody wants it so.
    pub(crate) feed: Option<LaneSender<Item>>,
    pub(crate) limits: Limits,
    pub(crate) login: Option<Login>,
    pub(crate) command: Option<AgentCommand>,
    /// Cancels may come from where no runtime is entered, such as a drop.
    pub(crate) runtime: tokio::runtime::Handle,
}

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) startup: Duration,
    pub(crate) request: Option<Duration>,
    pub(crate) cancel_grace: Duration,
    pub(crate) turn: Option<Duration>,
    pub(crate) silence: Option<Duration>,
}

impl Client {
    /// Prepares a connection.
    #[must_use]
    pub fn builder() -> Builder<Refuse> {
        Builder::default()
    }

    /// What the agent answered to `initialize`: its name, its capabilities, its ways to log in.
    pub fn agent(&self) -> &InitializeResponse {
        &self.shared.agent
    }

    /// The command the agent was started with, where this client started it.
    pub fn command(&self) -> Option<&AgentCommand> {
        self.shared.command.as_ref()
    }

    /// The process id of the agent, where this client started it.
    pub fn pid(&self) -> Option<u32> {
        self.shared.handle.pid()
    }

    /// Closes the connection once everything queued is written, and waits for its end, and the program's.
    ///
    /// What is pending fails at once. A program that goes on is ended after its grace.
    ///
    /// # Cancel safety
    /// The closing goes on when the future is dropped.
    pub async fn close(&self) -> End {
        self.shared.asks.cancel_everything();
        self.shared.handle.close();
        self.shared.handle.closed().await
    }

    /// Waits for the end of the connection.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn closed(&self) -> End {
        self.shared.handle.closed().await
    }

    pub(crate) fn cancel_grace(&self) -> Duration {
        self.shared.limits.cancel_grace
    }

    /// Whether the connection has ended or is ending.
    pub fn is_closed(&self) -> bool {
        self.shared.handle.is_closed()
    }

    /// Asks the agent something outside the protocol.
    ///
    /// The name of such a method starts with an underscore. Call one only if the agent advertises it.
    ///
    /// # Errors
    /// [`Error`], with `extension request` for the method's name.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more.
    pub async fn call_raw(&self, method: &str, params: &impl Serialize) -> Result<Box<RawValue>, Error> {
        self.in_time("extension request", self.shared.handle.call_raw(method, params)).await
    }

    /// Tells the agent something outside the protocol.
    ///
    /// # Errors
    /// [`Error::Lost`] if the connection has ended, [`Error::NotSent`] if the message is too large.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn notify_raw(&self, method: &str, params: &impl Serialize) -> Result<(), Error> {
        self.in_time("extension notification", self.shared.handle.notify_raw(method, params)).await
    }

    /// Sends a request and waits for its answer, within the request's limit.
    pub(crate) async fn call<R: Request + Sync>(&self, request: &R) -> Result<R::Answer, Error> {
        self.in_time(R::METHOD, self.shared.handle.call(request)).await
    }

    /// Sends a request whose answer `deliver` takes in where it stands on the wire, and waits for what that makes of it.
    pub(crate) async fn call_in_order<R, T>(
        &self,
        request: &R,
        patient: bool,
        deliver: impl FnOnce(R::Answer) -> T + Send + 'static,
    ) -> Result<T, Error>
    where
        R: Request + Sync,
        T: Send + 'static,
    {
        let handle = &self.shared.handle;
        let (sender, receiver) = oneshot::channel();
        let deliver = move |outcome: Result<R::Answer, CallError>| {
            // Nobody may wait any more; what the answer changes holds all the same.
            let _ = sender.send(outcome.map(deliver));
        };
        let started = async {
            if patient {
                handle.start_patient(request, deliver).await
            } else {
                handle.start(request, deliver).await
            }
        };
        self.in_time(R::METHOD, async {
            let started = CancelOnDrop(Some(started.await?));
            // The delivery runs exactly once, so the sender is never dropped unused while the connection lives.
            let outcome = receiver.await;
            started.done();
            match outcome {
                Ok(outcome) => outcome,
                Err(_) => Err(CallError::Lost(Lost(handle.closed().await))),
            }
        })
        .await
    }

    /// Waits for something that is not the agent's, such as a person, no longer than the connection lives.
    pub(crate) async fn while_connected<T>(&self, wait: impl Future<Output = T>) -> Result<T, Error> {
        tokio::select! {
            biased;
            value = wait => Ok(value),
            end = self.shared.handle.closed() => Err(Error::Lost(Lost(end))),
        }
    }

    async fn in_time<T>(
        &self,
        method: &'static str,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, Error> {
        let outcome = match self.shared.limits.request {
            None => call.await,
            Some(after) => timeout(after, call).await.map_err(|_| Error::Timeout { method, after })?,
        };
        outcome.map_err(|error| Error::of_call(method, error))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("agent", &self.shared.agent.agent_info).finish_non_exhaustive()
    }
}

/// Tells the agent that nobody waits for an answer any more.
struct CancelOnDrop(Option<accord_transport::Started>);

impl CancelOnDrop {
    fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(started) = &self.0 {
            started.cancel();
        }
    }
}
