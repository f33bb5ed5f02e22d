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
        match self.admit_turn(&request) {
            Ok((running, ticket)) => self.run_turn(call, request, running, ticket),
            Err(refusal) => refuse(call, refusal),
        }
    }

    /// Enters the turn in the table before its task exists, so that a cancel in the next line finds it.
    fn admit_turn(&self, request: &PromptRequest) -> Result<(Arc<Running>, Ticket), Error> {
        let table = &self.wire.table;
        let id = &request.session_id;
        let mut lines = table.lock();
        let line = lines.get_mut(id);
        if line.is_none() && !self.offer.revive {
            return Err(unknown(id));
        }
        if line.as_ref().is_some_and(|line| line.turn.is_some()) {
            return Err(Error::invalid_request("a turn is running in this session already"));
        }
        check::prompt(&self.offer, &request.prompt)?;
        let running = Arc::new(Running::default());
        let line = match line {
            Some(line) => line,
            None => lines.entry(id.clone()).or_default(),
        };
        line.turn = Some(Arc::clone(&running));
        Ok((running, line.ticket(table, id)))
    }

    fn run_turn(&self, call: Call, request: PromptRequest, running: Arc<Running>, ticket: Ticket) {
        let serving = self.clone();
        // In a place of its own: the runtime moves a task several times.
        self.tasks.spawn(Box::pin(async move {
            let id = request.session_id.clone();
            let withdrawn = call.cancelled();
            let result = {
                let cancel = &running.cancel;
                let mut turn = pin!(serving.turn(request, &running, ticket));
                tokio::select! {
                    biased;
                    result = &mut turn => result,
                    // Both ways to cancel meet here; the turn is given a grace to end properly.
                    () = async { tokio::select! { () = withdrawn => cancel.cancel(), () = cancel.cancelled() => {} } } => {
                        tokio::time::timeout(serving.grace, turn).await.unwrap_or(Ok(StopReason::Cancelled))
                    }
                }
            };
            // What was begun is ended before the answer; whoever does not read it does not hold that up for ever.
            running.ending.close();
            if !running.ending.is_empty() {
                drop(tokio::time::timeout(serving.grace, running.ending.wait()).await);
            }
            running.wind_up().await;
            // Under the lock: a prompt in the next line is refused before the answer and admitted after it.
            let mut lines = serving.wire.table.lock();
            if let Some(line) = lines.get_mut(&id) {
                line.turn = None;
                // A session that could not be revived leaves nothing.
                if line.is_idle() {
                    lines.remove(&id);
                }
            }
            let result = if running.cancel.is_cancelled() { Ok(StopReason::Cancelled) } else { result };
            call.answer(result.map(PromptResponse::new));
            drop(lines);
            running.answered.set();
        }));
    }

    async fn turn(
        &self,
        request: PromptRequest,
        running: &Arc<Running>,
        mut ticket: Ticket,
    ) -> Result<StopReason, Error> {
        // A close before it in the line waits for this turn, so a cancelled one must not wait for its place.
        tokio::select! {
            biased;
            () = ticket.come() => {}
            () = running.cancel.cancelled() => {}
        }
        if running.cancel.is_cancelled() {
            return Ok(StopReason::Cancelled);
        }
        let id = &request.session_id;
        let open = self.wire.table.open(id);
        if open.is_none() && !self.offer.revive {
            return Err(unknown(id));
        }
        // A panic in the gate is an error of this prompt, too: the turn has to leave its session's table.
        caught(self.gate()).await?;
        if running.cancel.is_cancelled() {
            return Ok(StopReason::Cancelled);
        }
        let entry = match open {
            Some(entry) => entry,
            None => self.revived(id.clone()).await?,
        };
        let turn = Turn::new(Arc::clone(running), self.session(entry), request);
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
