//! The questions the agent has open: each is answered exactly once, whoever comes first.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use accord_protocol::{
    rpc::Error,
    v1::{
        CreateElicitationRequest, CreateElicitationResponse, ElicitationAction, PermissionOptionId,
        RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SessionId,
    },
};
use accord_transport::{Call, LaneSender};
use tokio::sync::oneshot;

use crate::session::Item;

/// One question, never reused: the agent's ids may repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AskKey(pub(crate) u64);

/// What is asked.
#[derive(Debug, Clone)]
pub(crate) enum Question {
    Permission(RequestPermissionRequest),
    /// A permission whose request went to a handler: what there is to choose.
    Handled(Vec<PermissionOptionId>),
    Elicitation(CreateElicitationRequest),
}

/// What it is answered.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Permission(RequestPermissionOutcome),
    Elicitation(Result<CreateElicitationResponse, Error>),
}

/// How a question was settled.
#[derive(Debug, Clone)]
pub(crate) enum Settlement {
    /// Somebody answered.
    Answered(Reply),
    /// Nobody will: the turn was cancelled, the session closed, or the connection ended.
    Cancelled,
    /// The agent took it back.
    Withdrawn,
}

/// The questions of one connection that have no answer yet.
#[derive(Debug)]
pub(crate) struct Asks {
    open: Mutex<Open>,
    /// Where questions and their answers are told, in order with the updates, if somebody wants that.
    feed: Option<LaneSender<Item>>,
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

/// The answers of questions that are settled, not sent yet.
#[derive(Debug)]
#[must_use = "the agent waits for them"]
pub(crate) struct Answers(Vec<Answer>);

#[derive(Debug)]
struct Answer {
    call: Call,
    reply: Result<Reply, Error>,
}

/// Resolves once the question has its answer.
pub(crate) type Settled = oneshot::Receiver<()>;

impl Asks {
    pub(crate) fn new(feed: Option<LaneSender<Item>>) -> Self {
        Self { open: Mutex::default(), feed }
    }

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

    /// Tells of a question in order with the updates, if somebody wants that. False if nobody does.
    pub(crate) fn tell(&self, key: AskKey, bytes: usize) -> bool {
        if let Some(feed) = &self.feed {
            feed.push(Item::Asked(key), bytes);
        }
        self.feed.is_some()
    }

    /// What was asked, if it is still open.
    pub(crate) fn look<T>(&self, key: AskKey, look: impl FnOnce(&Question, &Call) -> T) -> Option<T> {
        self.lock().asks.get(&key).map(|ask| look(&ask.question, &ask.call))
    }

    /// Whether any question of the session is open.
    pub(crate) fn any_of(&self, session: &SessionId) -> bool {
        self.lock().asks.values().any(|ask| ask.session.as_ref() == Some(session))
    }

    /// Answers a question. False if it has its answer already.
    pub(crate) fn answer(&self, key: AskKey, reply: Reply) -> bool {
        self.give(key, |question| {
            let reply = question.checked(reply);
            (Settlement::Answered(reply.clone()), Ok(reply))
        })
    }

    /// The agent no longer waits for the answer.
    pub(crate) fn withdraw(&self, key: AskKey) -> bool {
        self.give(key, |_| (Settlement::Withdrawn, Err(Error::cancelled())))
    }

    /// Answers a question with its kind's way of saying that nobody decided. False if it has its answer already.
    pub(crate) fn cancel(&self, key: AskKey) -> bool {
        self.give(key, |question| (Settlement::Cancelled, Ok(question.cancelled())))
    }

    /// Answers every open question of the session with its kind's way of saying that nobody decided.
    pub(crate) fn cancel_all(&self, session: &SessionId) {
        self.settle_all(session).give();
    }

    /// Settles every open question of the session as [`Asks::cancel_all`] does, and keeps the answers back until they are
    /// given: an agent that hears of a cancel takes its questions back at once, and must not come first.
    pub(crate) fn settle_all(&self, session: &SessionId) -> Answers {
        self.settle_where(|ask| ask.session.as_ref() == Some(session))
    }

    /// Answers every open question: the connection is going.
    pub(crate) fn cancel_everything(&self) {
        self.settle_where(|_| true).give();
    }

    fn give(
        &self,
        key: AskKey,
        settle: impl FnOnce(&Question) -> (Settlement, Result<Reply, Error>),
    ) -> bool {
        self.settle(key, settle).map(Answer::give).is_some()
    }

    fn settle_where(&self, chosen: impl Fn(&Ask) -> bool) -> Answers {
        let chosen = |(key, ask): (&AskKey, &Ask)| chosen(ask).then_some(*key);
        let keys: Vec<AskKey> = self.lock().asks.iter().filter_map(chosen).collect();
        let settle = |key| self.settle(key, |question| (Settlement::Cancelled, Ok(question.cancelled())));
        Answers(keys.into_iter().filter_map(settle).collect())
    }

    /// Takes a question out, and tells how it was settled before anybody gives the answer, so that whatever the agent says
    /// because of it is told later. The answer is given after the lock is let go: giving it may wake whoever asks for the
    /// next. Nothing if the question has its answer already.
    fn settle(
        &self,
        key: AskKey,
        settle: impl FnOnce(&Question) -> (Settlement, Result<Reply, Error>),
    ) -> Option<Answer> {
        let Ask { question, call, .. } = self.lock().asks.remove(&key)?;
        let (settlement, reply) = settle(&question);
        if let Some(feed) = &self.feed {
            feed.push(Item::Settled(key, settlement), 0);
        }
        Some(Answer { call, reply })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answers {
    /// Sends them to the agent.
    pub(crate) fn give(self) {
        self.0.into_iter().for_each(Answer::give);
    }
}

impl Answer {
    fn give(self) {
        match self.reply {
            Ok(Reply::Permission(outcome)) => {
                self.call.answer(Ok::<_, Error>(RequestPermissionResponse::new(outcome)));
            }
            Ok(Reply::Elicitation(response)) => self.call.answer(response),
            Err(error) => self.call.answer(Err::<(), _>(error)),
        }
    }
}

impl Question {
    pub(crate) fn handled(request: &RequestPermissionRequest) -> Self {
        Self::Handled(request.options.iter().map(|option| option.option_id.clone()).collect())
    }

    /// The answer that says that nobody decided.
    pub(crate) fn cancelled(&self) -> Reply {
        match self {
            Self::Permission(_) | Self::Handled(_) => Reply::Permission(RequestPermissionOutcome::Cancelled),
            Self::Elicitation(_) => {
                Reply::Elicitation(Ok(CreateElicitationResponse::new(ElicitationAction::Cancel)))
            }
        }
    }

    /// An outcome may only select what was offered; anything else would be refused by a strict agent, and a turn
    /// that waits for a permission would hang.
    fn checked(&self, reply: Reply) -> Reply {
        let Reply::Permission(RequestPermissionOutcome::Selected(choice)) = &reply else { return reply };
        let is_offered = match self {
            Self::Permission(request) => {
                request.options.iter().any(|option| option.option_id == choice.option_id)
            }
            Self::Handled(offered) => offered.contains(&choice.option_id),
            Self::Elicitation(_) => true,
        };
        if is_offered {
            return reply;
        }
        tracing::warn!("an option was chosen that the agent did not offer");
        self.cancelled()
    }
}
