//! The callbacks of one turn: what a blocking agent reports with, from any thread, until the turn is over.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use accord_protocol::v1::{SessionInfoUpdate, SessionUpdate};
use serde_json::Value;

use super::{
    agent::{Failure, Step, Usage},
    approval::{Approval, ApprovalRequest, Denial},
    bridge::Bridge,
    cancel::Cancel,
    grants::Grants,
    history::Record,
    mounted::{self, MountedTool},
    permission,
    tools::ToolResult,
    wire::Wire,
};
use crate::runtime::{self, Route};

/// What a blocking agent reports with while a turn runs. Clones are the same turn's and may go to other threads.
///
/// A callback returns when what it reports is on its way to the client, in the order of the calls; while the client is slow,
/// the agent is slowed down. After the turn's end a callback changes nothing.
#[derive(Clone)]
pub struct Callbacks {
    turn: Arc<Turn>,
}

struct Turn {
    bridge: Mutex<Bridge>,
    /// The bridge's end, to be seen while a callback holds the bridge.
    ended: AtomicBool,
    wire: Arc<Wire>,
    cancel: Cancel,
    grants: Arc<Mutex<Grants>>,
    patience: Option<Duration>,
}

impl Callbacks {
    pub(super) fn new(
        bridge: Bridge,
        wire: Arc<Wire>,
        cancel: Cancel,
        grants: Arc<Mutex<Grants>>,
        patience: Option<Duration>,
    ) -> Self {
        Self {
            turn: Arc::new(Turn {
                bridge: Mutex::new(bridge),
                ended: AtomicBool::new(false),
                wire,
                cancel,
                grants,
                patience,
            }),
        }
    }

    /// A piece of the agent's message.
    pub fn text(&self, delta: &str) {
        self.report(|bridge| bridge.text(delta));
    }

    /// A piece of the model's reasoning.
    pub fn thinking(&self, delta: &str) {
        self.report(|bridge| bridge.thinking(delta));
    }

    /// A tool begins; `arguments` may be an object or the JSON text that the model wrote.
    pub fn tool_started(&self, name: &str, arguments: impl Into<Value>) {
        let arguments = arguments.into();
        self.report(|bridge| [bridge.tool_started(name, &arguments)]);
    }

    /// The oldest running tool of this name says something: more of its output.
    ///
    /// The latest of it is shown, a few times a second.
    pub fn tool_progress(&self, name: &str, said: &str) {
        self.report(|bridge| bridge.tool_progress(name, said));
    }

    /// The oldest running tool of this name has ended.
    pub fn tool_finished(&self, name: &str, result: impl Into<ToolResult>) {
        let result = result.into();
        self.report(|bridge| bridge.tool_finished(name, &result));
    }

    /// A step has ended: one request to the model and the tools it called for.
    ///
    /// It brings what no other callback has brought: reasoning that was not streamed, ends of tools that were not
    /// reported by [`tool_finished`](Self::tool_finished).
    pub fn step(&self, step: &Step) {
        self.report(|bridge| bridge.step(step));
    }

    /// How full the model's context is.
    pub fn usage(&self, usage: Usage) {
        self.report(|bridge| [bridge.usage(usage)]);
    }

    /// The conversation has a title from now on.
    pub fn title(&self, title: &str) {
        self.report(|_| [SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title(title.to_owned()))]);
    }

    /// Any other update of the protocol, in its place among the rest.
    pub fn update(&self, update: SessionUpdate) {
        self.report(|_| [update]);
    }

    /// Asks the user whether something dangerous may be done, and waits for the answer.
    ///
    /// What the user has decided before for the same tool and pattern is not asked again. No answer in time, a failure on
    /// the way, a cancel and the turn's end all mean no.
    pub fn approve(&self, request: &ApprovalRequest) -> Approval {
        if self.turn.cancel.is_set() {
            return Approval::Deny(Denial::Cancelled);
        }
        let known = self.grants().verdict(request);
        if let Some(known) = known {
            let mut bridge = self.bridge();
            if bridge.is_over() {
                return Approval::Deny(Denial::Failed);
            }
            if known.is_granted() {
                self.send(bridge.remembered(request));
            }
            return known;
        }
        let call = {
            let mut bridge = self.bridge();
            if bridge.is_over() {
                return Approval::Deny(Denial::Failed);
            }
            let question = bridge.ask(request);
            if let Some(before) = question.before {
                self.turn.wire.update(before);
            }
            question.call
        };
        let id = call.tool_call_id.clone();
        let asked = self.turn.wire.ask(call, permission::options(request), self.turn.patience);
        let (approval, memory) = permission::verdict(request, &asked);
        let mut bridge = self.bridge();
        // An answer that crossed the cancel or the turn's end allows nothing, and nothing is remembered of it.
        if bridge.is_over() {
            return Approval::Deny(Denial::Failed);
        }
        if self.turn.cancel.is_set() {
            return Approval::Deny(Denial::Cancelled);
        }
        self.send(bridge.answered(&id, approval.is_granted()));
        let grant = self.grants().remember(request, approval, memory);
        if let Some(grant) = grant {
            self.record(&Record::Grant(grant));
        }
        approval
    }

    /// The tools of the MCP servers that the client mounted in this session.
    pub fn mounted_tools(&self) -> Vec<MountedTool> {
        mounted::tools(&self.turn.wire)
    }

    /// Runs one of [`mounted_tools`](Self::mounted_tools), and waits for its result; a cancel ends the wait.
    pub fn call_tool(&self, name: &str, arguments: impl Into<Value>) -> ToolResult {
        if self.bridge().is_over() {
            return ToolResult::failed("the turn is over");
        }
        mounted::call(&self.turn.wire, name, arguments.into())
    }

    /// Waits on this thread for what else the turn can do and is asynchronous: the client's files, terminals and forms.
    ///
    /// ```
    /// # use accord_agent::blocking::Callbacks;
    /// /// The file as the user sees it, unsaved changes included, where the client shows it.
    /// fn shown(callbacks: &Callbacks, path: &std::path::Path) -> Option<String> {
    ///     callbacks.wait(|turn| async move { turn.client().read_text_file(path).await.ok() })?
    /// }
    /// ```
    ///
    /// Returns `None` once the turn is over.
    pub fn wait<T, F: Future<Output = T>>(&self, ask: impl FnOnce(runtime::Turn) -> F) -> Option<T> {
        if self.has_ended() { None } else { self.turn.wire.wait(ask) }
    }

    /// Whether the turn is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.turn.cancel.is_set()
    }

    /// The turn's cancel, to wait for it and to be reached by it.
    pub fn cancel(&self) -> &Cancel {
        &self.turn.cancel
    }

    /// How full the context is at the end, unless the agent has said so itself.
    pub(super) fn last_usage(&self, usage: Usage) {
        self.report(|bridge| bridge.last_usage(usage));
    }

    /// Stores a record; says whether it is in the session's log now.
    pub(super) fn record(&self, record: &Record) -> bool {
        self.turn.wire.record(record)
    }

    pub(super) fn choose_model(&self, model: &Route) -> Result<(), Failure> {
        self.turn.wire.choose_model(model)
    }

    /// Whether the turn has ended on the wire; waits for no callback that is under way.
    pub(super) fn has_ended(&self) -> bool {
        self.turn.ended.load(Ordering::Acquire)
    }

    /// Ends the turn on the wire: a final text where nothing was streamed, and an end for each open call.
    pub(super) fn end(&self, text: Option<&str>, why: &str) {
        let mut bridge = self.bridge();
        let updates = bridge.end(text, why);
        self.send(updates);
        self.turn.ended.store(true, Ordering::Release);
        drop(bridge);
        self.turn.cancel.end();
    }

    /// Takes one step of the bridge and sends what it brings, before the next callback's turn comes.
    fn report<U: IntoIterator<Item = SessionUpdate>>(&self, step: impl FnOnce(&mut Bridge) -> U) {
        let mut bridge = self.bridge();
        if !bridge.is_over() {
            let updates = step(&mut bridge);
            self.send(updates);
        }
    }

    fn send(&self, updates: impl IntoIterator<Item = SessionUpdate>) {
        for update in updates {
            self.turn.wire.update(update);
        }
    }

    fn bridge(&self) -> MutexGuard<'_, Bridge> {
        self.turn.bridge.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn grants(&self) -> MutexGuard<'_, Grants> {
        self.turn.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Callbacks").field("cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}
