//! A prompt: admitted on the driver's task, run in one of its own, answered exactly once and after all its updates.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use accord_protocol::v1::{PromptRequest, PromptResponse, SessionId, StopReason};
use accord_transport::Call;

use super::{Serving, caught, check, refuse, unknown};
use crate::{
    handler::{Agent, Error, Reviving as _},
    session::Entry,
    table::Ticket,
    turn::{Running, Turn},
};

impl<A: Agent> Serving<A> {
    pub(super) fn prompt(&self, mut call: Call) {
        let request = match call.params::<PromptRequest>() {
            Ok(request) => request,
            Err(error) => return refuse(call, error),
        };
        match self.admit_turn(request) {
            Ok((running, ticket)) => self.run_turn(call, running, ticket),
            Err(refusal) => refuse(call, refusal),
        }
    }

    /// Enters the turn in the table before its task exists, so that a cancel in the next line finds it.
    fn admit_turn(&self, request: PromptRequest) -> Result<(Arc<Running>, Ticket), Error> {
        let table = &self.wire.table;
        let id = &request.session_id;
        let mut lines = table.lock();
        let place = lines.find(id);
        if place.is_none() && !self.offer.revive {
            return Err(unknown(id));
        }
        if place.is_some_and(|place| lines[place].turn.is_some()) {
            return Err(Error::invalid_request("a turn is running in this session already"));
        }
        check::prompt(&self.offer, &request.prompt)?;
        let place = place.unwrap_or_else(|| lines.find_or_begin(id));
        let running = Arc::new(Running::new(request));
        lines[place].turn = Some(Arc::clone(&running));
        Ok((running, lines.ticket(table, place)))
    }

    fn run_turn(&self, call: Call, running: Arc<Running>, ticket: Ticket) {
        let serving = self.clone();
        let place = ticket.place();
        // In a place of its own: the runtime moves a task several times.
        self.tasks.spawn(Box::pin(async move {
            let result = {
                let cancel = &running.cancel;
                let mut turn = pin!(serving.turn(&running, ticket));
                tokio::select! {
                    biased;
                    result = &mut turn => result,
                    // Both ways to cancel meet here; the turn is given a grace to end properly.
                    () = async { tokio::select! { () = call.cancelled() => cancel.set(), () = cancel.wait() => {} } } => {
                        tokio::time::timeout(serving.grace, turn).await.unwrap_or(Ok(StopReason::Cancelled))
                    }
                }
            };
            // What was begun is ended before the answer; whoever does not read it does not hold that up for ever.
            running.ended(serving.grace).await;
            running.wind_up().await;
            // Under the lock: a prompt in the next line is refused before the answer and admitted after it.
            let mut lines = serving.wire.table.lock();
            lines[place].turn = None;
            // A session that could not be revived leaves nothing.
            lines.end_if_idle(place);
            let result = if running.cancel.is_set() { Ok(StopReason::Cancelled) } else { result };
            call.answer(result.map(PromptResponse::new));
            drop(lines);
            running.answered.set();
        }));
    }

    async fn turn(&self, running: &Arc<Running>, ticket: Ticket) -> Result<StopReason, Error> {
        // A close before it in the line waits for this turn, so a cancelled one must not wait for its place.
        let Some(open) = running.cancel.or(pin!(ticket.come())).await else {
            return Ok(StopReason::Cancelled);
        };
        let id = &running.request.session_id;
        if open.is_none() && !self.offer.revive {
            return Err(unknown(id));
        }
        // A panic in the gate is an error of this prompt, too: the turn has to leave its session's table.
        caught(self.gate()).await?;
        if running.cancel.is_set() {
            return Ok(StopReason::Cancelled);
        }
        let entry = match open {
            Some(entry) => entry,
            None => self.revived(id.clone()).await?,
        };
        let turn = Turn::new(Arc::clone(running), self.session(entry));
        drop(running.session.set(turn.session().clone()));
        // In a place of its own: every layer around a future moves all of it, and handlers are large.
        let mut handler = pin!(caught(Box::pin(self.agent.prompt(turn))));
        // Up to where it first waits a handler runs in its place of the line: what it reads there was set before.
        let first = poll_fn(|cx| Poll::Ready(handler.as_mut().poll(cx))).await;
        drop(ticket);
        match first {
            Poll::Ready(result) => result,
            Poll::Pending => handler.await,
        }
    }

    /// Opens the session of a prompt that came without a load or resume. A cancel does not stop it half-way: the session is
    /// open then, or it is not.
    async fn revived(&self, id: SessionId) -> Result<Arc<Entry>, Error> {
        let serving = self.clone();
        let revived = self.tasks.spawn(async move {
            let reviving = serving.agent.reviving().ok_or_else(|| unknown(&id))?;
            caught(reviving.revive(id.clone())).await?;
            let entry = Arc::new(Entry::new(id));
            serving.wire.table.put(Arc::clone(&entry));
            serving.agent.opened(serving.session(Arc::clone(&entry))).await;
            Ok(entry)
        });
        revived.await.map_err(|_| Error::internal("the session could not be opened"))?
    }
}
