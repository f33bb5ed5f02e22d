//! Asking before a tool runs. What is not plainly a permission is a refusal.

use std::{collections::HashMap, sync::LazyLock};

use accord_protocol::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, ToolCall,
    ToolCallId, ToolCallUpdate,
};

use serde::{Deserialize, Serialize};

use crate::{client::ClientError, turn::Turn};

/// The options most agents offer: `allow`, `always`, `reject`, `never`.
pub fn standard_options() -> Vec<PermissionOption> {
    // Made once: copies share the ids.
    static OPTIONS: LazyLock<[PermissionOption; 4]> = LazyLock::new(|| {
        [
            PermissionOption::new("allow", "Allow once", PermissionOptionKind::AllowOnce),
            PermissionOption::new("always", "Always allow", PermissionOptionKind::AllowAlways),
            PermissionOption::new("reject", "Reject once", PermissionOptionKind::RejectOnce),
            PermissionOption::new("never", "Always reject", PermissionOptionKind::RejectAlways),
        ]
    });
    OPTIONS.to_vec()
}

/// What is offered where nothing says what an answer for good would hold for.
fn once_options() -> Vec<PermissionOption> {
    let once = |option: &PermissionOption| {
        matches!(option.kind, PermissionOptionKind::AllowOnce | PermissionOptionKind::RejectOnce)
    };
    standard_options().into_iter().filter(once).collect()
}

/// A question for the person, about one tool call.
#[derive(Clone, Debug)]
pub struct Question {
    call: ToolCallUpdate,
    /// Those that were chosen for it.
    options: Option<Vec<PermissionOption>>,
    operation: Option<String>,
}

impl Question {
    /// Whether this tool call may run. Give the whole call: what the question does not say, a person who is asked may not
    /// see.
    ///
    /// With an [operation](Self::operation) the [standard options](standard_options) are offered, without one only those
    /// of them that count once.
    pub fn new(call: impl Into<ToolCallUpdate>) -> Self {
        Self { call: call.into(), options: None, operation: None }
    }

    /// Whether the call may run on which this question is [asked](crate::Tool::ask); the options are those of
    /// [`new`](Self::new).
    pub fn standard() -> Self {
        Self::new(ToolCallUpdate::new(""))
    }

    /// Other options than the usual ones. Where no [operation](Self::operation) is given, an answer *always* or *never*
    /// counts once.
    #[must_use]
    pub fn options(mut self, options: impl Into<Vec<PermissionOption>>) -> Self {
        self.options = Some(options.into());
        self
    }

    /// What exactly would be allowed: an answer *always* or *never* is remembered for this session and this text, so
    /// it should name all that the person was shown. Where a [runtime](crate::Runtime) has a store, the answer is
    /// remembered with the session, after a restart too.
    #[must_use]
    pub fn operation(mut self, operation: impl Into<String>) -> Self {
        self.operation = Some(operation.into());
        self
    }

    /// The call the question is about.
    pub(crate) fn call(&self) -> &ToolCallId {
        &self.call.tool_call_id
    }

    pub(crate) fn update(&self) -> &ToolCallUpdate {
        &self.call
    }

    /// What an answer for good would be remembered as.
    pub(crate) fn grant(&self) -> Option<ToGrant> {
        self.operation.clone().map(ToGrant)
    }

    pub(crate) fn about(mut self, call: ToolCallUpdate) -> Self {
        self.call = call;
        self
    }

    /// The request is built before the future is, which then holds it once; nothing happens before that is polled.
    pub(crate) fn ask(self, turn: &Turn) -> impl Future<Output = Result<Decision, ClientError>> + Send {
        let Self { call, options, operation } = self;
        let usual = if operation.is_some() { standard_options } else { once_options };
        let options = options.unwrap_or_else(usual);
        let request = RequestPermissionRequest::new(turn.session_id().clone(), call, options);
        async move {
            if turn.is_cancelled() {
                return Ok(Decision::Cancelled);
            }
            let standing = &turn.session().entry.standing;
            if let Some(decision) = operation.as_ref().and_then(|operation| lock(standing).get(operation)) {
                return Ok(decision);
            }
            if !turn.knows(&request.tool_call.tool_call_id) {
                turn.send(announcement(&request.tool_call).into()).done().await?;
            }
            let decision = match turn.client().call(&request).await {
                Ok(response) => Decision::of(response.outcome, &request.options),
                Err(ClientError::Cancelled) => Decision::Cancelled,
                Err(ClientError::Ended) => return Err(ClientError::Ended),
                // An error, or an answer that cannot be read, is no permission.
                Err(_) => Decision::Rejected(None),
            };
            // An answer that was too late for its turn allows nothing.
            let decision = if turn.is_cancelled() { Decision::Cancelled } else { decision };
            if let Some(operation) = operation {
                lock(standing).remember(operation, &decision);
            }
            Ok(decision)
        }
    }
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Decision {
    /// The tool may run, by this option.
    Allowed(PermissionOption),
    /// It may not: by this option, or because there was no proper answer.
    Rejected(Option<PermissionOption>),
    /// The turn was cancelled, or the client says so.
    Cancelled,
}

impl Decision {
    /// Whether the tool may run.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(_))
    }

    /// Whether the answer was meant for later calls of the same kind as well.
    pub fn is_standing(&self) -> bool {
        let option = match self {
            Self::Allowed(option) => Some(option),
            Self::Rejected(option) => option.as_ref(),
            Self::Cancelled => None,
        };
        option.is_some_and(|option| {
            matches!(option.kind, PermissionOptionKind::AllowAlways | PermissionOptionKind::RejectAlways)
        })
    }

    fn by(option: PermissionOption) -> Self {
        match option.kind {
            PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways => Self::Allowed(option),
            _ => Self::Rejected(Some(option)),
        }
    }

    fn of(outcome: RequestPermissionOutcome, options: &[PermissionOption]) -> Self {
        match outcome {
            RequestPermissionOutcome::Cancelled => Self::Cancelled,
            RequestPermissionOutcome::Selected(selected) => {
                let chosen = options.iter().find(|option| option.option_id == selected.option_id);
                // What was never offered allows nothing.
                chosen.map_or(Self::Rejected(None), |option| Self::by(option.clone()))
            }
            // An outcome of a later protocol: whatever it means, it is not one we know to be a permission.
            _ => Self::Rejected(None),
        }
    }
}

/// An operation about which somebody is asked.
#[derive(Debug)]
pub(crate) struct ToGrant(String);

impl ToGrant {
    /// The grant that a decision for good makes of it.
    pub(crate) fn of(self, decision: &Decision) -> Option<Grant> {
        match decision {
            Decision::Allowed(option) | Decision::Rejected(Some(option)) if decision.is_standing() => {
                Some(Grant { operation: self.0, option: option.clone() })
            }
            _ => None,
        }
    }
}

/// A decision for good, as it is stored.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Grant {
    operation: String,
    option: PermissionOption,
}

/// The decisions of a session that hold beyond one call.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    decisions: HashMap<String, Decision>,
}

impl Standing {
    /// Takes over decisions that were stored.
    pub(crate) fn restore(&mut self, grants: Vec<Grant>) {
        for Grant { operation, option } in grants {
            self.remember(operation, &Decision::by(option));
        }
    }

    fn get(&self, operation: &str) -> Option<Decision> {
        self.decisions.get(operation).cloned()
    }

    fn remember(&mut self, operation: String, decision: &Decision) {
        if decision.is_standing() {
            self.decisions.insert(operation, decision.clone());
        }
    }
}

fn lock(standing: &std::sync::Mutex<Standing>) -> std::sync::MutexGuard<'_, Standing> {
    // Nothing panics while the lock is held.
    standing.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The call as it has to be announced before a question about it.
pub(crate) fn announcement(call: &ToolCallUpdate) -> ToolCall {
    let title = call.title.get().or(call.name.get()).cloned().unwrap_or_else(|| "Tool".to_owned());
    let mut announced = ToolCall::new(call.tool_call_id.clone(), title);
    announced.name = call.name.clone();
    announced.kind = call.kind.get().cloned();
    announced.content = call.content.get().cloned();
    announced.locations = call.locations.get().cloned();
    announced.raw_input = call.raw_input.clone();
    announced
}
