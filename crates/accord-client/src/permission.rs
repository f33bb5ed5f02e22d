//! Permission questions: what their options mean, and ready-made ways to answer them.

use std::{fmt, future::Future, pin::Pin, sync::Arc};

use accord_protocol::v1::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestPermissionOutcome,
    RequestPermissionRequest, SelectedPermissionOutcome, ToolCallUpdate, ToolKind,
};
use serde::{Deserialize, Serialize};

/// What choosing an option does to the tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// The tool call may go on.
    Approve,
    /// The tool call is refused.
    Deny,
    /// The option's kind is not known here: show its name, and choose it only when a person did.
    Unknown,
}

impl Effect {
    /// What an option of that kind does.
    #[must_use]
    pub fn of(kind: &PermissionOptionKind) -> Self {
        match kind {
            PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways => Self::Approve,
            PermissionOptionKind::RejectOnce | PermissionOptionKind::RejectAlways => Self::Deny,
            _ => Self::Unknown,
        }
    }
}

/// A permission question as a runner tells it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Approval {
    /// Names the question for as long as the runner lives.
    pub approval_id: String,
    /// The JSON-RPC id of the request, with quotes if it is a string.
    pub request_id: String,
    /// What wants to be run: the call's title, else its kind, else `tool call`.
    pub tool_name: String,
    /// The call, with what the agent says of it.
    pub tool_call: ToolCallUpdate,
    /// What can be chosen, in the agent's order.
    pub options: Vec<ApprovalOption>,
}

/// One of the answers to a permission question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ApprovalOption {
    /// Names the option.
    pub option_id: PermissionOptionId,
    /// What to call it, for people.
    pub name: String,
    /// What choosing it does to the call.
    pub effect: Effect,
    /// The option's kind as the agent says it, which also tells whether the choice is remembered.
    pub kind: PermissionOptionKind,
}

impl Approval {
    pub(crate) fn of(approval_id: String, request_id: String, request: &RequestPermissionRequest) -> Self {
        let call = &request.tool_call;
        let title = call.title.get().filter(|title| !title.is_empty()).cloned();
        let kind = || call.kind.get().map(ToString::to_string);
        Self {
            approval_id,
            request_id,
            tool_name: title.or_else(kind).unwrap_or_else(|| "tool call".to_owned()),
            tool_call: call.clone(),
            options: request.options.iter().map(ApprovalOption::of).collect(),
        }
    }
}

impl ApprovalOption {
    fn of(option: &PermissionOption) -> Self {
        Self {
            option_id: option.option_id.clone(),
            name: option.name.clone(),
            effect: Effect::of(&option.kind),
            kind: option.kind.clone(),
        }
    }
}

/// The outcome that selects the first offered option of `kind`, or cancels if none is offered.
///
/// Options come in any order and with any id, so the kind is all that can be relied on.
#[must_use]
pub fn select(request: &RequestPermissionRequest, kind: &PermissionOptionKind) -> RequestPermissionOutcome {
    option_of(&request.options, kind).map_or(RequestPermissionOutcome::Cancelled, selected)
}

/// The outcome that allows this one tool call. Never an option that is remembered: a grant covers what was shown.
#[must_use]
pub fn allow_once(request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    select(request, &PermissionOptionKind::AllowOnce)
}

/// The outcome that refuses: once if that is offered, else always, else cancelled.
#[must_use]
pub fn reject(request: &RequestPermissionRequest) -> RequestPermissionOutcome {
    let options = &request.options;
    option_of(options, &PermissionOptionKind::RejectOnce)
        .or_else(|| option_of(options, &PermissionOptionKind::RejectAlways))
        .map_or(RequestPermissionOutcome::Cancelled, selected)
}

/// Whether `outcome` may answer `request`: it selects nothing that was not offered.
pub(crate) fn is_offered(request: &RequestPermissionRequest, outcome: &RequestPermissionOutcome) -> bool {
    match outcome {
        RequestPermissionOutcome::Selected(choice) => {
            request.options.iter().any(|option| option.option_id == choice.option_id)
        }
        _ => true,
    }
}

fn option_of<'a>(
    options: &'a [PermissionOption],
    kind: &PermissionOptionKind,
) -> Option<&'a PermissionOptionId> {
    options.iter().find(|option| option.kind == *kind).map(|option| &option.option_id)
}

pub(crate) fn selected(option: &PermissionOptionId) -> RequestPermissionOutcome {
    RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.clone()))
}

type Answer = Pin<Box<dyn Future<Output = RequestPermissionOutcome> + Send>>;
type Ask = dyn Fn(RequestPermissionRequest) -> Answer + Send + Sync;

/// A ready-made way to answer permission questions, for [`Builder::permissions`](crate::Builder::permissions).
#[derive(Clone)]
pub struct Permissions(Rule);

#[derive(Clone)]
enum Rule {
    Deny,
    AllowOnce { kinds: Option<Arc<[ToolKind]>>, otherwise: Box<Rule> },
    Ask(Arc<Ask>),
}

impl Permissions {
    /// Refuses everything.
    #[must_use]
    pub fn deny() -> Self {
        Self(Rule::Deny)
    }

    /// Allows every tool call, once each. For sandboxes.
    #[must_use]
    pub fn allow_all_once() -> Self {
        Self(Rule::AllowOnce { kinds: None, otherwise: Box::new(Rule::Deny) })
    }

    /// Allows tool calls of these kinds, once each; the rest is refused, or left to [`otherwise`](Self::otherwise).
    ///
    /// A tool call that states no kind is not among them.
    #[must_use]
    pub fn allow_once(kinds: impl IntoIterator<Item = ToolKind>) -> Self {
        Self(Rule::AllowOnce { kinds: Some(kinds.into_iter().collect()), otherwise: Box::new(Rule::Deny) })
    }

    /// Asks somebody. The future is dropped when the question is withdrawn.
    #[must_use]
    pub fn ask<F, A>(ask: F) -> Self
    where
        F: Fn(RequestPermissionRequest) -> A + Send + Sync + 'static,
        A: Future<Output = RequestPermissionOutcome> + Send + 'static,
    {
        Self(Rule::Ask(Arc::new(move |request| Box::pin(ask(request)))))
    }

    /// What happens to tool calls that [`allow_once`](Self::allow_once) doesn't cover.
    #[must_use]
    pub fn otherwise(self, next: Self) -> Self {
        match self.0 {
            Rule::AllowOnce { kinds, .. } => Self(Rule::AllowOnce { kinds, otherwise: Box::new(next.0) }),
            covers_everything => Self(covers_everything),
        }
    }

    /// Answers a question.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question; nothing was granted.
    pub async fn answer(&self, request: RequestPermissionRequest) -> RequestPermissionOutcome {
        let mut rule = &self.0;
        loop {
            match rule {
                Rule::Deny => return reject(&request),
                Rule::Ask(ask) => return ask(request).await,
                Rule::AllowOnce { kinds, otherwise } => {
                    let kind = request.tool_call.kind.get();
                    let covered =
                        kinds.as_ref().is_none_or(|kinds| kind.is_some_and(|kind| kinds.contains(kind)));
                    let outcome = allow_once(&request);
                    if covered && outcome != RequestPermissionOutcome::Cancelled {
                        return outcome;
                    }
                    rule = otherwise;
                }
            }
        }
    }
}

impl fmt::Debug for Permissions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Rule::Deny => "Permissions::deny()",
            Rule::AllowOnce { .. } => "Permissions::allow_once(…)",
            Rule::Ask(_) => "Permissions::ask(…)",
        })
    }
}
