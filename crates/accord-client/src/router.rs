//! Where the agent's messages go: one `match`, on the driver's task, in the order of the wire.

mod asks;
mod host;
mod sessions;

use std::{
    collections::BTreeSet,
    future::Future,
    sync::Arc,
    task::{Context, Poll},
};

use accord_protocol::{
    method::{Notification as _, Request},
    rpc::Error,
    v1::{
        ClientCapabilities, CompleteElicitationNotification, CreateElicitationRequest, CreateTerminalRequest,
        KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest, RequestPermissionRequest,
        SessionId, TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
    },
};
use accord_transport::{Call, End, Gate, LaneReceiver, LaneSender, Notification, Service, Update, lane};

use crate::{
    Handler,
    elicitation::{self, Input},
    session::{Item, Live},
};

pub(crate) use self::{
    asks::{AskKey, Asks, Question, Reply, Settled, Settlement},
    host::{Host, SessionHooks, unwound},
    sessions::Sessions,
};

/// How much may wait for the embedder in each lane, in bytes of the wire; it takes less than 1 MiB of memory.
pub(crate) const LANE_LIMIT: usize = 512 * 1024;

/// Where the agent's messages go.
pub(crate) struct Router<H> {
    host: Arc<Host<H>>,
    sessions: Arc<Sessions>,
    asks: Arc<Asks>,
    offered: ClientCapabilities,
    offered_methods: Offered,
    gate: Gate,
    /// Where everything is told in one order, if somebody wants that.
    feed: Option<LaneSender<Item>>,
    notices: LaneSender<Notification>,
    /// Methods the agent asked for although they are not offered: one warning each.
    warned: BTreeSet<&'static str>,
}

/// Which of the methods behind capabilities are served.
#[derive(Debug, Clone, Copy)]
struct Offered {
    read: bool,
    write: bool,
    terminal: bool,
}

impl Offered {
    fn of(capabilities: &ClientCapabilities) -> Self {
        let fs = capabilities.fs.as_ref();
        Self {
            read: fs.is_some_and(|fs| fs.read_text_file == Some(true)),
            write: fs.is_some_and(|fs| fs.write_text_file == Some(true)),
            terminal: capabilities.terminal == Some(true),
        }
    }
}

impl<H: Handler> Router<H> {
    pub(crate) fn new(
        (host, sessions, asks): (Arc<Host<H>>, Arc<Sessions>, Arc<Asks>),
        offered: ClientCapabilities,
        gate: Gate,
        feed: Option<LaneSender<Item>>,
    ) -> Self {
        let (notices, receiver) = lane(&gate, LANE_LIMIT);
        tokio::spawn(take_notices(Arc::clone(&host), receiver));
        let offered_methods = Offered::of(&offered);
        Self { host, sessions, asks, offered, offered_methods, gate, feed, notices, warned: BTreeSet::new() }
    }

    fn route(&mut self, call: Call) {
        let Offered { read, write, terminal } = self.offered_methods;
        match call.method() {
            RequestPermissionRequest::METHOD => self.ask_permission(call),
            CreateElicitationRequest::METHOD => self.ask_elicitation(call),
            ReadTextFileRequest::METHOD if read => {
                self.serve(
                    call,
                    |r: &ReadTextFileRequest| &r.session_id,
                    |host, live, r| async move { host.read_text_file(live, r).await },
                );
            }
            WriteTextFileRequest::METHOD if write => {
                self.serve(
                    call,
                    |r: &WriteTextFileRequest| &r.session_id,
                    |host, live, r| async move { host.write_text_file(live, r).await },
                );
            }
            CreateTerminalRequest::METHOD if terminal => {
                self.serve(
                    call,
                    |r: &CreateTerminalRequest| &r.session_id,
                    |host, live, r| async move { host.create_terminal(live, r).await },
                );
            }
            TerminalOutputRequest::METHOD if terminal => {
                self.serve(
                    call,
                    |r: &TerminalOutputRequest| &r.session_id,
                    |host, _, r| async move { host.terminal_output(r).await },
                );
            }
            WaitForTerminalExitRequest::METHOD if terminal => {
                self.serve(
                    call,
                    |r: &WaitForTerminalExitRequest| &r.session_id,
                    |host, _, r| async move { host.wait_for_terminal_exit(r).await },
                );
            }
            KillTerminalRequest::METHOD if terminal => {
                self.serve(
                    call,
                    |r: &KillTerminalRequest| &r.session_id,
                    |host, _, r| async move { host.kill_terminal(r).await },
                );
            }
            ReleaseTerminalRequest::METHOD if terminal => {
                self.serve(
                    call,
                    |r: &ReleaseTerminalRequest| &r.session_id,
                    |host, _, r| async move { host.release_terminal(r).await },
                );
            }
            ReadTextFileRequest::METHOD | WriteTextFileRequest::METHOD => self.refuse(call, "files"),
            method if method.starts_with("terminal/") => self.refuse(call, "terminals"),
            _ => self.serve_extension(call),
        }
    }

    fn ask_permission(&self, mut call: Call) {
        let request: RequestPermissionRequest = match call.params() {
            Ok(request) => request,
            Err(error) => return call.answer(Err::<(), _>(error)),
        };
        let session = request.session_id.clone();
        let live = self.sessions.get(&session);
        let is_told = self.feed.is_some() && self.host.permissions.is_none();
        let (question, handled) = if is_told {
            (Question::Permission(request), None)
        } else {
            (Question::handled(&request), Some(request))
        };
        let bytes = call.bytes();
        let (key, settled, withdrawn) = self.open(Some(session), question, call);
        let Some(live) = live.filter(|live| !live.is_cancelling()) else {
            // A strict agent never recovers from an error here, so also a question nobody can be asked gets an outcome.
            self.asks.cancel(key);
            return;
        };
        live.heard();
        if is_told {
            self.asks.tell(key, bytes);
        }
        let host = Arc::clone(&self.host);
        self.work_on(key, settled, withdrawn, live, async move {
            match handled {
                Some(request) => Reply::Permission(host.request_permission(request).await),
                None => std::future::pending().await,
            }
        });
    }

    fn ask_elicitation(&mut self, mut call: Call) {
        let request: CreateElicitationRequest = match call.params() {
            Ok(request) => request,
            Err(error) => return call.answer(Err::<(), _>(error)),
        };
        if !elicitation::is_offered(&self.offered, &request) {
            if !elicitation::any_offered(&self.offered) {
                return self.refuse(call, "elicitations");
            }
            return call
                .answer(Err::<(), _>(Error::invalid_params("mode", "a mode that this client offers")));
        }
        let is_told = self.feed.is_some() && self.host.elicitations.is_none();
        if let (true, Err(error)) = (is_told, Input::of(&request)) {
            return call.answer(Err::<(), _>(error));
        }
        let bytes = call.bytes();
        let session = elicitation::session_of(&request).cloned();
        let live = session.as_ref().and_then(|session| self.sessions.get(session));
        let (key, settled, withdrawn) = self.open(session, Question::Elicitation(request.clone()), call);
        // Looked at once the question is open: a cancel before that has not found it, a later one will.
        if live.as_ref().is_some_and(|live| live.is_cancelling()) {
            self.asks.cancel(key);
            return;
        }
        let told = is_told && self.asks.tell(key, bytes);
        let host = (!told).then(|| Arc::clone(&self.host));
        let work = async move {
            match host {
                Some(host) => Reply::Elicitation(host.create_elicitation(request).await),
                None => std::future::pending().await,
            }
        };
        self.work_on(key, settled, withdrawn, live, work);
    }

    fn open(
        &self,
        session: Option<SessionId>,
        question: Question,
        call: Call,
    ) -> (AskKey, Settled, impl Future<Output = ()> + Send + 'static + use<H>) {
        let withdrawn = call.cancelled();
        let (key, settled) = self.asks.open(session, question, call);
        (key, settled, withdrawn)
    }

    /// Looks after a question until it has its answer, whoever gives it.
    fn work_on(
        &self,
        key: AskKey,
        settled: Settled,
        withdrawn: impl Future<Output = ()> + Send + 'static,
        live: impl Into<Option<Arc<Live>>>,
        work: impl Future<Output = Reply> + Send + 'static,
    ) {
        let asks = Arc::clone(&self.asks);
        let live = live.into();
        // In a place of its own: the runtime moves a task several times.
        tokio::spawn(Box::pin(async move {
            // Does nothing once the question has its answer.
            let _cancel = CancelOnPanic { asks: &asks, key };
            tokio::select! {
                biased;
                _ = settled => {}
                () = withdrawn => { asks.withdraw(key); }
                reply = work => { asks.answer(key, reply); }
            }
            if let Some(live) = live {
                live.heard();
            }
        }));
    }

    fn serve<R, F>(
        &self,
        mut call: Call,
        session: impl Fn(&R) -> &SessionId,
        work: impl FnOnce(Arc<Host<H>>, Arc<Live>, R) -> F + Send + 'static,
    ) where
        R: Request,
        F: Future<Output = Result<R::Answer, Error>> + Send,
    {
        let request: R = match call.params() {
            Ok(request) => request,
            Err(error) => return call.answer(Err::<(), _>(error)),
        };
        let Some(live) = self.sessions.get(session(&request)) else {
            return call.answer(Err::<(), _>(Error::resource_not_found("session")));
        };
        live.heard();
        let host = Arc::clone(&self.host);
        tokio::spawn(async move {
            let outcome = tokio::select! {
                biased;
                () = call.cancelled() => Err(Error::cancelled()),
                outcome = work(host, live, request) => outcome,
            };
            call.answer(outcome);
        });
    }

    fn serve_extension(&self, call: Call) {
        let host = Arc::clone(&self.host);
        tokio::spawn(async move {
            let params = call.raw_params().map(ToOwned::to_owned);
            let outcome = tokio::select! {
                biased;
                () = call.cancelled() => Err(Error::cancelled()),
                outcome = host.handler.ext_request(call.method(), params) => outcome,
            };
            call.answer(outcome);
        });
    }

    fn refuse(&mut self, call: Call, builder_call: &'static str) {
        if self.warned.insert(builder_call) {
            tracing::warn!(
                method = call.method(),
                "the agent asked for what this client does not offer; `Client::builder().{builder_call}(…)` would"
            );
        }
        let error = Error::method_not_found(call.method());
        call.answer(Err::<(), _>(error));
    }
}

impl<H: Handler> Service for Router<H> {
    fn update(&mut self, update: Update) {
        let Update { notification, bytes, raw, .. } = update;
        self.sessions.receive(&notification.session_id, notification.update, raw, bytes);
    }

    fn notification(&mut self, notification: Notification) {
        let bytes = notification.bytes;
        match &self.feed {
            Some(feed)
                if self.host.elicitations.is_none()
                    && &*notification.method == CompleteElicitationNotification::METHOD =>
            {
                match notification.params::<CompleteElicitationNotification>() {
                    Ok(done) => feed.push(Item::Visited(done.elicitation_id), bytes),
                    Err(error) => malformed_completion(&error),
                }
            }
            _ => self.notices.push(notification, bytes),
        }
    }

    fn call(&mut self, call: Call) {
        self.route(call);
    }

    fn flush(&mut self) {
        self.gate.flush();
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.gate.poll_ready(cx)
    }

    fn closed(&mut self, end: &End) {
        self.asks.cancel_everything();
        self.sessions.end();
        self.host.release_all();
        // Before the handshake there is no connection whose end would matter.
        if let (Some(feed), true) = (&self.feed, self.sessions.was_agreed()) {
            feed.push(Item::Gone(Some(end.clone())), 0);
        }
    }
}

/// A handler that panics must not leave the agent waiting, and an outcome is the only answer every agent takes.
struct CancelOnPanic<'a> {
    asks: &'a Asks,
    key: AskKey,
}

impl Drop for CancelOnPanic<'_> {
    fn drop(&mut self) {
        self.asks.cancel(self.key);
    }
}

/// Notifications outside sessions, one after the other.
async fn take_notices<H: Handler>(host: Arc<Host<H>>, mut notices: LaneReceiver<Notification>) {
    while let Some(notice) = notices.next().await {
        if &*notice.method == CompleteElicitationNotification::METHOD {
            match notice.params() {
                Ok(done) => host.complete_elicitation(done).await,
                Err(error) => malformed_completion(&error),
            }
        } else {
            host.ext_notification(&notice.method, notice.raw_params).await;
        }
    }
}

fn malformed_completion(error: &Error) {
    tracing::debug!(%error, "a malformed elicitation/complete was ignored");
}
