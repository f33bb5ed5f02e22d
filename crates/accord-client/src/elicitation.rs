//! Forms to fill in and pages to visit: from the agent's request to questions, and from answers back to its types.

mod answers;
mod questions;
mod ready;

use std::collections::BTreeMap;

use accord_protocol::{
    rpc::Error,
    v1::{
        ClientCapabilities, CreateElicitationRequest, ElicitationCapabilities, ElicitationContentValue,
        ElicitationId, ElicitationMode, ElicitationScope, SessionId, ToolCallId,
    },
};
use serde::{Serialize, Serializer};

pub use answers::{Answers, Problem, ProblemKind};
pub use ready::{Elicitations, InputReply};

/// What the agent wants from a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Input {
    /// Names the input for as long as the runner lives; empty outside a runner.
    pub input_id: String,
    /// The JSON-RPC id of the request, with quotes if it is a string; empty outside a runner.
    pub request_id: String,
    /// The session it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The tool call it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// What to tell the person.
    pub message: String,
    /// What is wanted.
    #[serde(flatten)]
    pub wanted: Wanted,
}

/// What is wanted from a person.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Wanted {
    /// Answers to questions. The person reviews them before they are sent.
    Questions {
        /// The form's title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What the form is for.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The questions.
        questions: Vec<Question>,
        /// What was wrong with the last answers, when they are asked for again.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        problems: Vec<Problem>,
    },
    /// A visit to a page, in a browser of the person's own. Show the whole address and its host, and open it only with
    /// consent.
    Visit {
        /// Names the visit when the agent reports it done.
        elicitation_id: ElicitationId,
        /// The whole address.
        url: String,
        /// The host the address leads to.
        host: String,
        /// Whether the host may be meant to look like another one.
        is_suspicious: bool,
    },
}

/// One question of a form.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Question {
    /// Names the question within its form.
    pub id: String,
    /// A short title; the id if the form gives none.
    pub title: String,
    /// What is asked, in more words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// What an answer looks like.
    pub kind: QuestionKind,
    /// The answers to choose from; any answer of the kind will do if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Whether several answers may be given.
    pub multiple: bool,
    /// Whether an answer must be given.
    pub required: bool,
    /// The answer that stands unless the person changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<ElicitationContentValue>,
    /// What answers are accepted.
    pub limits: AnswerLimits,
}

/// What an answer looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuestionKind {
    /// Text.
    Text,
    /// An e-mail address.
    Email,
    /// A URI.
    Uri,
    /// A date, as `2026-11-30`.
    Date,
    /// A date and time, as `2026-11-30T12:00:00Z`.
    DateTime,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// An answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What is shown.
    pub title: String,
    /// More about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What answers are accepted. Lengths are in characters.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AnswerLimits {
    /// The shortest text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// The longest text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// A regular expression the text must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The least number.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub minimum: Option<f64>,
    /// The greatest number.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "number")]
    pub maximum: Option<f64>,
    /// The fewest answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_items: Option<u64>,
    /// The most answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
}

impl Input {
    /// What the agent wants, as questions or a visit.
    ///
    /// # Errors
    /// What to answer the agent with: `-32602` for a mode, a property type or an address that is not known here, and for
    /// a form that contradicts itself.
    pub fn of(request: &CreateElicitationRequest) -> Result<Self, Error> {
        let (wanted, scope) = match &request.mode {
            ElicitationMode::Form(form) => {
                let schema = &form.requested_schema;
                let wanted = Wanted::Questions {
                    title: schema.title.get().cloned(),
                    description: schema.description.get().cloned(),
                    questions: questions::of(schema)?,
                    problems: Vec::new(),
                };
                (wanted, &form.scope)
            }
            ElicitationMode::Url(visit) => {
                let Some(host) = host_of(&visit.url) else {
                    return Err(Error::invalid_params(
                        "url",
                        "an address that starts with https:// or http://",
                    ));
                };
                let wanted = Wanted::Visit {
                    elicitation_id: visit.elicitation_id.clone(),
                    url: visit.url.clone(),
                    host: host.to_owned(),
                    is_suspicious: is_suspicious(host),
                };
                (wanted, &visit.scope)
            }
            _ => return Err(Error::invalid_params("mode", "form or url")),
        };
        let (session_id, tool_call_id) = match scope {
            ElicitationScope::Session(scope) => {
                (Some(scope.session_id.clone()), scope.tool_call_id.get().cloned())
            }
            _ => (None, None),
        };
        Ok(Self {
            input_id: String::new(),
            request_id: String::new(),
            session_id,
            tool_call_id,
            message: request.message.clone(),
            wanted,
        })
    }

    /// Converts answers to the types the form asks for.
    ///
    /// A question that is not among the answers keeps its default; one with an empty list is left out.
    ///
    /// # Errors
    /// Every [`Problem`] there is. For a visit there are no questions, so nothing is converted.
    pub fn convert(
        &self,
        answers: &Answers,
    ) -> Result<BTreeMap<String, ElicitationContentValue>, Vec<Problem>> {
        match &self.wanted {
            Wanted::Questions { questions, .. } => answers::convert(questions, answers),
            Wanted::Visit { .. } => Ok(BTreeMap::new()),
        }
    }
}

/// The session a request is about, if it is about one.
pub(crate) fn session_of(request: &CreateElicitationRequest) -> Option<&SessionId> {
    let scope = match &request.mode {
        ElicitationMode::Form(form) => &form.scope,
        ElicitationMode::Url(visit) => &visit.scope,
        _ => return None,
    };
    match scope {
        ElicitationScope::Session(scope) => Some(&scope.session_id),
        _ => None,
    }
}

/// Whether the request's mode was offered.
pub(crate) fn is_offered(offered: &ClientCapabilities, request: &CreateElicitationRequest) -> bool {
    let has = |has: fn(&ElicitationCapabilities) -> bool| offered.elicitation.get().is_some_and(has);
    match &request.mode {
        ElicitationMode::Form(_) => has(|modes| modes.form.is_value()),
        ElicitationMode::Url(_) => has(|modes| modes.url.is_value()),
        _ => false,
    }
}

/// Whether any mode was offered.
pub(crate) fn any_offered(offered: &ClientCapabilities) -> bool {
    offered.elicitation.get().is_some_and(|modes| modes.form.is_value() || modes.url.is_value())
}

/// The host of an address that a browser may be sent to; other schemes can run code or read files.
fn host_of(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    // What stands before an `@` only looks like the host.
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[') {
        Some(v6) => v6.split_once(']')?.0,
        None => host.split_once(':').map_or(host, |(host, _)| host),
    };
    let is_plain = !host.is_empty() && !url.chars().any(|c| c.is_control() || c.is_whitespace());
    is_plain.then_some(host)
}

/// Letters of other alphabets, also in their ASCII spelling, can look like a host that one trusts.
fn is_suspicious(host: &str) -> bool {
    !host.is_ascii() || host.split('.').any(|label| label.to_ascii_lowercase().starts_with("xn--"))
}

/// A limit that is whole is written without a fraction.
#[expect(clippy::ref_option, reason = "serde hands a reference to the field")]
fn number<S: Serializer>(number: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small just before")]
    match number {
        Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => serializer.serialize_i64(*whole as i64),
        Some(number) => serializer.serialize_f64(*number),
        None => serializer.serialize_none(),
    }
}
