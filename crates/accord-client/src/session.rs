//! A session: prompts, its mode and options, its end.

mod live;
mod state;
mod turns;

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use accord_protocol::{
    rpc::ErrorCode,
    v1::{
        CancelNotification, CloseSessionRequest, SessionConfigId, SessionConfigKind, SessionConfigOption,
        SessionConfigOptionValue, SessionId, SessionModeId, SessionModeState, SessionUpdate,
        SetSessionConfigOptionRequest, SetSessionModeRequest,
    },
};
use tokio::sync::watch;

use crate::{
    Client, Error, Misuse, Prompt, Turn,
    client::{Shared, offers},
};

pub(crate) use live::{Item, Live, Received};
pub use state::SessionState;
pub use turns::SessionStatus;
pub(crate) use turns::{Cancel, TurnKey};

/// A session of an agent. Clones are the same session; dropping them leaves it open.
#[derive(Clone)]
pub struct Session {
    pub(crate) client: Client,
    pub(crate) live: Arc<Live>,
    history: Arc<Mutex<Vec<SessionUpdate>>>,
}

impl Session {
    pub(crate) fn new(client: Client, live: Arc<Live>) -> Self {
        Self { client, live, history: Arc::default() }
    }

    /// The agent's id for it.
    pub fn id(&self) -> &SessionId {
        &self.live.id
    }

    /// The agent it belongs to.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What the agent last said about the session as a whole.
    pub fn state(&self) -> SessionState {
        self.live.state()
    }

    /// The modes it offers and the current one, if it has modes.
    pub fn modes(&self) -> Option<SessionModeState> {
        self.live.with_state(|state| state.modes.clone())
    }

    /// Its configuration options with their current values, in the agent's order.
    pub fn config_options(&self) -> Vec<SessionConfigOption> {
        self.live.with_state(|state| state.config_options.clone())
    }

    /// What it is doing.
    pub fn status(&self) -> SessionStatus {
        self.live.status()
    }

    /// Follows what it is doing.
    pub fn watch_status(&self) -> watch::Receiver<SessionStatus> {
        self.live.watch()
    }

    /// The history that came while it was loaded; empty the second time, and for sessions that were not loaded.
    pub fn take_history(&self) -> Vec<SessionUpdate> {
        std::mem::take(&mut self.history.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn keep_history(&self, history: Vec<SessionUpdate>) {
        *self.history.lock().unwrap_or_else(PoisonError::into_inner) = history;
    }

    /// Starts a turn.
    ///
    /// While the last turn is being cancelled this waits for its answer, so that its tail cannot land in this one.
    ///
    /// # Errors
    /// [`Misuse::Busy`] while a turn runs, after one that ignored its cancel, and for a closed session;
    /// [`Misuse::Unsupported`] for content the agent does not take; [`Error::Lost`] if the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn prompt(&self, prompt: impl Into<Prompt>) -> Result<Turn, Error> {
        Turn::start(self.clone(), prompt.into()).await
    }

    /// Waits until a prompt would be accepted.
    ///
    /// # Errors
    /// [`Misuse::Busy`] if that will not be: the last turn ignored its cancel, or the session is closed.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping the future.
    pub async fn ready(&self) -> Result<(), Error> {
        self.until_idle(&[SessionStatus::Running, SessionStatus::Cancelling]).await
    }

    /// Cancels the open turn: the agent is told once, its open questions are answered `cancelled`.
    ///
    /// Without an open turn nothing is sent.
    pub fn cancel(&self) {
        self.client.shared.cancel_turn(&self.live, None);
    }

    /// Cancels one turn, and no other.
    pub(crate) fn cancel_turn(&self, key: TurnKey) {
        self.client.shared.cancel_turn(&self.live, Some(key));
    }

    /// Switches the session's mode.
    ///
    /// # Errors
    /// [`Misuse::UnknownMode`] for a mode it does not offer, else what became of the request.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more; it may have switched all the same.
    pub async fn set_mode(&self, mode: impl Into<SessionModeId>) -> Result<(), Error> {
        let mode = mode.into();
        let offered = self.live.with_state(|state| {
            state
                .modes
                .as_ref()
                .is_some_and(|modes| modes.available_modes.iter().any(|offered| offered.id == mode))
        });
        if !offered {
            return Err(Misuse::UnknownMode { mode }.into());
        }
        let live = Arc::clone(&self.live);
        let request = SetSessionModeRequest::new(self.id().clone(), mode.clone());
        self.client
            .call_in_order(&request, false, move |_| {
                live.with_state(|state| {
                    if let Some(modes) = &mut state.modes {
                        modes.current_mode_id = mode;
                    }
                });
            })
            .await
    }

    /// Sets a configuration option; gives all options with their values, since others may depend on it.
    ///
    /// # Errors
    /// [`Misuse::UnknownOption`] and [`Misuse::UnknownValue`] for what it does not offer, else what became of the
    /// request.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more; it may have set the option all the same.
    pub async fn set_config_option(
        &self,
        option: impl Into<SessionConfigId>,
        value: impl Into<SessionConfigOptionValue>,
    ) -> Result<Vec<SessionConfigOption>, Error> {
        let (option, value) = (option.into(), value.into());
        self.check_option(&option, &value)?;
        let live = Arc::clone(&self.live);
        let request = SetSessionConfigOptionRequest::new(self.id().clone(), option, value);
        let answered = self
            .client
            .call_in_order(&request, false, move |answer| {
                live.with_state(|state| state.config_options.clone_from(&answer.config_options));
                answer.config_options
            })
            .await;
        match answered {
            // Some agents answer an empty object and tell the options in an update instead.
            Err(Error::Undecodable { misfit, .. })
                if misfit.path == "configOptions" || misfit.path.is_empty() =>
            {
                Ok(self.config_options())
            }
            answered => answered,
        }
    }

    /// Closes the session: a running turn is cancelled, the agent keeps the session for later.
    ///
    /// A session the agent no longer knows counts as closed. Where the agent does not offer closing, the session is
    /// given up on this side alone.
    ///
    /// # Errors
    /// [`Misuse::Busy`] if it is closed or closing already, else what became of the request; then it stays open.
    ///
    /// # Cancel safety
    /// Dropping the future tells the agent that nobody waits any more; it may have closed the session all the same.
    pub async fn close(&self) -> Result<(), Error> {
        self.client.close_live(&self.live).await
    }

    /// Deletes the session from the agent.
    ///
    /// # Errors
    /// [`Misuse::Unsupported`] if the agent does not offer it, else what became of the request.
    ///
    /// # Cancel safety
    /// As [`Session::close`].
    pub async fn delete(&self) -> Result<(), Error> {
        self.client.delete_session(self.id().clone()).await
    }

    pub(crate) async fn until_idle(&self, worth_waiting: &[SessionStatus]) -> Result<(), Error> {
        let mut status = self.live.watch();
        let reached = status.wait_for(|status| !worth_waiting.contains(status)).await;
        match reached.map(|status| *status) {
            Ok(SessionStatus::Idle) => Ok(()),
            Ok(status) => Err(Misuse::Busy { status }.into()),
            Err(_) => Err(Misuse::Busy { status: SessionStatus::Closed }.into()),
        }
    }

    fn check_option(&self, id: &SessionConfigId, value: &SessionConfigOptionValue) -> Result<(), Misuse> {
        self.live.with_state(|state| {
            let Some(option) = state.config_options.iter().find(|option| option.id == *id) else {
                return Err(Misuse::UnknownOption { option: id.clone() });
            };
            let (fits, text) = match (value, &option.kind) {
                (SessionConfigOptionValue::ValueId(chosen), SessionConfigKind::Select(select)) => {
                    (select.options.iter().any(|offered| offered.value == *chosen), chosen.to_string())
                }
                (SessionConfigOptionValue::ValueId(chosen), _) => (false, chosen.to_string()),
                (SessionConfigOptionValue::Boolean(chosen), kind) => {
                    (matches!(kind, SessionConfigKind::Boolean(_)), chosen.to_string())
                }
                _ => (true, String::new()),
            };
            if fits { Ok(()) } else { Err(Misuse::UnknownValue { option: id.clone(), value: text }) }
        })
    }
}

impl Client {
    pub(crate) async fn close_live(&self, live: &Arc<Live>) -> Result<(), Error> {
        if !live.begin_close() {
            return Err(Misuse::Busy { status: live.status() }.into());
        }
        self.shared.asks.cancel_all(&live.id);
        if offers::has(self.agent(), offers::CLOSE) {
            let refusal = Refusing(live);
            match self.call(&CloseSessionRequest::new(live.id.clone())).await {
                Err(Error::Refused { error, .. }) if error.code == ErrorCode::RESOURCE_NOT_FOUND => {}
                closed => drop(closed?),
            }
            refusal.none();
        } else {
            // Nothing else tells this agent to stop.
            self.shared.cancel_turn(live, None);
        }
        self.forget(live);
        Ok(())
    }
}

impl Shared {
    pub(crate) fn cancel_turn(&self, live: &Arc<Live>, only: Option<TurnKey>) {
        self.take_heed(live, live.cancel_turn(only));
    }

    /// Does what a cancel has to do.
    pub(crate) fn take_heed(&self, live: &Arc<Live>, cancel: Cancel) {
        // What is asked between turns is nobody's turn's.
        let (Cancel::Withhold(_) | Cancel::Send(_)) = cancel else { return };
        let answers = self.asks.settle_all(&live.id);
        if let Cancel::Send(key) = cancel {
            self.send_cancel(live, key);
        }
        answers.give();
    }

    /// Tells the agent, and watches that it takes heed.
    pub(crate) fn send_cancel(&self, live: &Arc<Live>, key: TurnKey) {
        // On a connection that has ended there is nobody to tell, and the turn ends with it.
        let _ = self.handle.notify_now(&CancelNotification::new(live.id.clone()));
        let (live, grace) = (Arc::clone(live), self.limits.cancel_grace);
        self.runtime.spawn(async move {
            if tokio::time::timeout(grace, live.until_ended(key)).await.is_err() {
                live.overdue(key);
            }
        });
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("id", self.id())
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// A close that fails, or whose future is dropped, leaves the session open.
struct Refusing<'a>(&'a Live);

impl Refusing<'_> {
    fn none(self) {
        std::mem::forget(self);
    }
}

impl Drop for Refusing<'_> {
    fn drop(&mut self) {
        self.0.refuse_close();
    }
}
