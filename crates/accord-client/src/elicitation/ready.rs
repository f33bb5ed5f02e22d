//! A ready-made way to put forms and visits to a person.

use std::{
    collections::BTreeSet,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
};

use accord_protocol::{
    rpc::Error,
    v1::{
        CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
        ElicitationAcceptAction, ElicitationAction, ElicitationCapabilities, ElicitationFormCapabilities,
        ElicitationId, ElicitationUrlCapabilities,
    },
};

use super::{Answers, Input, Problem, Wanted};

/// What a person made of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InputReply {
    /// The answers to a form's questions.
    Submit(Answers),
    /// Consent to a visit.
    Visit,
    /// No.
    Decline,
    /// No decision.
    Cancel,
}

type Reply = Pin<Box<dyn Future<Output = InputReply> + Send>>;
type Ask = Arc<dyn Fn(Input) -> Reply + Send + Sync>;
type Done = Arc<dyn Fn(ElicitationId) + Send + Sync>;

/// A ready-made way to put forms and visits to a person, for [`Builder::elicitations`](crate::Builder::elicitations).
///
/// Answers are converted and checked before they go out; while they have problems the form is put again, with them.
#[derive(Clone, Default)]
pub struct Elicitations {
    form: Option<Ask>,
    visit: Option<Ask>,
    done: Option<Done>,
    /// Visits agreed to and not reported done.
    visiting: Arc<Mutex<BTreeSet<ElicitationId>>>,
}

impl Elicitations {
    /// Puts forms with `ask`. The future is dropped when the form is withdrawn.
    #[must_use]
    pub fn forms<F, R>(ask: F) -> Self
    where
        F: Fn(Input) -> R + Send + Sync + 'static,
        R: Future<Output = InputReply> + Send + 'static,
    {
        Self { form: Some(Arc::new(move |input| Box::pin(ask(input)))), ..Self::default() }
    }

    /// Puts visits with `ask`, which shows the address and asks for consent; `done` is told when the agent reports one
    /// done.
    #[must_use]
    pub fn visits<F, R>(mut self, ask: F, done: impl Fn(ElicitationId) + Send + Sync + 'static) -> Self
    where
        F: Fn(Input) -> R + Send + Sync + 'static,
        R: Future<Output = InputReply> + Send + 'static,
    {
        self.visit = Some(Arc::new(move |input| Box::pin(ask(input))));
        self.done = Some(Arc::new(done));
        self
    }

    pub(crate) fn capabilities(&self) -> ElicitationCapabilities {
        let mut capabilities = ElicitationCapabilities::new();
        if self.form.is_some() {
            capabilities = capabilities.form(ElicitationFormCapabilities::new());
        }
        if self.visit.is_some() {
            capabilities = capabilities.url(ElicitationUrlCapabilities::new());
        }
        capabilities
    }

    pub(crate) async fn answer(
        &self,
        request: CreateElicitationRequest,
    ) -> Result<CreateElicitationResponse, Error> {
        let mut input = Input::of(&request)?;
        let ask = match &input.wanted {
            Wanted::Questions { .. } => &self.form,
            Wanted::Visit { .. } => &self.visit,
        };
        let Some(ask) = ask else {
            return Err(Error::invalid_params("mode", "a mode that this client offers"));
        };
        loop {
            match input.response(ask(input.clone()).await) {
                Ok(response) => {
                    self.note_visit(&input, &response);
                    return Ok(response);
                }
                Err(found) => {
                    if let Wanted::Questions { problems, .. } = &mut input.wanted {
                        *problems = found;
                    }
                }
            }
        }
    }

    /// Reports of visits that nobody agreed to, or that were reported before, are ignored.
    pub(crate) fn complete(&self, done: CompleteElicitationNotification) {
        let known = self.visiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&done.elicitation_id);
        if let (true, Some(tell)) = (known, &self.done) {
            tell(done.elicitation_id);
        }
    }

    fn note_visit(&self, input: &Input, response: &CreateElicitationResponse) {
        if let (Wanted::Visit { elicitation_id, .. }, ElicitationAction::Accept(_)) =
            (&input.wanted, &response.action)
        {
            self.visiting.lock().unwrap_or_else(PoisonError::into_inner).insert(elicitation_id.clone());
        }
    }
}

impl Input {
    /// The answer to the agent, or what is wrong with the person's answers.
    pub(crate) fn response(&self, reply: InputReply) -> Result<CreateElicitationResponse, Vec<Problem>> {
        let action = match (reply, &self.wanted) {
            (InputReply::Submit(answers), Wanted::Questions { .. }) => {
                ElicitationAction::Accept(ElicitationAcceptAction::new().content(self.convert(&answers)?))
            }
            // A form that is agreed to is sent with its defaults.
            (InputReply::Visit, Wanted::Questions { .. }) => ElicitationAction::Accept(
                ElicitationAcceptAction::new().content(self.convert(&Answers::new())?),
            ),
            (InputReply::Submit(_) | InputReply::Visit, Wanted::Visit { .. }) => {
                ElicitationAction::Accept(ElicitationAcceptAction::new())
            }
            (InputReply::Decline, _) => ElicitationAction::Decline,
            (InputReply::Cancel, _) => ElicitationAction::Cancel,
        };
        Ok(CreateElicitationResponse::new(action))
    }
}

impl fmt::Debug for Elicitations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elicitations")
            .field("forms", &self.form.is_some())
            .field("visits", &self.visit.is_some())
            .finish_non_exhaustive()
    }
}
