//! Opening a runner's session: once, whoever asks; with a login if need be; restored by what the agent offers.

use std::sync::{Arc, Weak};

use accord_protocol::{
    rpc::ErrorCode,
    v1::{
        AuthMethod, LoadSessionRequest, NewSessionRequest, ResumeSessionRequest, SessionConfigId,
        SessionConfigKind, SessionConfigOptionValue, SessionId,
    },
};
use tokio::sync::watch;

use super::{Restore, RunError, RunnerState, builder::Plan, shared::Shared};
use crate::{
    Client, Error, Misuse, Session,
    auth::{id_of, login_in_terminal},
    client::{Wiring, offers},
    events::CloseReason,
};

impl Shared {
    /// The session, opened now if it is not yet. All who ask meanwhile wait for the same opening.
    pub(super) async fn session(self: &Arc<Self>) -> Result<Session, RunError> {
        let mut opening = {
            let mut inner = self.lock();
            if let Some(failed) = &inner.failed {
                return Err(failed.clone());
            }
            match *self.state.borrow() {
                RunnerState::Closing => return Err(RunError::Closing),
                RunnerState::Closed(reason) => return Err(RunError::Closed(reason)),
                RunnerState::Idle | RunnerState::Running => {}
            }
            if let Some(session) = &inner.session {
                return Ok(session.clone());
            }
            if let Some(opening) = &inner.opening {
                opening.clone()
            } else {
                let (sender, receiver) = watch::channel(None);
                // A task of its own: who asked first may go away, and the others still wait.
                let task = tokio::spawn(open_and_tell(Arc::downgrade(self), Opening::of(self), sender));
                inner.opening_task = Some(task.abort_handle());
                inner.opening = Some(receiver.clone());
                receiver
            }
        };
        let opened = opening.wait_for(Option::is_some).await;
        let opened = opened.ok().and_then(|opened| opened.clone());
        opened.unwrap_or(Err(RunError::Closed(CloseReason::Killed)))
    }
}

/// What the opening needs. It does not hold the runner, which may be dropped meanwhile.
struct Opening {
    runner: Weak<Shared>,
    plan: Arc<Plan>,
    wiring: Wiring,
}

impl Opening {
    fn of(shared: &Arc<Shared>) -> Self {
        let wiring =
            Wiring { gate: shared.gate.clone(), feed: shared.feed.clone(), asks: Arc::clone(&shared.asks) };
        Self { runner: Arc::downgrade(shared), plan: Arc::clone(&shared.plan), wiring }
    }

    async fn open(&self) -> Result<Session, RunError> {
        let session = self.opened().await?;
        for (option, value) in &self.plan.wanted {
            if is_set(&session, option, value) {
                continue;
            }
            if let Err(error) = session.set_config_option(option.clone(), value.clone()).await {
                // Whoever tries again opens it again, which agents refuse for a session that is open.
                if let Err(error) = session.close().await {
                    tracing::debug!(%error, "a session that is not as wanted stays open");
                }
                return Err(error.into());
            }
        }
        Ok(session)
    }

    async fn opened(&self) -> Result<Session, RunError> {
        let client = self.client().await?;
        let refusal = match open_session(&client, &self.plan).await {
            Err(Error::AuthRequired { error, methods }) => Error::AuthRequired { error, methods },
            outcome => return Ok(outcome?),
        };
        let client = self.log_in(client, refusal).await?;
        // Once: an agent that still wants a login is not asked for ever.
        Ok(open_session(&client, &self.plan).await?)
    }

    async fn client(&self) -> Result<Client, RunError> {
        if let Some(client) = self.runner.upgrade().and_then(|runner| runner.client()) {
            return Ok(client);
        }
        self.connect().await
    }

    async fn connect(&self) -> Result<Client, RunError> {
        let client = (self.plan.connect)(self.wiring.clone()).await?;
        if let Some(runner) = self.runner.upgrade() {
            runner.lock().client = Some(client.clone());
        }
        Ok(client)
    }

    async fn log_in(&self, client: Client, refusal: Error) -> Result<Client, RunError> {
        let methods = client.agent().auth_methods.clone().unwrap_or_default();
        let chosen = match &self.plan.login {
            Some(login) => client.while_connected(login.choose(&methods)).await?,
            None => None,
        };
        let chosen = chosen.and_then(|id| methods.into_iter().find(|method| id_of(method) == Some(&id)));
        match (chosen, client.command().cloned()) {
            (Some(AuthMethod::Agent(method)), _) => {
                client.authenticate(method.id).await?;
                Ok(client)
            }
            (Some(AuthMethod::Terminal(method)), Some(command)) => {
                // The agent learns of the login when it is started anew.
                if let Some(runner) = self.runner.upgrade() {
                    runner.lock().replaced += 1;
                }
                client.close().await;
                login_in_terminal(&command, &method).await?;
                self.connect().await
            }
            _ => Err(refusal.into()),
        }
    }
}

async fn open_and_tell(
    runner: Weak<Shared>,
    opening: Opening,
    tell: watch::Sender<Option<Result<Session, RunError>>>,
) {
    let opened = opening.open().await;
    if let Some(runner) = runner.upgrade() {
        let mut inner = runner.lock();
        inner.opening = None;
        inner.opening_task = None;
        match &opened {
            Ok(session) => inner.session = Some(session.clone()),
            // A login that failed has ended the connection, so nothing is left to try again with.
            Err(error @ (RunError::Connect(_) | RunError::Login(_))) => inner.failed = Some(error.clone()),
            Err(_) => {}
        }
    }
    tell.send_replace(Some(opened));
}

/// New, or restored by what the agent offers.
async fn open_session(client: &Client, plan: &Plan) -> Result<Session, Error> {
    match &plan.restore {
        None => {
            let mut request = NewSessionRequest::new(plan.cwd.clone(), plan.servers.clone());
            request.additional_directories = directories(plan);
            client.open_new(&request).await
        }
        Some(Restore::Resume(id)) if offers::has(client.agent(), offers::RESUME) => {
            let mut request = ResumeSessionRequest::new(id.clone(), plan.cwd.clone());
            request.mcp_servers = Some(plan.servers.clone());
            request.additional_directories = directories(plan);
            match client.open_resumed(&request).await {
                // Some advertise it and do not have it.
                Err(Error::Refused { error, .. })
                    if error.code == ErrorCode::METHOD_NOT_FOUND
                        && offers::has(client.agent(), offers::LOAD) =>
                {
                    load(client, plan, id).await
                }
                outcome => outcome,
            }
        }
        Some(Restore::Resume(id)) if offers::has(client.agent(), offers::LOAD) => {
            load(client, plan, id).await
        }
        Some(Restore::Resume(_)) => {
            let capability = "sessionCapabilities.resume or loadSession";
            Err(Misuse::Unsupported { what: "taking a session up again", capability }.into())
        }
        Some(Restore::Load(id)) => load(client, plan, id).await,
    }
}

/// The history goes where everything goes, marked as such.
async fn load(client: &Client, plan: &Plan, id: &SessionId) -> Result<Session, Error> {
    let mut request = LoadSessionRequest::new(id.clone(), plan.cwd.clone(), plan.servers.clone());
    request.additional_directories = directories(plan);
    let Some(feed) = client.shared.feed.clone() else { return client.load_session(request).await };
    client.open_loaded(&request, feed).await
}

fn is_set(session: &Session, option: &SessionConfigId, value: &SessionConfigOptionValue) -> bool {
    let options = session.config_options();
    let current = options.iter().find(|offered| offered.id == *option).map(|offered| &offered.kind);
    match (current, value) {
        (Some(SessionConfigKind::Select(select)), SessionConfigOptionValue::ValueId(wanted)) => {
            select.current_value == *wanted
        }
        (Some(SessionConfigKind::Boolean(switch)), SessionConfigOptionValue::Boolean(wanted)) => {
            switch.current_value == *wanted
        }
        _ => false,
    }
}

fn directories(plan: &Plan) -> Option<Vec<std::path::PathBuf>> {
    (!plan.directories.is_empty()).then(|| plan.directories.clone())
}
