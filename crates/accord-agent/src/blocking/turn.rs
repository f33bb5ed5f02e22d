//! One turn of a blocking agent: a seat on a thread, the agent's run, its end on the wire, and a cancel that reaches it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use accord_protocol::{
    rpc,
    v1::{
        AvailableCommand, ContentBlock, Implementation, PromptCapabilities, SessionInfoUpdate, SessionUpdate,
        StopReason,
    },
};

use super::{
    agent::{BlockingAgent, BlockingSession, Failure, Reply},
    approval::ApprovalCallback,
    bridge::Bridge,
    callbacks::Callbacks,
    cancel::Cancel,
    commands::{Offers, Place},
    cut::line,
    history::Record,
    prompt::{self, Prompt},
    sessions::Open,
    tools::{Limits, Renderer, ToolTable},
    wire::Wire,
    workers::{JobLost, Seat, Workers},
};
use crate::runtime::{Catalogue, Choice};

/// How long a title made of a prompt is, in characters.
const TITLE: usize = 60;

/// What a client is told of a panic; what it was about is the log's.
const PANICKED: &str = "the agent panicked; the session goes on from its last turn";

/// What all turns of an agent share.
pub(super) struct Turns<A: BlockingAgent> {
    pub(super) agent: Arc<A>,
    pub(super) about: About,
    pub(super) workers: Workers,
    pub(super) limits: Limits,
    /// How long an agent may take to end a cancelled turn.
    pub(super) grace: Duration,
    /// How long the user may take to answer.
    pub(super) patience: Option<Duration>,
}

/// What an agent says of itself, asked once: its methods may block.
pub(super) struct About {
    pub(super) info: Implementation,
    pub(super) accepts: PromptCapabilities,
    pub(super) catalogue: Catalogue,
    commands: Vec<AvailableCommand>,
    table: ToolTable,
}

impl About {
    pub(super) fn of(agent: &impl BlockingAgent) -> Self {
        Self {
            info: agent.info(),
            accepts: agent.accepts(),
            catalogue: agent.catalogue(),
            commands: agent.commands(),
            table: agent.tools(),
        }
    }
}

/// What one turn is about.
pub(super) struct Task {
    pub(super) blocks: Vec<ContentBlock>,
    pub(super) choice: Choice,
    pub(super) wire: Arc<Wire>,
}

impl<A: BlockingAgent> Turns<A> {
    /// Runs a turn. Once `cancelled` comes it ends within the grace, whatever the agent does.
    ///
    /// Dropping the future cancels the turn; its thread ends when the agent lets it.
    pub(super) async fn run(
        self: &Arc<Self>,
        open: Arc<Open<A>>,
        task: Task,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<StopReason, rpc::Error> {
        let mut cancelled = pin!(cancelled);
        let seat = async {
            // The thread of an abandoned turn may still hold the agent's object.
            tokio::time::timeout(self.grace, open.rested()).await.map_err(|_| still_busy())?;
            Ok::<_, rpc::Error>(self.workers.seat().await)
        };
        let seat = tokio::select! {
            biased;
            () = &mut cancelled => return Ok(StopReason::Cancelled),
            seat = seat => seat?,
        };

        let cancel = Cancel::default();
        let bridge = Bridge::new(Renderer {
            table: self.about.table.clone(),
            limits: self.limits,
            cwd: open.facts().cwd.clone(),
        });
        let wire = task.wire.clone();
        let callbacks =
            Callbacks::new(bridge, wire.clone(), cancel.clone(), open.grants.clone(), self.patience);
        let fence = Fence { callbacks: callbacks.clone(), wire, seat: seat.clone() };
        let (turns, work) = (self.clone(), open.work());
        let mut done = seat.run(move || {
            let ended = turns.on_thread(&open, task, &callbacks);
            drop(work);
            ended
        });

        let outcome = tokio::select! {
            outcome = &mut done => outcome,
            () = &mut cancelled => {
                // Hooks are the agent's code: not even they can hold up the answer.
                tokio::task::spawn_blocking(move || cancel.set());
                let Ok(outcome) = tokio::time::timeout(self.grace, done).await else {
                    tracing::warn!("a cancelled turn goes on; its thread is left to itself");
                    return Ok(StopReason::Cancelled);
                };
                outcome
            }
        };
        drop(fence);
        match outcome {
            Ok(Ok(ended)) => ended.map_err(refused),
            Ok(Err(JobLost::Panicked)) => Err(rpc::Error::internal(PANICKED)),
            Ok(Err(lost @ JobLost::NoThread)) => Err(rpc::Error::internal(lost.to_string())),
            Err(_) => Err(rpc::Error::internal("the turn's thread is gone")),
        }
    }

    /// The turn from its thread: everything of the agent's, and its end on the wire.
    fn on_thread(&self, open: &Open<A>, task: Task, callbacks: &Callbacks) -> Result<StopReason, Failure> {
        let ran = catch_unwind(AssertUnwindSafe(|| self.with_agent(open, task, callbacks)));
        let (ended, text) = match ran {
            Ok(Ok(reply)) => (Ok(reply.stop), reply.text),
            Ok(Err(failure)) => (Err(failure), None),
            Err(_) => {
                open.forget_object();
                (Err(Failure::failed(PANICKED)), None)
            }
        };
        let cancelled = callbacks.is_cancelled();
        let why = if cancelled { "cancelled" } else { "the turn ended before the tool did" };
        callbacks.end(text.as_deref().filter(|_| !cancelled), why);
        if cancelled { Ok(StopReason::Cancelled) } else { ended }
    }

    fn with_agent(&self, open: &Open<A>, task: Task, callbacks: &Callbacks) -> Result<Reply, Failure> {
        let mut object = open.made(&*self.agent)?;
        let session = object.as_mut().ok_or_else(|| Failure::failed("the session is not open"))?;
        if task.choice != open.facts().choice {
            session.configure(&task.choice)?;
            open.facts().choice.clone_from(&task.choice);
        }
        let reply = self.with_session(open, session, task, callbacks);
        let entries = session.history();
        let change = open.history().advance(&entries).map_err(Failure::failed)?;
        if let Some(change) = change
            && !callbacks.record(&Record::History(change))
        {
            // The turn was given up before its agent was done. What the agent knows now belongs to the next one.
            open.history().store_anew();
        }
        if let Some(usage) = session.usage() {
            callbacks.last_usage(usage);
        }
        reply
    }

    fn with_session(
        &self,
        open: &Open<A>,
        session: &mut A::Session,
        task: Task,
        callbacks: &Callbacks,
    ) -> Result<Reply, Failure> {
        let _reach = session.interrupter().map(|interrupt| callbacks.cancel().on_cancel(move || interrupt()));
        let _asked = session.approvals().cloned().map(|slot| {
            let callbacks = callbacks.clone();
            let ask: ApprovalCallback = Arc::new(move |request| callbacks.approve(request));
            slot.install(ask)
        });
        let facts = open.facts().clone();
        let offers = self.offers(&facts);
        let text = prompt::only_text(&task.blocks);
        if let Some(command) = text.as_deref().and_then(|text| offers.command(text)) {
            let info = &self.about.info;
            let mut place = Place { session, callbacks, offers: &offers, info, choice: &facts.choice };
            return command.carry_out(&mut place).map(Reply::text);
        }
        let roots: Vec<_> = std::iter::once(facts.cwd).chain(facts.additional_directories).collect();
        let prompt = Prompt::of(task.blocks, &roots, self.about.accepts.image == Some(true));
        if !facts.titled {
            open.facts().titled = true;
            let title = line(&prompt.text(), TITLE);
            if !title.is_empty() {
                callbacks.update(SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title)));
            }
        }
        session.run(&prompt, callbacks)
    }

    pub(super) fn offers(&self, facts: &super::sessions::Facts) -> Offers {
        let About { catalogue, commands, .. } = &self.about;
        Offers { compacts: facts.compacts, catalogue: catalogue.clone(), own: commands.clone() }
    }
}

/// Closes the turn for good, also when nobody waits for it any more.
struct Fence {
    callbacks: Callbacks,
    wire: Arc<Wire>,
    seat: Seat,
}

impl Drop for Fence {
    fn drop(&mut self) {
        // From here on nothing gets through, and whoever waits for the client goes on: a question of a thread that the
        // agent left running is withdrawn.
        self.wire.shut();
        if self.callbacks.has_ended() {
            return;
        }
        self.seat.free();
        let callbacks = self.callbacks.clone();
        let end = move || {
            callbacks.cancel().set();
            callbacks.end(None, "cancelled");
        };
        // Hooks and callbacks under way are the agent's code; this may be a thread that carries the connection.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(end)),
            Err(_) => end(),
        }
    }
}

/// What an agent's failure is to the client.
pub(super) fn refused(failure: Failure) -> rpc::Error {
    match failure {
        Failure::Login(why) => rpc::Error::new(rpc::ErrorCode::AUTH_REQUIRED, why),
        Failure::Invalid(why) => rpc::Error::new(rpc::ErrorCode::INVALID_PARAMS, why),
        Failure::Failed(why) => rpc::Error::internal(why),
    }
}

fn still_busy() -> rpc::Error {
    rpc::Error::new(
        rpc::ErrorCode::INVALID_REQUEST,
        "the turn that was cancelled before has not ended yet; try again, or close the session",
    )
}
