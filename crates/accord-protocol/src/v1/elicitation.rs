//! Asking the person for input: a form to fill in, or an address to visit.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, ser::SerializeMap};

use super::{ElicitationContentValue, ElicitationSchema, RequestId, SessionId, ToolCallId};
use crate::open::{FromMembers, Inline, Maybe, Members, from, id, record, tagged};

id! {
    /// Names an elicitation by address; the agent chooses it.
    pub struct ElicitationId;
}

record! {
    /// Asks the person for input (`elicitation/create`). Needs the client capability `elicitation`.
    ///
    /// Sent by the agent; answered with [`CreateElicitationResponse`].
    ///
    /// See [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub struct CreateElicitationRequest {
        required {
            /// What is asked, for people.
            strict message: String,
        }
        inline {
            /// How it is asked.
            mode: ElicitationMode,
        }
    }
}

tagged! {
    /// The ways to ask; the members lie in the request itself.
    ///
    /// See [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub enum ElicitationMode by "mode" {
        /// A form, filled in at the client. Needs `elicitation.form`.
        "form" => Form(ElicitationFormMode),
        /// An address to visit. Needs `elicitation.url`.
        "url" => Url(ElicitationUrlMode),
    }
}

from!(ElicitationMode {
    Form(ElicitationFormMode),
    Url(ElicitationUrlMode),
});

record! {
    /// A form, filled in at the client.
    pub part ElicitationFormMode {
        required {
            /// The form's fields.
            strict requested_schema: ElicitationSchema,
        }
        inline {
            /// What it is asked for.
            scope: ElicitationScope,
        }
    }
}

record! {
    /// An address to visit; the client asks for consent before it opens it.
    pub part ElicitationUrlMode {
        required {
            /// Which elicitation it is, for [`CompleteElicitationNotification`].
            strict elicitation_id: ElicitationId,
            /// The address.
            strict url: String,
        }
        inline {
            /// What it is asked for.
            scope: ElicitationScope,
        }
    }
}

/// What an elicitation is asked for; the members lie in the request itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitationScope {
    /// A session, and perhaps one of its tool calls.
    Session(ElicitationSessionScope),
    /// A request outside of any session, such as `authenticate`.
    Request(ElicitationRequestScope),
}

from!(ElicitationScope {
    Session(ElicitationSessionScope),
    Request(ElicitationRequestScope),
});

impl From<SessionId> for ElicitationScope {
    fn from(session: SessionId) -> Self {
        Self::Session(ElicitationSessionScope::new(session))
    }
}

impl FromMembers for ElicitationScope {
    fn read<'de, D: Deserializer<'de>>(members: &Members, all: D) -> Result<Self, D::Error> {
        if members.get("sessionId").is_none() && members.get("requestId").is_some() {
            ElicitationRequestScope::deserialize(all).map(Self::Request)
        } else {
            ElicitationSessionScope::deserialize(all).map(Self::Session)
        }
    }
}

impl Inline for ElicitationScope {
    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        use crate::open::Record as _;
        match self {
            Self::Session(scope) => scope.write(map),
            Self::Request(scope) => scope.write(map),
        }
    }
}

record! {
    /// A session, and perhaps one of its tool calls.
    pub part ElicitationSessionScope {
        required {
            /// The session.
            strict session_id: SessionId,
        }
        optional {
            /// The tool call; absent and null mean the session as a whole.
            lenient tool_call_id: Maybe<ToolCallId>,
        }
    }
}

record! {
    /// A request outside of any session.
    pub part ElicitationRequestScope {
        required {
            /// The request, by its id.
            strict request_id: RequestId,
        }
    }
}

record! {
    /// What the person did.
    ///
    /// The client's answer to [`CreateElicitationRequest`].
    ///
    /// See [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub struct CreateElicitationResponse {
        inline {
            /// What it was.
            action: ElicitationAction,
        }
    }
}

tagged! {
    /// The things a person can do; the members lie in the response itself.
    ///
    /// See [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub enum ElicitationAction by "action" {
        /// Filled the form in, or consented to visit the address.
        "accept" => Accept(ElicitationAcceptAction),
        /// Said no.
        "decline" => Decline,
        /// Went away without saying anything, or the turn was cancelled.
        "cancel" => Cancel,
    }
}

from!(ElicitationAction {
    Accept(ElicitationAcceptAction),
});

record! {
    /// The person said yes.
    pub part ElicitationAcceptAction {
        optional {
            /// What was filled in, by the names of the form's fields.
            strict content: Maybe<BTreeMap<String, ElicitationContentValue>>,
        }
    }
}

record! {
    /// The person is done at the address (`elicitation/complete`).
    ///
    /// Sent by the agent.
    ///
    /// See [Completion of a visit](https://agentclientprotocol.com/protocol/v1/elicitation#url-completion).
    pub struct CompleteElicitationNotification {
        required {
            /// Which elicitation it is.
            strict elicitation_id: ElicitationId,
        }
    }
}
