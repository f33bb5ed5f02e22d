//! A prompt: admitted on the driver's task, run in one of its own, answered exactly once and after all its updates.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use accord_protocol::v1::{PromptRequest, PromptResponse, StopReason};
use accord_transport::Call;

use super::{Serving, caught, check, refuse, unknown};
use crate::handler::{Agent, Error};
use crate::table::Ticket;
use crate::turn::{Running, Turn};

impl<A: Agent> Serving<A> {
    pub(super) fn prompt(&self, call: Call) {
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
        let mut lines = self.wire.table.lock();
        let line = lines.get_mut(&request.session_id).ok_or_else(|| unknown(&request.session_id))?;
        if line.turn.is_some() {
            return Err(Error::invalid_request("a turn is running in this session already"));
        }
        check::prompt(&self.offer, &request.prompt)?;
        let running = Arc::new(Running::default());
        line.turn = Some(Arc::clone(&running));
        Ok((running, line.ticket(&self.wire.table, &request.session_id)))
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
            drop(tokio::time::timeout(serving.grace, running.ending.wait()).await);
            running.wind_up().await;
            // Under the lock: a prompt in the next line is refused before the answer and admitted after it.
            let mut lines = serving.wire.table.lock();
            if let Some(line) = lines.get_mut(&id) {
                line.turn = None;
            }
            let result = if running.cancel.is_cancelled() { Ok(StopReason::Cancelled) } else { result };
            call.answer(result.map(PromptResponse::new));
            drop(lines);
            running.answered.cancel();
        }));
    }

    async fn turn(
        &self,
        request: PromptRequest,
        running: &Arc<Running>,
        mut ticket: Ticket,
    ) -> Result<StopReason, Error> {
        // A close before it in the line waits for this turn, so a cancelled one must not wait for its place.
        let cancelled = running.cancel.run_until_cancelled(ticket.come()).await.is_none();
        if cancelled {
            return Ok(StopReason::Cancelled);
        }
        let id = &request.session_id;
        let entry = self.wire.table.open(id).ok_or_else(|| unknown(id))?;
        // A panic in the gate is an error of this prompt, too: the turn has to leave its session's table.
        caught(self.gate()).await?;
        if running.cancel.is_cancelled() {
            return Ok(StopReason::Cancelled);
        }
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
}
