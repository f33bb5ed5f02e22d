//! The task that tells a runner's events: one at a time, in the order of the wire.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use accord_protocol::{
    open::Json,
    v1::{ElicitationAction, MessageId, PromptResponse, RequestPermissionOutcome, SessionId, StopReason},
};
use accord_transport::{End, LaneReceiver, Reason};
use serde_json::json;

use super::{
    EventSink, RunError,
    desk::{self, Told},
    shared::Shared,
};
use crate::{
    Error, TurnError,
    elicitation::Input,
    events::{CloseReason, Event, EventKind, InputAction, Role, RunStatus, SettledBy, events_of},
    permission::Approval,
    router::{AskKey, Asks, Question, Reply, Settlement, unwound},
    session::{Item, Received, TurnKey},
    turn::outcome_of,
};

/// Tells a runner's events.
pub(super) struct Teller<S> {
    sink: S,
    runner: Weak<Shared>,
    asks: Arc<Asks>,
    session: Option<SessionId>,
    seq: u64,
    runs: u64,
    run: Option<Run>,
}

/// The turn that was started last. It stays when it is over, for what comes late.
struct Run {
    key: TurnKey,
    number: u64,
    is_over: bool,
    /// The agent's messages so far, in the order they began.
    messages: Vec<(Option<MessageId>, String)>,
    /// Their places: an agent decides how many there are.
    places: HashMap<Option<MessageId>, usize>,
}

/// The sink failed: nothing more can be told.
struct SinkFailed;

type Emitted = Result<(), SinkFailed>;

impl<S: EventSink> Teller<S> {
    pub(super) fn new(sink: S, runner: Weak<Shared>, asks: Arc<Asks>) -> Self {
        Self { sink, runner, asks, session: None, seq: 0, runs: 0, run: None }
    }

    /// Tells everything, until the connection is gone, nobody holds the runner, or the sink fails.
    pub(super) async fn tell_all(mut self, mut feed: LaneReceiver<Item>) {
        while let Some(item) = feed.next().await {
            let last = matches!(item, Item::Gone(_)) && !self.is_replaced();
            if self.tell(item, last).await.is_err() {
                self.crash();
                return;
            }
            if last {
                return;
            }
        }
    }

    async fn tell(&mut self, item: Item, last: bool) -> Emitted {
        match item {
            Item::Update(received) => self.tell_update(received).await,
            Item::Asked(key) => self.tell_question(key).await,
            Item::Settled(key, settlement) => self.tell_answer(key, settlement).await,
            Item::Visited(id) => {
                let input = self.runner.upgrade().and_then(|runner| runner.desk().visited(&id));
                match input {
                    Some(input_id) => {
                        let (action, by) = (InputAction::Complete, SettledBy::Agent);
                        self.emit(EventKind::InputSettled { input_id, action, by }, None).await
                    }
                    None => Ok(()),
                }
            }
            Item::Started(key) => {
                self.runs += 1;
                self.run = Some(Run::new(key, self.runs));
                self.emit(EventKind::RunStarted, None).await
            }
            Item::Ended { turn, outcome, cancelled } => {
                self.end_run(turn, outcome_of(outcome, cancelled).map_err(RunError::from)).await
            }
            Item::Unsent(key, error) => self.end_run(key, Err(unsent(error))).await,
            Item::Overdue(key) => {
                let grace =
                    self.runner.upgrade().and_then(|runner| runner.client()).map(|c| c.cancel_grace());
                let error = TurnError::CancelIgnored { grace: grace.unwrap_or_default() };
                self.end_run(key, Err(error.into())).await
            }
            Item::Expired(key, limit) => self.end_run(key, Err(TurnError::Deadline { limit }.into())).await,
            Item::Interrupted(key) => {
                self.settle_all().await?;
                self.end_run(key, Ok(PromptResponse::new(StopReason::Cancelled))).await
            }
            Item::Gone(end) if last => self.tell_end(end.as_ref()).await,
            Item::Closed | Item::Gone(_) => Ok(()),
        }
    }

    async fn tell_update(&mut self, received: Received) -> Emitted {
        let Received { session, update, turn, replay, raw } = received;
        self.session = Some(session);
        let raw = raw.map(|raw| Arc::new(Json::from(raw)));
        let run = self.run.as_ref().filter(|run| Some(run.key) == turn).map(|run| run.number);
        for kind in events_of(&update) {
            if let EventKind::MessageDelta { role: Role::Assistant, text, message_id } = &kind
                && let Some(run) = self.run.as_mut().filter(|run| Some(run.key) == turn && !run.is_over)
            {
                run.gather(message_id.as_ref(), text);
            }
            self.send(kind, run, replay, raw.clone()).await?;
        }
        Ok(())
    }

    /// The question is on the desk before anybody is told of it.
    async fn tell_question(&mut self, key: AskKey) -> Emitted {
        let asked = self.asks.look(key, |question, call| {
            let raw =
                Json::new(&json!({"id": call.id(), "method": call.method(), "params": call.raw_params()}));
            (question.clone(), call.id().to_string(), raw.ok().map(Arc::new))
        });
        // It may have been settled since it was asked.
        let Some((question, request_id, raw)) = asked else { return Ok(()) };
        let (told, kind) = match question {
            Question::Permission(request) => {
                let id = desk::approval_id(key);
                let approval = Approval::of(id.clone(), request_id, &request);
                (Told::Approval { id, request }, EventKind::ApprovalRequested(approval))
            }
            Question::Elicitation(request) => {
                let Ok(mut input) = Input::of(&request) else { return Ok(()) };
                input.input_id = desk::input_id(key);
                input.request_id = request_id;
                (Told::Input(input.clone()), EventKind::InputRequested(input))
            }
            // That one is a handler's.
            Question::Handled(_) => return Ok(()),
        };
        if let Some(runner) = self.runner.upgrade() {
            runner.desk().put(key, told);
        }
        self.emit(kind, raw).await
    }

    async fn tell_answer(&mut self, key: AskKey, settlement: Settlement) -> Emitted {
        let told = self.runner.upgrade().and_then(|runner| {
            let mut desk = runner.desk();
            let told = desk.take(key);
            if let (Some(Told::Input(input)), Settlement::Answered(reply)) = (&told, &settlement)
                && action_of(reply) == InputAction::Accept
            {
                desk.visits(input);
            }
            told
        });
        match told {
            Some(told) => self.emit(settled(&told, &settlement), None).await,
            None => Ok(()),
        }
    }

    /// Everything on the desk is cancelled, although the news of that may still be on its way here.
    async fn settle_all(&mut self) -> Emitted {
        let all = self.runner.upgrade().map(|runner| runner.desk().take_all()).unwrap_or_default();
        for told in all {
            self.emit(settled(&told, &Settlement::Cancelled), None).await?;
        }
        Ok(())
    }

    async fn end_run(&mut self, key: TurnKey, outcome: Result<PromptResponse, RunError>) -> Emitted {
        let Some(run) = self.run.as_mut().filter(|run| run.key == key && !run.is_over) else { return Ok(()) };
        run.is_over = true;
        let messages = std::mem::take(&mut run.messages);
        run.places.clear();
        let outcome = outcome.map(|response| response.stop_reason);
        if outcome.as_ref().is_ok_and(|reason| *reason != StopReason::Cancelled) {
            for (message_id, text) in messages {
                self.emit(EventKind::MessageCompleted { text, message_id }, None).await?;
            }
        }
        let status = outcome.as_ref().map_or(RunStatus::Failed, RunStatus::of);
        let message = outcome.as_ref().err().map(ToString::to_string);
        let stop_reason = outcome.as_ref().ok().cloned();
        let caller = self.runner.upgrade().and_then(|runner| runner.release(key));
        let told = self.emit(EventKind::RunCompleted { status, stop_reason, message }, None).await;
        if let Some(caller) = caller {
            // A caller that is gone has interrupted the turn already.
            let _ = caller.send(outcome);
        }
        told
    }

    async fn tell_end(&mut self, end: Option<&End>) -> Emitted {
        self.settle_all().await?;
        if let Some(key) = self.run.as_ref().map(|run| run.key) {
            self.end_run(key, Err(RunError::Closed(reason_of(end)))).await?;
        }
        // Closed before it is told, so that whoever hears of it finds it so.
        let reason = self.runner.upgrade().map_or(reason_of(end), |runner| runner.close(reason_of(end)));
        let kind = EventKind::RunnerClosed {
            reason,
            message: end.map_or_else(|| "the agent was never started".to_owned(), ToString::to_string),
            exit_code: end.and_then(End::exit_code),
            signal: end.and_then(End::signal),
        };
        self.send(kind, None, false, None).await
    }

    async fn emit(&mut self, kind: EventKind, raw: Option<Arc<Json>>) -> Emitted {
        let run = self.run.as_ref().filter(|run| !run.is_over || ends_a_run(&kind)).map(|run| run.number);
        self.send(kind, run, false, raw).await
    }

    async fn send(
        &mut self,
        kind: EventKind,
        run: Option<u64>,
        replay: bool,
        raw: Option<Arc<Json>>,
    ) -> Emitted {
        self.seq += 1;
        let session_id = self.session_id();
        let event = Event { seq: self.seq, session_id, run, replay, kind, raw };
        match unwound(self.sink.emit(event)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::error!(%error, "the event sink failed, so the runner ends");
                Err(SinkFailed)
            }
            Err(()) => {
                tracing::error!("the event sink panicked, so the runner ends");
                Err(SinkFailed)
            }
        }
    }

    /// Nobody can be told any more: everything pending is settled, and the agent ends.
    fn crash(&self) {
        self.asks.cancel_everything();
        if let Some(runner) = self.runner.upgrade() {
            runner.close(CloseReason::Crashed);
            runner.interrupt();
            if let Some(client) = runner.client() {
                tokio::spawn(async move { client.close().await });
            }
        }
    }

    fn is_replaced(&self) -> bool {
        self.runner.upgrade().is_some_and(|runner| {
            let replaced = &mut runner.lock().replaced;
            let is_replaced = *replaced > 0;
            *replaced = replaced.saturating_sub(1);
            is_replaced
        })
    }

    /// Known from the session once it is open, and before that from what comes while it is loaded.
    fn session_id(&mut self) -> Option<SessionId> {
        if self.session.is_none() {
            self.session =
                self.runner.upgrade().and_then(|r| r.open_session()).map(|session| session.id().clone());
        }
        self.session.clone()
    }
}

impl Run {
    fn new(key: TurnKey, number: u64) -> Self {
        Self { key, number, is_over: false, messages: Vec::new(), places: HashMap::new() }
    }

    fn gather(&mut self, message: Option<&MessageId>, text: &str) {
        let place = *self.places.entry(message.cloned()).or_insert(self.messages.len());
        match self.messages.get_mut(place) {
            Some((_, gathered)) => gathered.push_str(text),
            None => self.messages.push((message.cloned(), text.to_owned())),
        }
    }
}

fn ends_a_run(kind: &EventKind) -> bool {
    matches!(kind, EventKind::MessageCompleted { .. } | EventKind::RunCompleted { .. })
}

/// A prompt that could not be sent because the connection ended is a turn that was lost.
fn unsent(error: Error) -> RunError {
    match error {
        Error::Lost(lost) => TurnError::Lost(lost).into(),
        error => error.into(),
    }
}

fn settled(told: &Told, settlement: &Settlement) -> EventKind {
    let by = match settlement {
        Settlement::Answered(_) => SettledBy::Answer,
        Settlement::Cancelled => SettledBy::Cancel,
        Settlement::Withdrawn => SettledBy::Agent,
    };
    match told {
        Told::Approval { id, .. } => {
            let option_id = match settlement {
                Settlement::Answered(Reply::Permission(RequestPermissionOutcome::Selected(choice))) => {
                    Some(choice.option_id.to_string())
                }
                _ => None,
            };
            EventKind::ApprovalSettled { approval_id: id.clone(), option_id, by }
        }
        Told::Input(input) => {
            let action = match settlement {
                Settlement::Answered(reply) => action_of(reply),
                _ => InputAction::Cancel,
            };
            EventKind::InputSettled { input_id: input.input_id.clone(), action, by }
        }
    }
}

fn action_of(reply: &Reply) -> InputAction {
    match reply {
        Reply::Elicitation(Ok(response)) => match response.action {
            ElicitationAction::Accept(_) => InputAction::Accept,
            ElicitationAction::Decline => InputAction::Decline,
            _ => InputAction::Cancel,
        },
        _ => InputAction::Cancel,
    }
}

fn reason_of(end: Option<&End>) -> CloseReason {
    match end.map(End::reason) {
        Some(Reason::Completed) => CloseReason::Completed,
        Some(Reason::Killed) | None => CloseReason::Killed,
        _ => CloseReason::Crashed,
    }
}
