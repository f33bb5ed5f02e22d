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
///
/// Each conversation needs a slot of its own: one that is shared asks whichever turn began last.
#[derive(Clone, Default)]
pub struct ApprovalSlot {
    answerers: Arc<Mutex<Answerers>>,
}

/// Who is asked: whoever was installed last and is still there, else the agent's own.
#[derive(Default)]
struct Answerers {
    own: Option<ApprovalCallback>,
    installed: Vec<(u64, ApprovalCallback)>,
    next: u64,
}

impl ApprovalSlot {
    /// A slot with this callback.
    pub fn with(callback: impl Fn(&ApprovalRequest) -> Approval + Send + Sync + 'static) -> Self {
        let answerers = Answerers { own: Some(Arc::new(callback)), ..Answerers::default() };
        Self { answerers: Arc::new(Mutex::new(answerers)) }
    }

    /// Asks whoever is installed; with nobody there the answer is no.
    pub fn ask(&self, request: &ApprovalRequest) -> Approval {
        let callback = self.answerers().current();
        match callback {
            Some(callback) => callback(request),
            None => Approval::Deny(Denial::NobodyToAsk),
        }
    }

    /// Puts `callback` in the place of the one installed until the guard is dropped.
    pub fn install(&self, callback: ApprovalCallback) -> InstalledApproval {
        let mut answerers = self.answerers();
        let key = answerers.next;
        answerers.next += 1;
        answerers.installed.push((key, callback));
        InstalledApproval { slot: self.clone(), key }
    }

    fn answerers(&self) -> MutexGuard<'_, Answerers> {
        self.answerers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answerers {
    fn current(&self) -> Option<ApprovalCallback> {
        self.installed.last().map(|(_, callback)| callback).or(self.own.as_ref()).cloned()
    }
}

impl std::fmt::Debug for ApprovalSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApprovalSlot")
            .field("asks", &self.answerers().current().is_some())
            .finish_non_exhaustive()
    }
}

/// A callback that is installed for now; dropping it, also while a panic unwinds, restores the former one.
#[must_use = "dropping it restores the former callback"]
pub struct InstalledApproval {
    slot: ApprovalSlot,
    key: u64,
}

impl Drop for InstalledApproval {
    fn drop(&mut self) {
        // Its own and no other: turns may overlap.
        self.slot.answerers().installed.retain(|(key, _)| *key != self.key);
    }
}

impl std::fmt::Debug for InstalledApproval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstalledApproval").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    fn answering(approval: Approval) -> ApprovalCallback {
        Arc::new(move |_| approval)
    }

    // H13
    #[test]
    fn each_installed_callback_goes_alone_and_the_agents_own_is_back_in_the_end() {
        let refused = Approval::Deny(Denial::Refused);
        let failed = Approval::Deny(Denial::Failed);
        let ask = |slot: &ApprovalSlot| slot.ask(&ApprovalRequest::new("shell", "x"));
        let slot = ApprovalSlot::with(|_| Approval::Always);
        let first = slot.install(answering(refused));
        let second = slot.install(answering(failed));
        assert_eq!(ask(&slot), failed);
        drop(first);
        assert_eq!(ask(&slot), failed, "what was installed later stays");
        drop(second);
        assert_eq!(ask(&slot), Approval::Always);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _installed = slot.install(answering(refused));
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(ask(&slot), Approval::Always, "also after a panic");
        assert_eq!(ask(&ApprovalSlot::default()), Approval::Deny(Denial::NobodyToAsk));
    }
}
