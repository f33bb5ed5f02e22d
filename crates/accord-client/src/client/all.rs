//! All the sessions an agent knows: its pages as one list.

use std::{
    collections::HashSet,
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll, ready},
};

use accord_protocol::v1::{ListSessionsRequest, ListSessionsResponse, SessionInfo};
use futures_core::Stream;

use super::Client;
use crate::Error;

/// How many pages without a session may follow each other.
const EMPTY_PAGES: usize = 1000;

type Page = Pin<Box<dyn Future<Output = Result<ListSessionsResponse, Error>> + Send>>;

/// All the sessions the agent knows, page by page as they are taken.
///
/// The list ends where the agent points at a page it has given before, and after a thousand pages without a session. As a
/// stream it also ends with the first error.
pub struct AllSessions {
    client: Client,
    /// The request for the next page, unless the last one is here.
    request: Option<ListSessionsRequest>,
    asked: Option<Page>,
    page: std::vec::IntoIter<SessionInfo>,
    /// Pages that were pointed at: a list that leads back to one of them would never end.
    seen: HashSet<String>,
    empty: usize,
    failed: bool,
}

impl AllSessions {
    pub(super) fn new(client: Client, request: ListSessionsRequest) -> Self {
        let seen = request.cursor.get().cloned().into_iter().collect();
        let page = Vec::new().into_iter();
        Self { client, request: Some(request), asked: None, page, seen, empty: 0, failed: false }
    }

    /// The next session, or nothing after the last one.
    ///
    /// # Errors
    /// As [`Client::list_sessions`]. Asked again after an error, it asks for the same page again.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn next(&mut self) -> Result<Option<SessionInfo>, Error> {
        poll_fn(|cx| self.poll_page(cx)).await
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

    fn poll_page(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<SessionInfo>, Error>> {
        loop {
            if let Some(session) = self.page.next() {
                return Poll::Ready(Ok(Some(session)));
            }
            let Some(request) = &self.request else { return Poll::Ready(Ok(None)) };
            let asked = self.asked.get_or_insert_with(|| {
                let (client, request) = (self.client.clone(), request.clone());
                Box::pin(async move { client.list_sessions(request).await })
            });
            let answered = ready!(asked.as_mut().poll(cx));
            self.asked = None;
            self.turn_to(answered?);
        }
    }

    fn turn_to(&mut self, page: ListSessionsResponse) {
        self.empty = if page.sessions.is_empty() { self.empty + 1 } else { 0 };
        let is_endless = self.empty >= EMPTY_PAGES;
        let next = page.next_cursor.into_option();
        let next = next.filter(|cursor| !is_endless && self.seen.insert(cursor.clone()));
        self.request = self.request.take().zip(next).map(|(request, cursor)| request.cursor(cursor));
        self.page = page.sessions.into_iter();
    }
}

impl Stream for AllSessions {
    type Item = Result<SessionInfo, Error>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<SessionInfo, Error>>> {
        let this = self.get_mut();
        if this.failed {
            return Poll::Ready(None);
        }
        let session = ready!(this.poll_page(cx));
        this.failed = session.is_err();
        Poll::Ready(session.transpose())
    }
}

impl fmt::Debug for AllSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllSessions").field("client", &self.client).finish_non_exhaustive()
    }
}
