//! The questions that were told and have no answer yet, by the ids they were told with.

use std::collections::BTreeMap;

use accord_protocol::v1::{ElicitationId, RequestPermissionOutcome, RequestPermissionRequest};

use super::{AnswerError, Decision};
use crate::{
    elicitation::{Input, InputReply, Wanted},
    permission,
    router::{AskKey, Reply},
};

/// The questions that were told and have no answer yet.
#[derive(Debug, Default)]
pub(super) struct Desk {
    told: BTreeMap<AskKey, Told>,
    /// Visits agreed to and not reported done, with the inputs that asked for them.
    visiting: BTreeMap<ElicitationId, String>,
}

/// A question as it was told.
#[derive(Debug, Clone)]
pub(super) enum Told {
    Approval { id: String, request: RequestPermissionRequest },
    Input(Input),
}

/// Ids count up for as long as the runner lives, whatever the agent does with its own.
pub(super) fn approval_id(key: AskKey) -> String {
    format!("approval-{}", key.0)
}

pub(super) fn input_id(key: AskKey) -> String {
    format!("input-{}", key.0)
}

impl Desk {
    /// Notes a question before it is told.
    pub(super) fn put(&mut self, key: AskKey, told: Told) {
        self.told.insert(key, told);
    }

    /// Takes a question off the desk, if it is still there.
    pub(super) fn take(&mut self, key: AskKey) -> Option<Told> {
        self.told.remove(&key)
    }

    /// Takes all questions off the desk, in the order they were asked.
    pub(super) fn take_all(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told).into_values().collect()
    }

    /// What answers the approval, or why nothing does.
    pub(super) fn decide(&self, id: &str, decision: &Decision) -> Result<(AskKey, Reply), AnswerError> {
        let (key, request) = self
            .told
            .iter()
            .find_map(|(key, told)| match told {
                Told::Approval { id: told, request } if told == id => Some((*key, request)),
                _ => None,
            })
            .ok_or_else(|| AnswerError::NotOpen { id: id.to_owned() })?;
        let outcome = match decision {
            Decision::Option(option) => permission::selected(option),
            Decision::Kind(kind) => permission::select(request, kind),
            Decision::Approve => permission::allow_once(request),
            Decision::Deny => permission::reject(request),
            Decision::Cancel => RequestPermissionOutcome::Cancelled,
        };
        let chose_nothing = outcome == RequestPermissionOutcome::Cancelled && *decision != Decision::Cancel;
        if chose_nothing || !permission::is_offered(request, &outcome) {
            return Err(AnswerError::NoSuchOption { id: id.to_owned() });
        }
        Ok((key, Reply::Permission(outcome)))
    }

    /// What answers the input, or why nothing does.
    pub(super) fn fill(&self, id: &str, reply: InputReply) -> Result<(AskKey, Reply), AnswerError> {
        let (key, input) = self
            .told
            .iter()
            .find_map(|(key, told)| match told {
                Told::Input(input) if input.input_id == id => Some((*key, input)),
                _ => None,
            })
            .ok_or_else(|| AnswerError::NotOpen { id: id.to_owned() })?;
        let response = input.response(reply).map_err(|problems| AnswerError::Problems { problems })?;
        Ok((key, Reply::Elicitation(Ok(response))))
    }

    /// A visit was agreed to: its end may be reported.
    pub(super) fn visits(&mut self, input: &Input) {
        if let Wanted::Visit { elicitation_id, .. } = &input.wanted {
            self.visiting.insert(elicitation_id.clone(), input.input_id.clone());
        }
    }

    /// The input whose visit is reported done, if it was agreed to and not reported before.
    pub(super) fn visited(&mut self, id: &ElicitationId) -> Option<String> {
        self.visiting.remove(id)
    }
}
