//! Starting a turn: admitted, sent unless it was cancelled meanwhile, and watched for its limits.

use std::{future::pending, sync::Arc, time::Duration};

use accord_protocol::v1::{PromptRequest, PromptResponse, StopReason};
use accord_transport::{LaneSender, Started};
use tokio::time::{Instant, sleep, sleep_until};

use crate::{
    Error, Limit, Misuse, Prompt, Session, SessionStatus,
    client::offers,
    session::{Item, Live, TurnKey},
};

/// A turn that was admitted to its session.
///
/// Dropping it before its prompt was sent makes it never have been.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) key: TurnKey,
    live: Arc<Live>,
    /// None until the prompt is sent, and for ever if it was cancelled before.
    pub(crate) request: Option<Started>,
}

/// Opens a turn whose items go to `lane`, once the last one's cancelling is over.
pub(crate) async fn begin(
    session: &Session,
    prompt: &Prompt,
    lane: LaneSender<Item>,
) -> Result<Begun, Error> {
    offers::check_prompt(&session.client.shared.agent, &prompt.blocks)?;
    let live = Arc::clone(&session.live);
    loop {
        match live.begin_turn(lane.clone()) {
            Ok(key) => return Ok(Begun { key, live, request: None }),
            Err(SessionStatus::Cancelling) => session.until_idle(&[SessionStatus::Cancelling]).await?,
            Err(status) => return Err(Misuse::Busy { status }.into()),
        }
    }
}

impl Begun {
    /// Sends the turn's prompt, unless the turn is cancelled first.
    pub(crate) async fn send(&mut self, session: &Session, prompt: Prompt) -> Result<(), Error> {
        let (live, key, shared) = (&self.live, self.key, &session.client.shared);
        let total = prompt.deadline.or(shared.limits.turn);
        let silence = prompt.silence.or(shared.limits.silence);
        let mut request = PromptRequest::new(session.id().clone(), prompt.blocks);
        request.meta = prompt.meta;
        let answered = Arc::clone(live);
        let sending = shared.handle.start_patient(&request, move |outcome| answered.end_turn(key, outcome));
        let outcome = tokio::select! {
            biased;
            // A prompt that waits for room and is cancelled meanwhile is never sent.
            () = live.until_cancelled(key) => {
                live.end_turn(key, Ok(PromptResponse::new(StopReason::Cancelled)));
                return Ok(());
            }
            outcome = sending => outcome,
            () = passed(total) => {
                return Err(Error::Timeout { method: "session/prompt", after: total.unwrap_or_default() });
            }
        };
        self.request = Some(outcome.map_err(|error| Error::of_call("session/prompt", error))?);
        if live.turn_sent(key) {
            shared.send_cancel(live, key);
        }
        watch_limits(session, key, total, silence);
        Ok(())
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if self.request.is_none() {
            self.live.drop_turn(self.key);
        }
    }
}

fn watch_limits(session: &Session, key: TurnKey, total: Option<Duration>, silence: Option<Duration>) {
    if total.is_none() && silence.is_none() {
        return;
    }
    // A watched turn must not keep the connection open when everybody has gone.
    let shared = Arc::downgrade(&session.client.shared);
    let asks = Arc::clone(&session.client.shared.asks);
    let live = Arc::clone(&session.live);
    session.client.shared.runtime.spawn(async move {
        let limit = tokio::select! {
            () = live.until_ended(key) => return,
            limit = whole(total) => limit,
            limit = silent(&live, silence, || asks.any_of(&live.id)) => limit,
        };
        let cancel = live.expire(key, limit);
        if let Some(shared) = shared.upgrade() {
            shared.take_heed(&live, cancel);
        }
    });
}

async fn whole(limit: Option<Duration>) -> Limit {
    passed(limit).await;
    Limit::Total(limit.unwrap_or_default())
}

/// Ready when so long has passed; never without a limit.
async fn passed(limit: Option<Duration>) {
    match limit {
        Some(limit) => sleep(limit).await,
        None => pending().await,
    }
}

/// Ready when nothing came for `limit` and it is not a person whom the agent waits for.
async fn silent(live: &Live, limit: Option<Duration>, asking: impl Fn() -> bool) -> Limit {
    let Some(limit) = limit else { return pending().await };
    loop {
        let heard = if asking() { Instant::now() } else { live.last_heard() };
        if heard.elapsed() >= limit {
            return Limit::Silence(limit);
        }
        sleep_until(heard + limit).await;
    }
}
