//! What is asked of an agent outside any session: lists, deleting, logging in and out.

use accord_protocol::v1::{
    AuthMethodId, AuthenticateRequest, CloseSessionRequest, DeleteSessionRequest, ListSessionsRequest,
    ListSessionsResponse, LogoutRequest, SessionId, SessionInfo,
};

use super::{Client, offers};
use crate::Error;

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
        AllSessions { client: self.clone(), request: Some(request), page: Vec::new().into_iter() }
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
        self.forget(&request.session_id);
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
    pub(crate) fn forget(&self, id: &SessionId) {
        self.shared.asks.cancel_all(id);
        self.shared.hooks.end(id);
        if let Some(live) = self.shared.sessions.get(id) {
            live.closed();
            self.shared.sessions.remove(id);
        }
    }
}

/// All the sessions the agent knows, page by page as they are taken.
#[derive(Debug)]
pub struct AllSessions {
    client: Client,
    /// The request for the next page, unless this is the last.
    request: Option<ListSessionsRequest>,
    page: std::vec::IntoIter<SessionInfo>,
}

impl AllSessions {
    /// The next session, or nothing after the last one.
    ///
    /// # Errors
    /// As [`Client::list_sessions`]. Asked again after an error, it asks for the same page again.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn next(&mut self) -> Result<Option<SessionInfo>, Error> {
        loop {
            if let Some(session) = self.page.next() {
                return Ok(Some(session));
            }
            let Some(request) = &self.request else { return Ok(None) };
            let page = self.client.list_sessions(request.clone()).await?;
            let cursor = page.next_cursor.into_option();
            // A page that points at itself would never end.
            let repeats = cursor.is_some() && cursor.as_ref() == request.cursor.get();
            self.request = cursor.filter(|_| !repeats).map(|cursor| request.clone().cursor(cursor));
            self.page = page.sessions.into_iter();
        }
    }

    /// All that are left.
    ///
    /// # Errors
    /// As [`AllSessions::next`].
    ///
    /// # Cancel safety
    /// Dropping the future loses what was gathered.
    pub async fn collect(mut self) -> Result<Vec<SessionInfo>, Error> {
        let mut sessions = Vec::new();
        while let Some(session) = self.next().await? {
            sessions.push(session);
        }
        Ok(sessions)
    }
}
