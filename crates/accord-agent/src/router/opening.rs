//! New, load and resume: the session is in the table before its answer is written, and nothing about a new one is sent
//! before that.

use std::{
    future,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use accord_protocol::{
    method::Request,
    open::Maybe,
    unstable::ForkSessionRequest,
    v1::{
        LoadSessionRequest, LoadSessionResponse, McpServer, NewSessionRequest, ResumeSessionRequest,
        ResumeSessionResponse, SessionConfigOption, SessionId,
    },
};
use accord_transport::Call;

use super::{Serving, caught, check, refuse};
use crate::{
    handler::{Agent, Auth as _, Error, Forking as _, Loading as _, Resuming as _},
    session::{Entry, Session},
    table::{Opening, Ticket},
};

/// Where a session works: its folder, more folders, its MCP servers.
type Place<'a> = (&'a Path, Option<&'a [PathBuf]>, &'a [McpServer]);

impl<A: Agent> Serving<A> {
    pub(super) fn new_session(&self, call: Call) {
        let placed = self.placed(call, |r: &NewSessionRequest| {
            (&r.cwd, r.additional_directories.as_deref(), &r.mcp_servers)
        });
        let Some((call, request)) = placed else { return };
        let serving = self.clone();
        self.open(call, None, async move {
            serving.gate().await?;
            let mut response = serving.agent.new_session(request).await?;
            serving.fit(&mut response.config_options);
            let session = serving.admit(response.session_id.clone())?;
            Ok((session, response))
        });
    }

    pub(super) fn load(&self, call: Call) {
        let placed = self.placed(call, |r: &LoadSessionRequest| {
            (&r.cwd, r.additional_directories.as_deref(), &r.mcp_servers)
        });
        let Some((call, request)) = placed else { return };
        let id = request.session_id.clone();
        self.reopen(call, id, |serving, session| async move {
            let loading = serving.agent.loading();
            let loading = loading.ok_or_else(|| Error::method_not_found(LoadSessionRequest::METHOD))?;
            let mut response: LoadSessionResponse = loading.load(request, session).await?;
            serving.fit(&mut response.config_options);
            Ok(response)
        });
    }

    pub(super) fn resume(&self, call: Call) {
        let placed = self.placed(call, |r: &ResumeSessionRequest| {
            (&r.cwd, r.additional_directories.as_deref(), r.mcp_servers.as_deref().unwrap_or_default())
        });
        let Some((call, request)) = placed else { return };
        let id = request.session_id.clone();
        self.reopen(call, id, |serving, _| async move {
            let resuming = serving.agent.resuming();
            let resuming = resuming.ok_or_else(|| Error::method_not_found(ResumeSessionRequest::METHOD))?;
            let mut response: ResumeSessionResponse = resuming.resume(request).await?;
            serving.fit(&mut response.config_options);
            Ok(response)
        });
    }

    pub(super) fn fork(&self, call: Call) {
        let placed = self.placed(call, |r: &ForkSessionRequest| {
            (&r.cwd, r.additional_directories.as_deref(), r.mcp_servers.as_deref().unwrap_or_default())
        });
        let Some((call, request)) = placed else { return };
        let serving = self.clone();
        self.open(call, None, async move {
            serving.gate().await?;
            let forking = serving.agent.forking();
            let forking = forking.ok_or_else(|| Error::method_not_found(ForkSessionRequest::METHOD))?;
            let mut response = forking.fork(request).await?;
            serving.fit(&mut response.config_options);
            let session = serving.admit(response.session_id.clone())?;
            Ok((session, response))
        });
    }

    /// The request, unless this agent cannot work where it says; that is answered here.
    fn placed<R: Request>(&self, mut call: Call, place: fn(&R) -> Place<'_>) -> Option<(Call, R)> {
        let placed = call.params::<R>().and_then(|request| {
            let (cwd, directories, servers) = place(&request);
            check::workspace(&self.offer, cwd, directories, servers).map(|()| request)
        });
        match placed {
            Ok(request) => Some((call, request)),
            Err(error) => {
                refuse(call, error);
                None
            }
        }
    }

    /// What load and resume have in common. A session that is open already is opened anew if the agent allows it, but
    /// never under a running turn.
    fn reopen<T, F>(
        &self,
        call: Call,
        id: SessionId,
        handler: impl FnOnce(Self, Session) -> F + Send + 'static,
    ) where
        T: serde::Serialize + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let (place, running) = {
            let mut lines = self.wire.table.lock();
            let running = lines.find(&id).and_then(|place| lines[place].turn.clone());
            if running.as_ref().is_some_and(|turn| !turn.cancel.is_set()) {
                drop(lines);
                return refuse(call, under_a_turn());
            }
            let place = lines.find_or_begin(&id);
            ((lines.ticket(&self.wire.table, place), lines[place].opening()), running)
        };
        let serving = self.clone();
        self.open(call, Some(place), async move {
            // A close that was sent before has ended the turn; one that was merely cancelled may run on.
            if running.is_some_and(|turn| !turn.answered.is_set()) {
                return Err(under_a_turn());
            }
            serving.gate().await?;
            let session = serving.session(Arc::new(Entry::new(id)));
            let opened = handler(serving.clone(), session.clone()).await;
            match opened {
                Ok(response) => {
                    // Nothing is waited for here: the session is in the table and its request answered, or neither.
                    if let Some(before) = serving.wire.table.put(Arc::clone(&session.entry)) {
                        before.cut();
                    }
                    Ok((session, response))
                }
                Err(error) => {
                    session.entry.end().await;
                    Err(error)
                }
            }
        });
    }

    /// Opens, answers, and then lets the agent say what it has to say about the session.
    ///
    /// Nobody waits for a session whose client withdrew the request or is gone, nor for one that is closed again already:
    /// the opening is dropped, and answered when nothing is left of it. What is open already is opened anew to the end,
    /// though its client withdraws that: half of it would take away the session that was there.
    fn open<T>(
        &self,
        call: Call,
        place: Option<(Ticket, Arc<Opening>)>,
        opening: impl Future<Output = Result<(Session, T), Error>> + Send + 'static,
    ) where
        T: serde::Serialize + Send + 'static,
    {
        let serving = self.clone();
        // Each in a place of its own: every layer around a future moves all of it, and the runtime moves a task several
        // times.
        let opening = Box::pin(opening);
        self.tasks.spawn(Box::pin(async move {
            let (ticket, line) = place.unzip();
            let anew = AtomicBool::new(false);
            let opened = tokio::select! {
                biased;
                opened = caught(async {
                    if let Some(ticket) = &ticket {
                        anew.store(ticket.come().await.is_some(), Ordering::Relaxed);
                    }
                    opening.await
                }) => Some(opened),
                () = serving.pointless(&call, line.as_deref(), &anew) => None,
            };
            match opened {
                Some(Ok((session, response))) => {
                    call.answer(Ok(response));
                    // The next call about the session may start: the client has been told of it.
                    drop(ticket);
                    serving.agent.opened(session).await;
                }
                Some(Err(error)) => refuse(call, error),
                None => {
                    serving.agent.given_up().await;
                    refuse(call, Error::cancelled());
                }
            }
        }));
    }

    /// Returns when nobody waits any more for what a call opens.
    async fn pointless(&self, call: &Call, line: Option<&Opening>, anew: &AtomicBool) {
        let withdrawn = async {
            call.cancelled().await;
            if anew.load(Ordering::Relaxed) {
                future::pending::<()>().await;
            }
        };
        let given_up = async {
            match line {
                Some(opening) => opening.given_up().await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            () = withdrawn => {}
            () = self.leaving.wait() => {}
            () = given_up => {}
        }
    }

    /// Whether a login is needed first; asked each time, since one may have been made or lost elsewhere.
    pub(super) async fn gate(&self) -> Result<(), Error> {
        match self.agent.auth() {
            Some(auth) => auth.ready().await,
            None => Ok(()),
        }
    }

    fn admit(&self, id: SessionId) -> Result<Session, Error> {
        let entry = Arc::new(Entry::new(id));
        if self.wire.table.put_new(&entry) {
            Ok(self.session(entry))
        } else {
            Err(Error::internal("the agent gave a session id twice"))
        }
    }

    fn fit(&self, options: &mut Maybe<Vec<SessionConfigOption>>) {
        if let Some(options) = options.get_mut() {
            self.wire.fit_options(options);
        }
    }
}

fn under_a_turn() -> Error {
    Error::invalid_request("a turn is running in this session")
}
