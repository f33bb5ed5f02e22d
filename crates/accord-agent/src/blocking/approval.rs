//! What an agent asks before something dangerous, what it is told, and where its tools find whom to ask.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

/// Something the agent is about to do that the user should agree to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The tool that asks, by the name its calls are reported under.
    pub tool: String,
    /// The tool's arguments, from which editors are shown a title, the command or the diff.
    pub arguments: Value,
    /// Why it is dangerous, in a few words; empty if the arguments say enough.
    pub reason: String,
    /// What an "always" would cover: `git push *`, say. Two requests with one tool and one pattern are the same question.
    pub pattern: String,
    /// Whether the answer may be remembered at all; if not, only "once" is offered.
    pub may_remember: bool,
}

impl ApprovalRequest {
    /// Asks for one use of `tool` with `arguments`; "always" would cover the exact same arguments only.
    pub fn new(tool: impl Into<String>, arguments: impl Into<Value>) -> Self {
        let arguments = arguments.into();
        Self {
            tool: tool.into(),
            pattern: arguments.to_string(),
            arguments,
            reason: String::new(),
            may_remember: true,
        }
    }

    /// Says why it is dangerous.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Says what an "always" would cover.
    #[must_use]
    pub fn pattern(mut self, pattern: impl Into<String>) -> Self {
        self.pattern = pattern.into();
        self
    }

    /// Offers "once" and "no" only.
    #[must_use]
    pub fn once_only(mut self) -> Self {
        self.may_remember = false;
        self
    }
}

/// The answer to an [`ApprovalRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// This time.
    Once,
    /// This time, and whenever the same pattern comes again; the adapter remembers it and won't ask.
    Always,
    /// No.
    Deny(Denial),
}

impl Approval {
    /// Whether the agent may go on.
    pub fn is_granted(self) -> bool {
        matches!(self, Self::Once | Self::Always)
    }
}

/// Why the answer is no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Denial {
    /// The user said no.
    #[error("the user refused")]
    Refused,
    /// The turn is cancelled.
    #[error("the turn was cancelled")]
    Cancelled,
    /// Nobody answered in time.
    #[error("nobody answered in time")]
    TimedOut,
    /// The question could not be put or its answer was not understood.
    #[error("the question could not be put")]
    Failed,
    /// Nothing is installed that could be asked.
    #[error("there is nobody to ask")]
    NobodyToAsk,
}

/// Answers an [`ApprovalRequest`]; blocks until there is an answer.
pub type ApprovalCallback = Arc<dyn Fn(&ApprovalRequest) -> Approval + Send + Sync>;

/// The place where an agent's tools find whom to ask.
///
/// An agent that also runs without this adapter puts its own callback here (a question on its terminal, say). For a turn
/// under the adapter the client is asked instead, and the former callback is back when the turn ends, however it ends.
#[derive(Clone, Default)]
pub struct ApprovalSlot {
    callback: Arc<Mutex<Option<ApprovalCallback>>>,
}

impl ApprovalSlot {
    /// A slot with this callback.
    pub fn with(callback: impl Fn(&ApprovalRequest) -> Approval + Send + Sync + 'static) -> Self {
        Self { callback: Arc::new(Mutex::new(Some(Arc::new(callback)))) }
    }

    /// Asks whoever is installed; with nobody there the answer is no.
    pub fn ask(&self, request: &ApprovalRequest) -> Approval {
        let callback = self.callback().clone();
        match callback {
            Some(callback) => callback(request),
            None => Approval::Deny(Denial::NobodyToAsk),
        }
    }

    /// Puts `callback` in the place of the one installed until the guard is dropped.
    pub fn install(&self, callback: ApprovalCallback) -> InstalledApproval {
        let former = self.callback().replace(callback);
        InstalledApproval { slot: self.clone(), former }
    }

    fn callback(&self) -> MutexGuard<'_, Option<ApprovalCallback>> {
        self.callback.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for ApprovalSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApprovalSlot").field("installed", &self.callback().is_some()).finish_non_exhaustive()
    }
}

/// A callback that is installed for now; dropping it, also while a panic unwinds, restores the former one.
#[must_use = "dropping it restores the former callback"]
pub struct InstalledApproval {
    slot: ApprovalSlot,
    former: Option<ApprovalCallback>,
}

impl Drop for InstalledApproval {
    fn drop(&mut self) {
        *self.slot.callback() = self.former.take();
    }
}

impl std::fmt::Debug for InstalledApproval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstalledApproval").finish_non_exhaustive()
    }
}
