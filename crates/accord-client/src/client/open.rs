//! Opening sessions: new, loaded with their history, resumed without it.

use std::{
    future::Future,
    path::{Path, PathBuf},
    sync::Arc,
};

use accord_protocol::{
    rpc::ErrorCode,
    v1::{LoadSessionRequest, NewSessionRequest, ResumeSessionRequest, SessionId},
};
use accord_transport::{LaneSender, lane};

use super::{Client, Shared, offers};
use crate::{
    Error, Misuse, Replay, Session, SessionStatus,
    router::LANE_LIMIT,
    session::{Item, Live},
};

impl Client {
    /// Opens a new session; a path alone is its folder.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a relative path, or for folders or MCP servers of kinds the agent does not offer;
    /// [`Error::AuthRequired`] if it wants a login that was not to be had; else what became of the request.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more. It may have opened the session all the same.
    pub async fn new_session(&self, request: impl Into<NewSessionRequest>) -> Result<Session, Error> {
        self.open_new(&request.into()).await
    }

    /// Loads a session, and keeps its history for [`Session::take_history`].
    ///
    /// All of the history is in memory then; for a long one use [`Client::replay_session`].
    ///
    /// # Errors
    /// [`Error::Misuse`] if the agent does not offer it, or as [`Client::new_session`]. A session that cannot be loaded is
    /// never replaced by a new one.
    ///
    /// # Cancel safety
    /// As [`Client::new_session`].
    pub async fn load_session(&self, request: LoadSessionRequest) -> Result<Session, Error> {
        let mut replay = self.replay_session(request)?;
        let mut history = Vec::new();
        while let Some(update) = replay.next().await {
            history.push(update);
        }
        let session = replay.finish().await?;
        session.keep_history(history);
        Ok(session)
    }

    /// Loads a session, and gives its history as it comes.
    ///
    /// # Errors
    /// As [`Client::load_session`]; what becomes of the request itself is said by [`Replay::finish`].
    ///
    /// The request is sent when the history is first asked for.
    pub fn replay_session(&self, request: LoadSessionRequest) -> Result<Replay, Error> {
        self.check_load(&request)?;
        Ok(Replay::start(self.clone(), request))
    }

    /// Takes a session up again, without its history.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the agent does not offer it, or as [`Client::new_session`].
    ///
    /// # Cancel safety
    /// As [`Client::new_session`].
    pub async fn resume_session(&self, request: ResumeSessionRequest) -> Result<Session, Error> {
        self.open_resumed(&request).await
    }

    pub(crate) async fn open_new(&self, request: &NewSessionRequest) -> Result<Session, Error> {
        let directories = request.additional_directories.as_deref().unwrap_or_default();
        offers::check_session(self.agent(), &request.cwd, directories, &request.mcp_servers)?;
        let roots = roots(&request.cwd, directories);
        // While this is on its way, updates for a session that is not known yet are held.
        let opening = Arc::new(self.shared.sessions.opening());
        let live = self
            .with_login(|| {
                let (roots, opening) = (roots.clone(), Arc::clone(&opening));
                // A request on its way must not keep the connection open when everybody has gone.
                let shared = Arc::downgrade(&self.shared);
                // The session is known before the next frame is looked at.
                self.call_in_order(request, false, move |answer| {
                    let live = shared.upgrade()?.register(answer.session_id, roots);
                    live.opened(answer.modes, answer.config_options);
                    drop(opening);
                    Some(live)
                })
            })
            .await?;
        // Whoever waits here keeps the connection's other half alive.
        let live = live.ok_or(Misuse::Busy { status: SessionStatus::Closed })?;
        Ok(Session::new(self.clone(), live))
    }

    pub(crate) async fn open_resumed(&self, request: &ResumeSessionRequest) -> Result<Session, Error> {
        offers::require(self.agent(), "session/resume", offers::RESUME)?;
        let directories = request.additional_directories.as_deref().unwrap_or_default();
        let servers = request.mcp_servers.as_deref().unwrap_or_default();
        offers::check_session(self.agent(), &request.cwd, directories, servers)?;
        let known = Known::new(self, &request.session_id, roots(&request.cwd, directories));
        self.with_login(|| {
            let live = Arc::clone(&known.live);
            self.call_in_order(request, false, move |answer| {
                live.opened(answer.modes, answer.config_options);
            })
        })
        .await?;
        Ok(Session::new(self.clone(), Arc::clone(&known.live)))
    }

    /// Loads a session, its history going to `replay`.
    pub(crate) async fn open_loaded(
        &self,
        request: &LoadSessionRequest,
        replay: LaneSender<Item>,
    ) -> Result<Session, Error> {
        self.check_load(request)?;
        let directories = request.additional_directories.as_deref().unwrap_or_default();
        let known = Known::new(self, &request.session_id, roots(&request.cwd, directories));
        known.live.begin_replay(replay);
        let ending = EndReplay(&known.live);
        self.with_login(|| {
            let live = Arc::clone(&known.live);
            // The history ends where the answer stands on the wire.
            self.call_in_order(request, true, move |answer| {
                live.end_replay();
                live.opened(answer.modes, answer.config_options);
            })
        })
        .await?;
        drop(ending);
        Ok(Session::new(self.clone(), Arc::clone(&known.live)))
    }

    fn check_load(&self, request: &LoadSessionRequest) -> Result<(), Error> {
        offers::require(self.agent(), "session/load", offers::LOAD)?;
        let directories = request.additional_directories.as_deref().unwrap_or_default();
        offers::check_session(self.agent(), &request.cwd, directories, &request.mcp_servers)?;
        Ok(())
    }

    /// Does it, and once more after a login if the agent wants one and there is somebody to choose how.
    pub(crate) async fn with_login<T, F>(&self, mut attempt: impl FnMut() -> F) -> Result<T, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let refused = match attempt().await {
            Err(Error::Refused { error, .. }) if error.code == ErrorCode::AUTH_REQUIRED => error,
            outcome => return outcome,
        };
        let methods = self.agent().auth_methods.clone().unwrap_or_default();
        let chosen = match &self.shared.login {
            Some(login) => self.while_connected(login.choose(&methods)).await?,
            None => None,
        };
        let Some(method) = chosen.filter(|method| offers::check_auth_method(self.agent(), method).is_ok())
        else {
            return Err(Error::AuthRequired { error: refused, methods });
        };
        self.authenticate(method).await?;
        match attempt().await {
            Err(Error::Refused { error, .. }) if error.code == ErrorCode::AUTH_REQUIRED => {
                Err(Error::AuthRequired { error, methods })
            }
            outcome => outcome,
        }
    }
}

impl Shared {
    fn register(&self, id: SessionId, roots: Vec<PathBuf>) -> Arc<Live> {
        let idle = self.feed.clone().unwrap_or_else(|| {
            let (sender, receiver) = lane(&self.gate, LANE_LIMIT);
            Arc::clone(&self.hooks).begin(&id, receiver);
            sender
        });
        self.sessions.insert(Arc::new(Live::new(id, roots, idle)))
    }
}

/// A session whose id is known before the agent has opened it. Forgotten again if it does not.
struct Known<'a> {
    client: &'a Client,
    live: Arc<Live>,
}

impl<'a> Known<'a> {
    fn new(client: &'a Client, id: &SessionId, roots: Vec<PathBuf>) -> Self {
        let live = match client.shared.sessions.open_again(id) {
            Some(live) => {
                live.set_roots(roots);
                live
            }
            None => client.shared.register(id.clone(), roots),
        };
        Self { client, live }
    }
}

impl Drop for Known<'_> {
    fn drop(&mut self) {
        if self.client.shared.sessions.leave(&self.live) {
            self.client.forget(&self.live);
        }
    }
}

struct EndReplay<'a>(&'a Live);

impl Drop for EndReplay<'_> {
    fn drop(&mut self) {
        self.0.end_replay();
    }
}

fn roots(cwd: &Path, directories: &[PathBuf]) -> Vec<PathBuf> {
    std::iter::once(cwd.to_owned()).chain(directories.iter().cloned()).collect()
}
