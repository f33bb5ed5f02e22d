//! From a method's name to its handler: one `match`, on the driver's task, that runs nothing of the agent's itself.

mod check;
mod offer;
mod opening;
mod prompt;
mod run;

use std::{ops::Deref, sync::Arc, time::Duration};

use accord_protocol::{
    method::{Notification as _, Request},
    unstable::ForkSessionRequest,
    v1::{
        AuthenticateRequest, AuthenticateResponse, CancelNotification, CloseSessionRequest,
        CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse, InitializeRequest,
        ListSessionsRequest, LoadSessionRequest, LogoutRequest, LogoutResponse, NewSessionRequest,
        PromptRequest, ResumeSessionRequest, SessionId, SetSessionConfigOptionRequest,
        SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse,
    },
};
use accord_transport::{Call, Notification, Service, Update};
use tokio_util::task::TaskTracker;

use self::offer::Offer;
pub(crate) use self::run::caught;

use crate::{
    connection::Connection,
    fence::Latch,
    handler::{
        Agent, Auth as _, Closing as _, Config as _, Deleting as _, Error, Listing as _, LoggingOut as _,
        Modes as _,
    },
    session::{Entry, Session},
    text,
    wire::Wire,
};

/// The agent's end of a connection.
pub(crate) struct Router<A> {
    pub(crate) serving: Serving<A>,
}

/// What the tasks of one connection share. A clone is one more count, since every task has one.
pub(crate) struct Serving<A>(Arc<Shared<A>>);

pub(crate) struct Shared<A> {
    pub(crate) agent: A,
    pub(crate) wire: Arc<Wire>,
    pub(crate) offer: Offer,
    pub(crate) tasks: TaskTracker,
    /// This side is about to go: what runs may end, and nothing new begins.
    pub(crate) leaving: Latch,
    /// How long a handler may go on after its call was cancelled.
    pub(crate) grace: Duration,
}

impl<A: Agent> Serving<A> {
    pub(crate) fn new(agent: A, wire: Wire, grace: Duration) -> Self {
        Self(Arc::new(Shared {
            offer: Offer::of(&agent),
            agent,
            wire: Arc::new(wire),
            tasks: TaskTracker::new(),
            leaving: Latch::default(),
            grace,
        }))
    }
}

impl<A> Clone for Serving<A> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<A> Deref for Serving<A> {
    type Target = Shared<A>;

    fn deref(&self) -> &Shared<A> {
        &self.0
    }
}

impl<A: Agent> Service for Router<A> {
    fn update(&mut self, _: Update) {
        // Updates go from agents to clients.
    }

    fn notification(&mut self, notification: Notification) {
        if &*notification.method == CancelNotification::METHOD {
            match notification.params::<CancelNotification>() {
                Ok(cancel) => self.serving.wire.table.cancel(&cancel.session_id),
                Err(error) => tracing::warn!(%error, "a session/cancel was ignored"),
            }
        }
    }

    fn call(&mut self, call: Call) {
        let serving = &self.serving;
        let offer = &serving.offer;
        if serving.leaving.is_set() {
            return refuse(call, Error::internal("the agent is about to end and takes nothing on"));
        }
        match call.method() {
            InitializeRequest::METHOD => serving.initialize(call),
            AuthenticateRequest::METHOD if offer.auth => serving.run(call, Serving::authenticate),
            LogoutRequest::METHOD if offer.logout => serving.run(call, Serving::logout),
            NewSessionRequest::METHOD => serving.new_session(call),
            LoadSessionRequest::METHOD if offer.load => serving.load(call),
            ResumeSessionRequest::METHOD if offer.resume => serving.resume(call),
            ForkSessionRequest::METHOD if offer.fork => serving.fork(call),
            ListSessionsRequest::METHOD if offer.list => serving.run(call, Serving::list),
            PromptRequest::METHOD => serving.prompt(call),
            CloseSessionRequest::METHOD if offer.close => serving.close(call),
            DeleteSessionRequest::METHOD if offer.delete => serving.delete(call),
            SetSessionModeRequest::METHOD if offer.modes => serving.set_mode(call),
            SetSessionConfigOptionRequest::METHOD if offer.config => serving.set_option(call),
            _ => serving.extension(call),
        }
    }
}

impl<A: Agent> Serving<A> {
    fn initialize(&self, mut call: Call) {
        let request = match call.params::<InitializeRequest>() {
            Ok(request) => request,
            Err(error) => return refuse(call, error),
        };
        let answer = self.offer.answer(&request);
        if !self.wire.introduce(request) {
            return refuse(call, Error::invalid_request("initialize was answered already"));
        }
        call.answer(Ok(answer));
        let serving = self.clone();
        self.tasks.spawn(async move { serving.agent.connected(Connection::new(Arc::clone(&serving.wire))) });
    }

    async fn authenticate(self, request: AuthenticateRequest) -> Result<AuthenticateResponse, Error> {
        let auth = self.agent.auth().ok_or_else(|| Error::method_not_found(AuthenticateRequest::METHOD))?;
        if !offer::can_authenticate(&auth.methods(), &request.method_id) {
            return Err(Error::invalid_params("methodId", "the id of an advertised method of type agent"));
        }
        auth.authenticate(request.method_id).await?;
        Ok(AuthenticateResponse::new())
    }

    async fn logout(self, _: LogoutRequest) -> Result<LogoutResponse, Error> {
        let auth = self.agent.logging_out().ok_or_else(|| Error::method_not_found(LogoutRequest::METHOD))?;
        auth.logout().await?;
        Ok(LogoutResponse::new())
    }

    async fn list(
        self,
        request: ListSessionsRequest,
    ) -> Result<<ListSessionsRequest as Request>::Answer, Error> {
        self.gate().await?;
        if let Some(cwd) = request.cwd.get() {
            check::absolute("cwd", cwd)?;
        }
        let agent = &self.agent;
        let listing = agent.listing().ok_or_else(|| Error::method_not_found(ListSessionsRequest::METHOD))?;
        listing.list(request).await
    }

    fn set_mode(&self, call: Call) {
        self.in_line(
            call,
            |request: &SetSessionModeRequest| &request.session_id,
            |serving, request| async move {
                let agent = &serving.agent;
                let modes =
                    agent.modes().ok_or_else(|| Error::method_not_found(SetSessionModeRequest::METHOD))?;
                modes.set_mode(request.session_id, request.mode_id).await?;
                Ok(SetSessionModeResponse::new())
            },
        );
    }

    fn set_option(&self, call: Call) {
        type Params = SetSessionConfigOptionRequest;
        self.in_line(
            call,
            |request: &Params| &request.session_id,
            |serving, request| async move {
                let agent = &serving.agent;
                let config = agent.config().ok_or_else(|| Error::method_not_found(Params::METHOD))?;
                let mut options = config.set_option(request).await?;
                serving.wire.fit_options(&mut options);
                Ok(SetSessionConfigOptionResponse::new(options))
            },
        );
    }

    /// The turn is cancelled, and an opening given up, when the request is read; both are waited for when its place in
    /// the line has come.
    fn close(&self, mut call: Call) {
        let request = match call.params::<CloseSessionRequest>() {
            Ok(request) => request,
            Err(error) => return refuse(call, error),
        };
        let id = request.session_id;
        let Some(ticket) = self.wire.table.queue(&id) else { return refuse(call, unknown(&id)) };
        self.wire.table.cancel(&id);
        let opening = self.wire.table.give_up_opening(&id);
        self.carry_through(call, ticket, |serving| async move {
            if serving.wire.table.open(&id).is_none() {
                // What would have opened it was given up for this: it is closed, as was asked.
                let prevented = opening.is_some_and(|opening| opening.was_given_up());
                return if prevented { Ok(CloseSessionResponse::new()) } else { Err(unknown(&id)) };
            }
            let entry = serving.take_session(&id).await;
            let agent = &serving.agent;
            let closing =
                agent.closing().ok_or_else(|| Error::method_not_found(CloseSessionRequest::METHOD))?;
            let closed = closing.close(id).await;
            // What the agent still had to say about the session has been said.
            end(entry).await;
            closed.map(|()| CloseSessionResponse::new())
        });
    }

    fn delete(&self, mut call: Call) {
        let request = match call.params::<DeleteSessionRequest>() {
            Ok(request) => request,
            Err(error) => return refuse(call, error),
        };
        let id = request.session_id;
        let ticket = self.wire.table.begin(&id);
        self.wire.table.give_up_opening(&id);
        self.carry_through(call, ticket, |serving| async move {
            serving.gate().await?;
            let entry = serving.take_session(&id).await;
            let agent = &serving.agent;
            let deleting =
                agent.deleting().ok_or_else(|| Error::method_not_found(DeleteSessionRequest::METHOD))?;
            let deleted = deleting.delete(id).await;
            end(entry).await;
            deleted.map(|()| DeleteSessionResponse::new())
        });
    }

    /// Cancels the turn, waits for its answer, and takes the session out of the table. What is still asked of the client
    /// for it is given up.
    async fn take_session(&self, id: &SessionId) -> Option<Arc<Entry>> {
        if let Some(turn) = self.wire.table.turn(id) {
            turn.cancel.set();
            turn.answered.wait().await;
        }
        let entry = self.wire.table.take(id);
        if let Some(entry) = &entry {
            entry.ended.set();
        }
        entry
    }

    fn extension(&self, call: Call) {
        if !call.method().starts_with('_') {
            let unknown = Error::method_not_found(call.method());
            return refuse(call, unknown);
        }
        let serving = self.clone();
        let (method, params) = (call.method().to_owned(), call.raw_params().map(ToOwned::to_owned));
        self.spawn(call, async move { serving.agent.extension(&method, params.as_deref()).await });
    }

    pub(crate) fn session(&self, entry: Arc<Entry>) -> Session {
        Session { entry, wire: Arc::clone(&self.wire) }
    }
}

/// The error of a session that is not open on this connection.
pub(crate) fn unknown(id: &SessionId) -> Error {
    Error::resource_not_found("the session is not open on this connection")
        .with_data(serde_json::json!({ "sessionId": shown(id) }))
}

/// As much of an id as an error repeats: nobody's is longer, and what a client makes up need not come back whole.
pub(crate) fn shown(id: &SessionId) -> &str {
    const LONGEST: usize = 128;
    text::beginning(id.as_str(), LONGEST)
}

async fn end(entry: Option<Arc<Entry>>) {
    if let Some(entry) = entry {
        entry.end().await;
    }
}

pub(crate) fn refuse(call: Call, error: Error) {
    call.answer(Err::<(), _>(error));
}
