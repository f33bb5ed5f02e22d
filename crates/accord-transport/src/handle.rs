//! How the application speaks through a connection.

use std::sync::{Arc, Weak};

use accord_peer::{RequestKey, SendError};
use accord_protocol::method;
use accord_protocol::rpc::Answer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::pending::{Abandon, Kind, Outcome, Waiter};
use crate::shared::{Shared, State};
use crate::{CallError, End, Started};

/// A way to speak through a connection. Clones speak through the same one.
///
/// The connection is closed when the last handle is dropped, so a [`Service`](crate::Service) keeps a [`WeakHandle`].
#[derive(Clone, Debug)]
pub struct Handle {
    shared: Arc<Shared>,
    alive: Arc<Alive>,
}

/// A handle that does not keep the connection open.
#[derive(Clone, Debug)]
pub struct WeakHandle {
    shared: Arc<Shared>,
    alive: Weak<Alive>,
}

/// Closes the connection when nobody can speak through it any more.
#[derive(Debug)]
struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { alive: Arc::new(Alive(Arc::clone(&shared))), shared }
    }

    /// A handle that does not keep the connection open.
    pub fn downgrade(&self) -> WeakHandle {
        WeakHandle { shared: Arc::clone(&self.shared), alive: Arc::downgrade(&self.alive) }
    }

    /// Sends a request and waits for its answer: first for room in the output, then for the peer.
    ///
    /// # Errors
    /// See [`CallError`].
    ///
    /// # Cancel safety
    /// Dropping the future gives the request up: if it was sent, `$/cancel_request` follows, and a late answer is
    /// ignored.
    pub async fn call<R: method::Request>(&self, request: &R) -> Result<R::Answer, CallError> {
        typed(R::METHOD, self.ask(R::METHOD, request).await)
    }

    /// Sends a request by the name of its method and waits for the raw answer.
    ///
    /// # Errors
    /// See [`CallError`].
    ///
    /// # Cancel safety
    /// As [`Handle::call`].
    pub async fn call_raw(&self, method: &str, params: &impl Serialize) -> Result<Box<RawValue>, CallError> {
        self.ask(method, params).await.map(Answer::into_raw)
    }

    async fn ask(&self, method: &str, params: &impl Serialize) -> Outcome {
        let stamped = self.shared.stamp(params);
        let (key, receiver) = self
            .shared
            .send_with_room(|state| {
                let (sender, receiver) = oneshot::channel();
                let waiter = Waiter { kind: Kind::Task(sender), pressing: true };
                let key = match &stamped {
                    Some(stamped) => request(state, method, stamped, waiter)?,
                    None => request(state, method, params, waiter)?,
                };
                Ok((key, receiver))
            })
            .await?;
        tracing::debug!(target: "accord::request", method, id = %key.id(), "sent");
        let _abandon = Abandon { shared: &self.shared, key };
        let outcome = receiver.await.unwrap_or_else(|_| Err(CallError::Lost(self.shared.lost())));
        log(method, key, &outcome);
        outcome
    }

    /// Sends a request whose outcome goes to `deliver`, which runs on the driver's task, in wire order, before the
    /// next frame is looked at. It must not block. It runs exactly once if this returns `Ok`, and never otherwise.
    ///
    /// # Errors
    /// Nothing was sent: the connection has ended, or the message is too large or does not serialise.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn start<R: method::Request>(
        &self,
        request: &R,
        deliver: impl FnOnce(Result<R::Answer, CallError>) + Send + 'static,
    ) -> Result<Started, CallError> {
        self.start_raw(R::METHOD, request, true, move |outcome| deliver(typed(R::METHOD, outcome))).await
    }

    /// As [`Handle::start`], for a request whose answer comes behind many updates, such as a prompt or a load: while
    /// only such requests are pending, a full lane stops the reading.
    ///
    /// # Errors
    /// As [`Handle::start`].
    ///
    /// # Cancel safety
    /// As [`Handle::start`].
    pub async fn start_patient<R: method::Request>(
        &self,
        request: &R,
        deliver: impl FnOnce(Result<R::Answer, CallError>) + Send + 'static,
    ) -> Result<Started, CallError> {
        self.start_raw(R::METHOD, request, false, move |outcome| deliver(typed(R::METHOD, outcome))).await
    }

    async fn start_raw(
        &self,
        method: &str,
        params: &impl Serialize,
        pressing: bool,
        deliver: impl FnOnce(Outcome) + Send + 'static,
    ) -> Result<Started, CallError> {
        let stamped = self.shared.stamp(params);
        let mut deliver = Some(deliver);
        let key = self
            .shared
            .send_with_room(|state| {
                // Taken once: an attempt either finds no room and does not come here, or is the last.
                let Some(deliver) = deliver.take() else { return Err(SendError::Ended) };
                let waiter = Waiter { kind: Kind::Deliver(Box::new(deliver)), pressing };
                match &stamped {
                    Some(stamped) => request(state, method, stamped, waiter),
                    None => request(state, method, params, waiter),
                }
            })
            .await?;
        tracing::debug!(target: "accord::request", method, id = %key.id(), "sent");
        Ok(Started { shared: Arc::clone(&self.shared), key })
    }

    /// Sends a notification, waiting while too much is queued already.
    ///
    /// # Errors
    /// Nothing was sent: the connection has ended, or the message is too large or does not serialise.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn notify<N: method::Notification>(&self, notification: &N) -> Result<(), CallError> {
        self.notify_raw(N::METHOD, notification).await
    }

    /// Sends a notification by the name of its method, waiting while too much is queued already.
    ///
    /// # Errors
    /// As [`Handle::notify`].
    ///
    /// # Cancel safety
    /// As [`Handle::notify`].
    pub async fn notify_raw(&self, method: &str, params: &impl Serialize) -> Result<(), CallError> {
        self.shared.send_with_room(|state| state.peer.notify(method, params)).await
    }

    /// Sends a notification if there is room for it now; `None` means that there is none, and nothing was sent.
    ///
    /// # Errors
    /// As [`Handle::notify`].
    pub fn try_notify<N: method::Notification>(&self, notification: &N) -> Option<Result<(), CallError>> {
        let sent = self.shared.send_if_room(|state| state.peer.notify(N::METHOD, notification))?;
        Some(sent.map_err(|error| self.shared.unsent(error)))
    }

    /// Queues a notification without ever waiting. For the few that must get through, such as `session/cancel`.
    ///
    /// # Errors
    /// As [`Handle::notify`].
    pub fn notify_now<N: method::Notification>(&self, notification: &N) -> Result<(), CallError> {
        self.shared.notify_now(N::METHOD, notification)
    }

    /// Waits until everything that was queued before has been written, or the connection has ended.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn flush(&self) {
        self.shared.flushed().await;
    }

    /// Ends the connection once everything that is queued has been written. What is pending fails at once.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Waits for the end of the connection, and of its process where there is one.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn closed(&self) -> End {
        self.shared.ended().await
    }

    /// Whether the connection has ended or is ending.
    pub fn is_closed(&self) -> bool {
        self.shared.is_over()
    }

    /// The process id of the child at the other end, where there is one.
    pub fn pid(&self) -> Option<u32> {
        self.shared.lock().pid
    }
}

impl WeakHandle {
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// A full handle, unless the last one is gone and the connection with it.
    pub fn upgrade(&self) -> Option<Handle> {
        Some(Handle { alive: self.alive.upgrade()?, shared: Arc::clone(&self.shared) })
    }
}

/// The method, the id, and whether it went well; never what was said.
fn log(method: &str, key: RequestKey, outcome: &Outcome) {
    let id = key.id();
    match outcome {
        Ok(_) => tracing::debug!(target: "accord::request", method, %id, "answered"),
        Err(CallError::Refused(error)) => {
            tracing::debug!(target: "accord::request", method, %id, code = %error.code, "refused");
        }
        Err(error) => tracing::debug!(target: "accord::request", method, %id, %error, "failed"),
    }
}

fn request(
    state: &mut State,
    method: &str,
    params: &impl Serialize,
    waiter: Waiter,
) -> Result<RequestKey, SendError> {
    if state.closing {
        return Err(SendError::Ended);
    }
    let pressing = waiter.pressing;
    let key = state.peer.request(method, params, waiter)?;
    state.pressing += usize::from(pressing);
    Ok(key)
}

fn typed<T: DeserializeOwned + 'static>(method: &str, outcome: Outcome) -> Result<T, CallError> {
    outcome?.take().map_err(|misfit| CallError::Undecodable { method: method.to_owned(), misfit })
}
