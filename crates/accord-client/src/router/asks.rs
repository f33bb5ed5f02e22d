//! The questions the agent has open: each is answered exactly once, whoever comes first.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use accord_protocol::{
    rpc::Error,
    v1::{
        CreateElicitationRequest, CreateElicitationResponse, ElicitationAction, RequestPermissionOutcome,
        RequestPermissionRequest, RequestPermissionResponse, SessionId,
    },
};
use accord_transport::Call;
use tokio::sync::oneshot;

use crate::permission;

/// One question, never reused: the agent's ids may repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AskKey(pub(crate) u64);

/// What is asked.
#[derive(Debug, Clone)]
#[expect(dead_code, reason = "for the runner")]
pub(crate) enum Question {
    Permission(RequestPermissionRequest),
    Elicitation(CreateElicitationRequest),
}

/// What it is answered.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Permission(RequestPermissionOutcome),
    Elicitation(Result<CreateElicitationResponse, Error>),
}

/// The questions of one connection that have no answer yet.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    asks: BTreeMap<AskKey, Ask>,
    last: u64,
}

#[derive(Debug)]
struct Ask {
    session: Option<SessionId>,
    question: Question,
    call: Call,
    /// Dropped with the entry, which tells whoever works on the answer to stop.
    _settled: oneshot::Sender<()>,
}

/// Resolves once the question has its answer.
pub(crate) type Settled = oneshot::Receiver<()>;

impl Asks {
    /// Registers a question, before anybody is told of it.
    pub(crate) fn open(
        &self,
        session: Option<SessionId>,
        question: Question,
        call: Call,
    ) -> (AskKey, Settled) {
        let mut open = self.lock();
        open.last += 1;
        let key = AskKey(open.last);
        let (settle, settled) = oneshot::channel();
        open.asks.insert(key, Ask { session, question, call, _settled: settle });
        (key, settled)
    }

    #[expect(dead_code, reason = "for the runner")]
    /// What was asked, if it is still open.
    pub(crate) fn question(&self, key: AskKey) -> Option<Question> {
        self.lock().asks.get(&key).map(|ask| ask.question.clone())
    }

    #[expect(dead_code, reason = "for the runner")]
    /// The JSON-RPC id of the question, as text, if it is still open.
    pub(crate) fn request_id(&self, key: AskKey) -> Option<String> {
        self.lock().asks.get(&key).map(|ask| ask.call.id().to_string())
    }

    /// Whether any question of the session is open.
    pub(crate) fn any_of(&self, session: &SessionId) -> bool {
        self.lock().asks.values().any(|ask| ask.session.as_ref() == Some(session))
    }

    /// Answers a question. False if it has its answer already.
    pub(crate) fn answer(&self, key: AskKey, reply: Reply) -> bool {
        let ask = self.lock().asks.remove(&key);
        let answered = ask.is_some();
        if let Some(ask) = ask {
            ask.answer(reply);
        }
        answered
    }

    /// The agent no longer waits for the answer.
    pub(crate) fn withdraw(&self, key: AskKey) -> bool {
        let ask = self.lock().asks.remove(&key);
        let withdrawn = ask.is_some();
        if let Some(ask) = ask {
            ask.call.answer(Err::<(), _>(Error::cancelled()));
        }
        withdrawn
    }

    /// Answers a question with its kind's way of saying that nobody decided. False if it has its answer already.
    pub(crate) fn cancel(&self, key: AskKey) -> bool {
        let ask = self.lock().asks.remove(&key);
        let cancelled = ask.is_some();
        if let Some(ask) = ask {
            let reply = ask.question.cancelled();
            ask.answer(reply);
        }
        cancelled
    }

    /// Answers every open question of the session with its kind's way of saying that nobody decided.
    pub(crate) fn cancel_all(&self, session: &SessionId) {
        self.cancel_where(|ask| ask.session.as_ref() == Some(session));
    }

    /// Answers every open question: the connection is going.
    pub(crate) fn cancel_everything(&self) {
        self.cancel_where(|_| true);
    }

    fn cancel_where(&self, chosen: impl Fn(&Ask) -> bool) {
        // The answers are given after the lock is let go: giving one may wake whoever asks for the next.
        let mut open = self.lock();
        let keys: Vec<AskKey> =
            open.asks.iter().filter(|(_, ask)| chosen(ask)).map(|(key, _)| *key).collect();
        let cancelled: Vec<Ask> = keys.iter().filter_map(|key| open.asks.remove(key)).collect();
        drop(open);
        for ask in cancelled {
            let reply = ask.question.cancelled();
            ask.answer(reply);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ask {
    fn answer(self, reply: Reply) {
        match reply {
            Reply::Permission(outcome) => {
                let outcome = self.question.checked(outcome);
                self.call.answer(Ok::<_, Error>(RequestPermissionResponse::new(outcome)));
            }
            Reply::Elicitation(response) => self.call.answer(response),
        }
    }
}

impl Question {
    /// The answer that says that nobody decided.
    pub(crate) fn cancelled(&self) -> Reply {
        match self {
            Self::Permission(_) => Reply::Permission(RequestPermissionOutcome::Cancelled),
            Self::Elicitation(_) => {
                Reply::Elicitation(Ok(CreateElicitationResponse::new(ElicitationAction::Cancel)))
            }
        }
    }

    /// An outcome may only select what was offered; anything else would be refused by a strict agent, and a turn
    /// that waits for a permission would hang.
    fn checked(&self, outcome: RequestPermissionOutcome) -> RequestPermissionOutcome {
        match self {
            Self::Permission(request) if !permission::is_offered(request, &outcome) => {
                tracing::warn!(session = %request.session_id, "an option was chosen that the agent did not offer");
                RequestPermissionOutcome::Cancelled
            }
            _ => outcome,
        }
    }
}
