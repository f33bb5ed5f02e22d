//! A request of the peer, which wants exactly one answer.

use std::sync::Arc;

use accord_peer::CallKey;
use accord_protocol::rpc::{self, Id, Params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::shared::Shared;
use crate::{Handle, TraceContext, WeakHandle};

/// A request of the peer. Answer it with [`Call::answer`]; dropped without an answer, it answers `-32603`.
#[derive(Debug)]
pub struct Call {
    handle: WeakHandle,
    key: CallKey,
    id: Id,
    method: Box<str>,
    params: Params,
    bytes: usize,
    open: bool,
}

impl Call {
    pub(crate) fn new(
        handle: WeakHandle,
        key: CallKey,
        id: Id,
        method: Box<str>,
        params: Params,
        bytes: usize,
    ) -> Self {
        tracing::debug!(target: "accord::call", %method, %id, bytes, "called");
        Self { handle, key, id, method, params, bytes, open: true }
    }

    /// The peer's id of this request.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The name of the method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// How long the line was.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The parameters as they came; `null` and absent are the same.
    pub fn raw_params(&self) -> Option<&RawValue> {
        self.params.raw()
    }

    /// The typed parameters. Those of the busiest methods have been read already, and are given away the first time.
    ///
    /// # Errors
    /// `-32602` with the path of the first misfit: what to answer with.
    pub fn params<R: DeserializeOwned + 'static>(&mut self) -> Result<R, rpc::Error> {
        self.params.take()
    }

    /// The trace that this request belongs to, if the peer says so in `_meta`.
    pub fn trace_context(&self) -> Option<TraceContext> {
        TraceContext::of(self.raw_params()?)
    }

    /// A span with the method and the id, for the work that answers the request.
    pub fn span(&self) -> tracing::Span {
        tracing::debug_span!(target: "accord::call", "call", method = %self.method, id = %self.id)
    }

    /// Whether the peer no longer wants the answer, or is gone.
    pub fn is_cancelled(&self) -> bool {
        self.shared().lock().peer.is_cancelled(self.key)
    }

    /// Resolves when the peer no longer wants the answer, or is gone.
    ///
    /// The future does not borrow the call, so that it can be watched beside the work.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + Sync + use<> {
        let (shared, key) = (Arc::clone(self.shared()), self.key);
        async move { shared.cancelled(key).await }
    }

    /// Answers, once. Nothing is awaited: answers go out in the order of these calls.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "an answer is given away, and most are made on the spot"
    )]
    pub fn answer(mut self, outcome: Result<impl Serialize, rpc::Error>) {
        self.open = false;
        match &outcome {
            Ok(_) => {
                tracing::debug!(target: "accord::call", method = %self.method, id = %self.id, "answered");
            }
            Err(error) => {
                tracing::debug!(target: "accord::call", method = %self.method, id = %self.id, code = %error.code, "refused");
            }
        }
        self.shared().answer(self.key, outcome.as_ref());
    }

    /// A handle on the connection that the call came from, unless its last handle is gone.
    pub fn handle(&self) -> Option<Handle> {
        self.handle.upgrade()
    }

    /// A handle that does not keep the connection open.
    pub fn weak_handle(&self) -> &WeakHandle {
        &self.handle
    }

    fn shared(&self) -> &Arc<Shared> {
        self.handle.shared()
    }
}

/// A handler that panicked, was aborted, or forgot: the peer must not wait for it.
impl Drop for Call {
    fn drop(&mut self) {
        if self.open {
            tracing::warn!(target: "accord::call", method = %self.method, id = %self.id, "a call was dropped unanswered");
            self.shared()
                .answer(self.key, Err::<&(), _>(&rpc::Error::internal("the request was not answered")));
        }
    }
}
