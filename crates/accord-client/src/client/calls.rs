//! What is asked of an agent outside any session: lists, deleting, logging in and out.

use std::sync::Arc;

use accord_protocol::v1::{
    AuthMethodId, AuthenticateRequest, CloseSessionRequest, DeleteSessionRequest, ListSessionsRequest,
    ListSessionsResponse, LogoutRequest, SessionId,
};

use super::{AllSessions, Client, offers};
use crate::{Error, session::Live};

impl Client {
    /// One page of the sessions the agent knows.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the agent does not offer it or the folder is relative, else what became of the request.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more.
    pub async fn list_sessions(&self, request: ListSessionsRequest) -> Result<ListSessionsResponse, Error> {
        offers::require(self.agent(), "session/list", offers::LIST)?;
        if let Some(cwd) = request.cwd.get() {
            offers::check_absolute("cwd", cwd)?;
        }
        self.with_login(|| self.call(&request)).await
    }

    /// All the sessions the agent knows, page by page as they are taken.
    pub fn all_sessions(&self, request: ListSessionsRequest) -> AllSessions {
        AllSessions::new(self.clone(), request)
    }

    /// Closes a session by its id: it stays with the agent, and can be resumed or loaded.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the agent does not offer it, else what became of the request.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more; it may have closed the session all the same.
    pub async fn close_session(&self, id: impl Into<SessionId>) -> Result<(), Error> {
        offers::require(self.agent(), "session/close", offers::CLOSE)?;
        let request = CloseSessionRequest::new(id.into());
        let Some(live) = self.shared.sessions.get(&request.session_id) else {
            return self.call(&request).await.map(drop);
        };
        self.close_live(&live).await
    }

    /// Deletes a session by its id.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the agent does not offer it, else what became of the request.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more; it may have deleted the session all the same.
    pub async fn delete_session(&self, id: impl Into<SessionId>) -> Result<(), Error> {
        offers::require(self.agent(), "session/delete", offers::DELETE)?;
        let request = DeleteSessionRequest::new(id.into());
        self.call(&request).await?;
        if let Some(live) = self.shared.sessions.get(&request.session_id) {
            self.forget(&live);
        }
        Ok(())
    }

    /// Logs in with a method the agent advertises.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a method it does not advertise, and for one that is to be run in a terminal (see
    /// [`auth::login_in_terminal`](crate::auth::login_in_terminal)); else what became of the request.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more.
    pub async fn authenticate(&self, method: impl Into<AuthMethodId>) -> Result<(), Error> {
        let method = method.into();
        offers::check_auth_method(self.agent(), &method)?;
        // People take their time in a browser: this waits as long as the connection lives.
        let outcome = self.shared.handle.call(&AuthenticateRequest::new(method)).await;
        outcome.map(drop).map_err(|error| Error::of_call("authenticate", error))
    }

    /// Logs out.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the agent does not offer it, else what became of the request.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more.
    pub async fn logout(&self) -> Result<(), Error> {
        offers::require(self.agent(), "logout", offers::LOGOUT)?;
        self.call(&LogoutRequest::new()).await.map(drop)
    }

    /// The session is no more: its questions are answered, its commands ended, whoever waits for it is told.
    pub(crate) fn forget(&self, live: &Arc<Live>) {
        self.shared.asks.cancel_all(&live.id);
        self.shared.hooks.end(&live.id);
        live.closed();
        self.shared.sessions.remove(live);
    }
}
