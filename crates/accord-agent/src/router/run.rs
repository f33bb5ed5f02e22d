//! How a handler is run: in a task of its own, in its place of the line, and answered whatever becomes of it.

use std::{
    future::{self, Future},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

use accord_protocol::{method::Request, v1::SessionId};
use accord_transport::Call;

use super::{Serving, refuse, unknown};
use crate::{
    handler::{Agent, Error},
    table::Ticket,
};

impl<A: Agent> Serving<A> {
    /// Decodes, then runs a handler that no session orders.
    pub(super) fn run<R, F>(&self, mut call: Call, handler: fn(Self, R) -> F)
    where
        R: Request,
        F: Future<Output = Result<R::Answer, Error>> + Send + 'static,
    {
        match call.params::<R>() {
            Ok(request) => self.spawn(call, handler(self.clone(), request)),
            Err(error) => refuse(call, error),
        }
    }

    /// Decodes, then runs a handler when every earlier call about the same open session is done.
    pub(super) fn in_line<R, F>(
        &self,
        mut call: Call,
        session: fn(&R) -> &SessionId,
        handler: impl FnOnce(Self, R) -> F + Send + 'static,
    ) where
        R: Request,
        F: Future<Output = Result<R::Answer, Error>> + Send + 'static,
    {
        let request = match call.params::<R>() {
            Ok(request) => request,
            Err(error) => return refuse(call, error),
        };
        let id = session(&request).clone();
        let Some(ticket) = self.wire.table.queue(&id) else { return refuse(call, unknown(&id)) };
        self.run_after(call, ticket, move |serving| async move {
            if serving.wire.table.open(&id).is_none() {
                return Err(unknown(&id));
            }
            handler(serving, request).await
        });
    }

    /// Runs a handler in its place of the line, to its end: half of a close or of a delete would leave a session that
    /// nobody can reach. Withdrawing the request comes too late for that.
    pub(super) fn carry_through<T, F>(
        &self,
        call: Call,
        ticket: Ticket,
        handler: impl FnOnce(Self) -> F + Send + 'static,
    ) where
        T: serde::Serialize + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let serving = self.clone();
        self.tasks.spawn(async move {
            let result = caught(async {
                drop(ticket.come().await);
                handler(serving).await
            });
            let result = result.await;
            call.answer(result);
        });
    }

    pub(super) fn run_after<T, F>(
        &self,
        call: Call,
        ticket: Ticket,
        handler: impl FnOnce(Self) -> F + Send + 'static,
    ) where
        T: serde::Serialize + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let serving = self.clone();
        self.spawn(call, async move {
            drop(ticket.come().await);
            let result = handler(serving).await;
            drop(ticket);
            result
        });
    }

    /// Runs a handler in a task of its own and answers, whatever becomes of it.
    ///
    /// A call that its client withdrew is answered so at once; what had begun is dropped. When the connection is gone
    /// it goes on instead: what it makes durable should be whole.
    pub(super) fn spawn<T>(
        &self,
        call: Call,
        handler: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) where
        T: serde::Serialize + Send + 'static,
    {
        let handle = self.wire.handle.clone();
        // Each in a place of its own: every layer around a future moves all of it, and the runtime moves a task several
        // times.
        let handler = Box::pin(handler);
        self.tasks.spawn(Box::pin(async move {
            let withdrawn = call.cancelled();
            let withdrawn = async {
                withdrawn.await;
                if handle.is_closed() {
                    future::pending::<()>().await;
                }
            };
            let result = tokio::select! {
                biased;
                result = caught(handler) => result,
                () = withdrawn => Err(Error::cancelled()),
            };
            call.answer(result);
        }));
    }
}

/// A handler whose panic is an error of its own call and of nothing else.
pub(crate) async fn caught<T>(handler: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let mut handler = pin!(handler);
    future::poll_fn(move |cx| {
        catch_unwind(AssertUnwindSafe(|| handler.as_mut().poll(cx))).unwrap_or_else(|panic| {
            // The panic hook has told the log what happened; the payload may panic again when it is dropped.
            mem::forget(panic);
            Poll::Ready(Err(Error::internal("the agent failed unexpectedly")))
        })
    })
    .await
}
