//! Who serves a request: the ready-made handlers where they were asked for, else the embedder's own.

use std::{
    fmt,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use accord_protocol::{
    rpc::Error,
    v1::{
        CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
        CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
        ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
        RequestPermissionOutcome, RequestPermissionRequest, SessionId, TerminalOutputRequest,
        TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
        WriteTextFileRequest, WriteTextFileResponse,
    },
};
use accord_transport::LaneReceiver;
use serde_json::value::RawValue;

use crate::{
    Elicitations, Files, Handler, Permissions, Terminals,
    session::{Item, Live},
};

/// The handlers of one connection.
#[derive(Default)]
pub(crate) struct Host<H> {
    pub(crate) handler: Arc<H>,
    pub(crate) permissions: Option<Permissions>,
    pub(crate) files: Option<Files>,
    pub(crate) terminals: Option<Terminals>,
    pub(crate) elicitations: Option<Elicitations>,
}

/// What happens with a session when it begins and ends, whatever the handler's type.
pub(crate) trait SessionHooks: fmt::Debug + Send + Sync {
    /// Starts a task that takes the updates between turns to the handler; it lives as long as the lane.
    fn begin(self: Arc<Self>, session: &SessionId, lane: LaneReceiver<Item>);

    /// The session's commands end with it.
    fn end(&self, session: &SessionId);
}

impl<H: Handler> SessionHooks for Host<H> {
    fn begin(self: Arc<Self>, session: &SessionId, mut lane: LaneReceiver<Item>) {
        let session = session.clone();
        tokio::spawn(async move {
            while let Some(item) = lane.next().await {
                if let Item::Update(received) = item
                    && unwound(self.handler.update(&session, received.update)).await.is_err()
                {
                    tracing::error!(%session, "the handler panicked on an update; it gets the next one all the same");
                }
            }
        });
    }

    fn end(&self, session: &SessionId) {
        if let Some(terminals) = &self.terminals {
            terminals.release_session(session);
        }
    }
}

impl<H> Clone for Host<H> {
    fn clone(&self) -> Self {
        Self {
            handler: Arc::clone(&self.handler),
            permissions: self.permissions.clone(),
            files: self.files.clone(),
            terminals: self.terminals.clone(),
            elicitations: self.elicitations.clone(),
        }
    }
}

impl<H> fmt::Debug for Host<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("permissions", &self.permissions)
            .field("files", &self.files)
            .field("terminals", &self.terminals)
            .finish_non_exhaustive()
    }
}

/// Runs a future to its end, or to its panic.
pub(crate) async fn unwound<F: Future>(future: F) -> Result<F::Output, ()> {
    let mut future = pin!(future);
    // A future that panicked is not polled again, so nothing half done is seen.
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(_) => Poll::Ready(Err(())),
    })
    .await
}

impl<H: Handler> Host<H> {
    pub(crate) async fn request_permission(
        &self,
        request: RequestPermissionRequest,
    ) -> RequestPermissionOutcome {
        match &self.permissions {
            Some(permissions) => permissions.answer(request).await,
            None => self.handler.request_permission(request).await,
        }
    }

    pub(crate) async fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
    ) -> Result<CreateElicitationResponse, Error> {
        match &self.elicitations {
            Some(elicitations) => elicitations.answer(request).await,
            None => self.handler.create_elicitation(request).await,
        }
    }

    pub(crate) async fn read_text_file(
        &self,
        live: Arc<Live>,
        request: ReadTextFileRequest,
    ) -> Result<ReadTextFileResponse, Error> {
        match &self.files {
            Some(files) => files.read(live.roots(), request).await,
            None => self.handler.read_text_file(request).await,
        }
    }

    pub(crate) async fn write_text_file(
        &self,
        live: Arc<Live>,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, Error> {
        match &self.files {
            Some(files) => files.write(live.roots(), request).await,
            None => self.handler.write_text_file(request).await,
        }
    }

    pub(crate) async fn create_terminal(
        &self,
        live: Arc<Live>,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, Error> {
        match &self.terminals {
            Some(terminals) => terminals.create(live.roots(), request),
            None => self.handler.create_terminal(request).await,
        }
    }

    pub(crate) async fn terminal_output(
        &self,
        request: TerminalOutputRequest,
    ) -> Result<TerminalOutputResponse, Error> {
        match &self.terminals {
            Some(terminals) => terminals.output(&request),
            None => self.handler.terminal_output(request).await,
        }
    }

    pub(crate) async fn wait_for_terminal_exit(
        &self,
        request: WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, Error> {
        match &self.terminals {
            Some(terminals) => terminals.wait_for_exit(&request).await,
            None => self.handler.wait_for_terminal_exit(request).await,
        }
    }

    pub(crate) async fn kill_terminal(
        &self,
        request: KillTerminalRequest,
    ) -> Result<KillTerminalResponse, Error> {
        match &self.terminals {
            Some(terminals) => terminals.kill(&request),
            None => self.handler.kill_terminal(request).await,
        }
    }

    pub(crate) async fn release_terminal(
        &self,
        request: ReleaseTerminalRequest,
    ) -> Result<ReleaseTerminalResponse, Error> {
        match &self.terminals {
            Some(terminals) => terminals.release(&request),
            None => self.handler.release_terminal(request).await,
        }
    }

    pub(crate) async fn complete_elicitation(&self, done: CompleteElicitationNotification) {
        let told = unwound(async {
            match &self.elicitations {
                Some(elicitations) => elicitations.complete(done),
                None => self.handler.complete_elicitation(done).await,
            }
        });
        if told.await.is_err() {
            tracing::error!("the handler panicked on a completed elicitation");
        }
    }

    pub(crate) async fn ext_notification(&self, method: &str, params: Option<Box<RawValue>>) {
        if unwound(self.handler.ext_notification(method, params)).await.is_err() {
            tracing::error!(method, "the handler panicked on a notification");
        }
    }

    /// The connection is gone, and every command with it.
    pub(crate) fn release_all(&self) {
        if let Some(terminals) = &self.terminals {
            terminals.release_all();
        }
    }
}
