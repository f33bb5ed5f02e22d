//! What a client does when the agent asks it something: one method a request, each with a safe default.

use std::{
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
};

use accord_protocol::{
    rpc::Error,
    v1::{
        CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
        CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
        PermissionOptionKind, ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest,
        ReleaseTerminalResponse, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
        SessionUpdate, TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
        WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
    },
};
use serde_json::value::RawValue;

use crate::permission;

/// What a client does when the agent asks it something.
///
/// Implement what you offer, as plain `async fn`s; everything else refuses, with one warning that names the
/// [`Builder`](crate::Builder) call which would offer it. Each request is served on a task of its own, so a method may take its time, and
/// may call the agent. A future is dropped when its request is withdrawn: by the agent, by a cancel, or by the end
/// of the connection.
pub trait Handler: Send + Sync + 'static {
    /// The agent wants permission for a tool call. Default: reject once if that is offered, else cancelled.
    ///
    /// An outcome that names an option which was not offered goes out as cancelled.
    fn request_permission(
        &self,
        request: RequestPermissionRequest,
    ) -> impl Future<Output = RequestPermissionOutcome> + Send {
        static WARNED: AtomicBool = AtomicBool::new(false);
        unoffered(&WARNED, "session/request_permission", "permissions");
        async move { permission::select(&request, &PermissionOptionKind::RejectOnce) }
    }

    /// An update of a session that came while none of its turns was open, in order.
    ///
    /// The next one waits until this is done. Default: nothing; what it says is in [`Session`](crate::Session)'s state.
    fn update(&self, session: &SessionId, update: SessionUpdate) -> impl Future<Output = ()> + Send {
        let _ = (session, update);
        async {}
    }

    /// The agent wants a form filled in, or a page visited. Default: refused.
    fn create_elicitation(
        &self,
        request: CreateElicitationRequest,
    ) -> impl Future<Output = Result<CreateElicitationResponse, Error>> + Send {
        static WARNED: AtomicBool = AtomicBool::new(false);
        let _ = request;
        async { refuse(&WARNED, "elicitation/create", "elicitations") }
    }

    /// What a page was visited for is done. Default: nothing.
    fn complete_elicitation(&self, done: CompleteElicitationNotification) -> impl Future<Output = ()> + Send {
        let _ = done;
        async {}
    }

    /// The agent wants to read a text file. Default: refused.
    fn read_text_file(
        &self,
        request: ReadTextFileRequest,
    ) -> impl Future<Output = Result<ReadTextFileResponse, Error>> + Send {
        static WARNED: AtomicBool = AtomicBool::new(false);
        let _ = request;
        async { refuse(&WARNED, "fs/read_text_file", "files") }
    }

    /// The agent wants to write a text file. Default: refused.
    fn write_text_file(
        &self,
        request: WriteTextFileRequest,
    ) -> impl Future<Output = Result<WriteTextFileResponse, Error>> + Send {
        static WARNED: AtomicBool = AtomicBool::new(false);
        let _ = request;
        async { refuse(&WARNED, "fs/write_text_file", "files") }
    }

    /// The agent wants to run a command. Default: refused.
    fn create_terminal(
        &self,
        request: CreateTerminalRequest,
    ) -> impl Future<Output = Result<CreateTerminalResponse, Error>> + Send {
        static WARNED: AtomicBool = AtomicBool::new(false);
        let _ = request;
        async { refuse(&WARNED, "terminal/create", "terminals") }
    }

    /// The agent wants a command's output so far. Default: refused.
    fn terminal_output(
        &self,
        request: TerminalOutputRequest,
    ) -> impl Future<Output = Result<TerminalOutputResponse, Error>> + Send {
        let _ = request;
        async { Err(no_terminal()) }
    }

    /// The agent waits for a command's end. Default: refused.
    fn wait_for_terminal_exit(
        &self,
        request: WaitForTerminalExitRequest,
    ) -> impl Future<Output = Result<WaitForTerminalExitResponse, Error>> + Send {
        let _ = request;
        async { Err(no_terminal()) }
    }

    /// The agent wants a command ended. Default: refused.
    fn kill_terminal(
        &self,
        request: KillTerminalRequest,
    ) -> impl Future<Output = Result<KillTerminalResponse, Error>> + Send {
        let _ = request;
        async { Err(no_terminal()) }
    }

    /// The agent no longer needs a terminal. Default: refused.
    fn release_terminal(
        &self,
        request: ReleaseTerminalRequest,
    ) -> impl Future<Output = Result<ReleaseTerminalResponse, Error>> + Send {
        let _ = request;
        async { Err(no_terminal()) }
    }

    /// A request outside the protocol. Default: the method is unknown.
    fn ext_request(
        &self,
        method: &str,
        params: Option<Box<RawValue>>,
    ) -> impl Future<Output = Result<Box<RawValue>, Error>> + Send {
        let error = Error::method_not_found(method);
        let _ = params;
        async move { Err(error) }
    }

    /// A notification outside the protocol. Default: nothing.
    fn ext_notification(
        &self,
        method: &str,
        params: Option<Box<RawValue>>,
    ) -> impl Future<Output = ()> + Send {
        let _ = (method, params);
        async {}
    }
}

/// A handler that offers nothing.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Refuse;

impl Handler for Refuse {}

fn refuse<T>(warned: &AtomicBool, method: &'static str, builder_call: &'static str) -> Result<T, Error> {
    unoffered(warned, method, builder_call);
    Err(Error::method_not_found(method))
}

fn no_terminal() -> Error {
    Error::resource_not_found("terminal")
}

/// Once a program: an agent that asks in a loop must not fill the log.
pub(crate) fn unoffered(warned: &AtomicBool, method: &'static str, builder_call: &'static str) {
    if !warned.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            method,
            "the agent asked for what this client does not offer; `Client::builder().{builder_call}(…)` would, or a \
             `Handler` with that method"
        );
    }
}
