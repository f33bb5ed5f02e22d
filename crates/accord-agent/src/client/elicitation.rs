//! Asking the person for input: a form to fill in, or an address to visit.

use std::collections::BTreeMap;

use accord_protocol::v1::{
    CompleteElicitationNotification, CreateElicitationRequest, ElicitationAction, ElicitationContentValue,
    ElicitationFormMode, ElicitationId, ElicitationSchema, ElicitationScope, ElicitationUrlMode,
};

use super::{Client, ClientError, form, need};

/// What came of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Filled {
    /// The person filled it in; the values fit the schema.
    Accepted(BTreeMap<String, ElicitationContentValue>),
    /// The person declined.
    Declined,
    /// The person dismissed it, or the turn was cancelled.
    Cancelled,
}

/// What came of an address. That the person has *opened* it does not mean that what happens there is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Visit {
    /// The person agreed to open it.
    Opened,
    /// The person declined.
    Declined,
    /// The person dismissed it, or the turn was cancelled.
    Cancelled,
}

impl Client {
    /// Whether [`fill_in`](Self::fill_in) is offered.
    pub fn has_forms(&self) -> bool {
        self.capabilities().elicitation.get().is_some_and(|elicitation| elicitation.form.is_value())
    }

    /// Whether [`visit`](Self::visit) is offered.
    pub fn has_visits(&self) -> bool {
        self.capabilities().elicitation.get().is_some_and(|elicitation| elicitation.url.is_value())
    }

    /// Asks the person to fill in a form. Never ask for a secret this way: send the person to an address instead.
    ///
    /// Patterns are regular expressions without look-around, back references and Unicode classes; they are found
    /// anywhere in a text unless they are anchored.
    ///
    /// # Errors
    /// [`ClientError::Unsupported`], [`ClientError::Pattern`], what the client said, or [`ClientError::Misfit`] for values that do not fit the
    /// schema. A person who declines is not an error.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn fill_in(
        &self,
        message: impl Into<String> + Send,
        schema: ElicitationSchema,
    ) -> Result<Filled, ClientError> {
        need(self.has_forms(), "elicitation.form")?;
        form::readable(&schema).map_err(|field| ClientError::Pattern { field })?;
        let form = ElicitationFormMode::new(schema.clone(), ElicitationScope::from(self.id()));
        match self.elicit(CreateElicitationRequest::new(message, form)).await? {
            Some(ElicitationAction::Accept(accepted)) => {
                let mut values = accepted.content.into_option().unwrap_or_default();
                form::as_integers(&schema, &mut values);
                form::check(&schema, &values).map_err(|field| ClientError::Misfit { field })?;
                Ok(Filled::Accepted(values))
            }
            Some(ElicitationAction::Cancel) | None => Ok(Filled::Cancelled),
            // An action of a later protocol is not an acceptance.
            Some(_) => Ok(Filled::Declined),
        }
    }

    /// Asks the person to open an address, for what must not pass through the client. It should be an `https` address
    /// without credentials in it. The id is for [`visited`](Self::visited).
    ///
    /// # Errors
    /// [`ClientError::Unsupported`], or what the client said. A person who declines is not an error.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn visit(
        &self,
        message: impl Into<String> + Send,
        url: impl Into<String> + Send,
    ) -> Result<(ElicitationId, Visit), ClientError> {
        need(self.has_visits(), "elicitation.url")?;
        let id = ElicitationId::from(uuid::Uuid::new_v4().to_string());
        let url = ElicitationUrlMode::new(id.clone(), url, ElicitationScope::from(self.id()));
        let visit = match self.elicit(CreateElicitationRequest::new(message, url)).await? {
            Some(ElicitationAction::Accept(_)) => Visit::Opened,
            Some(ElicitationAction::Cancel) | None => Visit::Cancelled,
            Some(_) => Visit::Declined,
        };
        Ok((id, visit))
    }

    /// Tells the client that what the person went to do at an address is done.
    ///
    /// # Errors
    /// [`ClientError::Ended`] when the connection is gone.
    ///
    /// # Cancel safety
    /// The notification is sent whole or not at all.
    pub async fn visited(&self, id: ElicitationId) -> Result<(), ClientError> {
        let done = CompleteElicitationNotification::new(id);
        self.session.wire.handle.notify(&done).await.map_err(ClientError::from)
    }

    /// `None` when the turn was cancelled meanwhile.
    async fn elicit(
        &self,
        request: CreateElicitationRequest,
    ) -> Result<Option<ElicitationAction>, ClientError> {
        match self.call(&request).await {
            Ok(response) => Ok(Some(response.action)),
            Err(ClientError::Cancelled) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
