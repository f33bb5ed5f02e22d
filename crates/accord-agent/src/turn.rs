//! A turn: what its handler may do, and how it ends.
//!
//! The turn is in its session's table before its handler starts, so a cancel in the next line finds it, and out of it
//! when its answer is written, so a late one finds nothing. Both ways to cancel (`session/cancel` and
//! `$/cancel_request`), the session's close and the connection's end meet in one latch.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use accord_protocol::{
    open::{Maybe, Meta},
    v1::{
        ContentBlock, PromptRequest, SessionId, SessionNotification, SessionUpdate, ToolCall, ToolCallId,
        ToolCallStatus, ToolCallUpdate,
    },
};
use tokio::{task::JoinHandle, time::timeout};
use tokio_util::task::TaskTracker;

use crate::{
    client::{Client, ClientError},
    fence::{Fence, Latch},
    handler::Error,
    permission::{Decision, Question},
    session::{Sending, Session},
    tool_calls::{Tells, Tool, ToolCalls, asked},
};

/// What a session's table knows of its turn.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) request: PromptRequest,
    /// Set when the turn is cancelled.
    pub(crate) cancel: Latch,
    /// Set when the handler starts.
    pub(crate) session: OnceLock<Session>,
    /// Closes before the answer: no update of the turn can follow it.
    pub(crate) fence: Fence,
    pub(crate) calls: Mutex<ToolCalls>,
    /// What has to be done before the answer although the handler may be gone.
    ending: OnceLock<TaskTracker>,
    /// Set once the answer is written.
    pub(crate) answered: Latch,
}

impl Running {
    pub(crate) fn new(request: PromptRequest) -> Self {
        Self {
            request,
            cancel: Latch::default(),
            session: OnceLock::new(),
            fence: Fence::default(),
            calls: Mutex::default(),
            ending: OnceLock::new(),
            answered: Latch::default(),
        }
    }

    /// Returns when what was begun [for the end](Turn::at_the_end) is done, after `grace` in any case.
    pub(crate) async fn ended(&self, grace: Duration) {
        if let Some(ending) = self.ending.get() {
            ending.close();
            drop(timeout(grace, ending.wait()).await);
        }
    }

    fn calls(&self) -> MutexGuard<'_, ToolCalls> {
        // Nothing panics while the lock is held.
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets nothing more through, and ends what the handler left open.
    pub(crate) async fn wind_up(&self) {
        self.fence.close().await;
        let open = self.calls().take_open();
        for call in open {
            let failed = ToolCallUpdate::new(call).status(ToolCallStatus::Failed);
            // In a place of its own, since it is rare.
            if let Some(session) = self.session.get()
                && Box::pin(session.update(failed)).await.is_err()
            {
                break;
            }
        }
    }
}

/// A running turn. Clones are the same turn; after its answer every one of them refuses to send.
#[derive(Clone, Debug)]
pub struct Turn {
    running: Arc<Running>,
    session: Session,
}

impl Turn {
    pub(crate) fn new(running: Arc<Running>, session: Session) -> Self {
        Self { running, session }
    }

    /// The session's id.
    pub fn session_id(&self) -> &SessionId {
        self.session.id()
    }

    /// The session, for what outlives the turn.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The prompt's blocks as they came.
    pub fn blocks(&self) -> &[ContentBlock] {
        &self.running.request.prompt
    }

    /// The `_meta` of the prompt.
    pub fn meta(&self) -> &Maybe<Meta> {
        &self.running.request.meta
    }

    /// The prompt's text blocks, a line break between them.
    pub fn text(&self) -> String {
        let mut texts = self.blocks().iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        let first = texts.next().unwrap_or_default().to_owned();
        texts.fold(first, |text, more| text + "\n" + more)
    }

    /// Sends a piece of the agent's message.
    ///
    /// # Errors
    /// [`ClientError::Cancelled`] after a cancel, so that an agent that only writes `?` stops by itself;
    /// [`ClientError::Ended`] when the turn is over or the connection gone.
    ///
    /// # Cancel safety
    /// The piece is sent whole or not at all.
    pub async fn say(&self, text: impl Into<String> + Send) -> Result<(), ClientError> {
        self.unless_cancelled()?;
        self.send(SessionUpdate::agent_message(ContentBlock::text(text))).done().await
    }

    /// Sends a piece of the agent's reasoning.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    ///
    /// # Cancel safety
    /// The piece is sent whole or not at all.
    pub async fn think(&self, text: impl Into<String> + Send) -> Result<(), ClientError> {
        self.unless_cancelled()?;
        self.send(SessionUpdate::agent_thought(ContentBlock::text(text))).done().await
    }

    /// Sends any update, after a cancel too: what has happened may still be told until the turn is answered.
    ///
    /// # Errors
    /// [`ClientError::Ended`] when the turn is over or the connection gone; [`ClientError::TooLarge`] for an update longer
    /// than a line may be.
    ///
    /// # Cancel safety
    /// The update is sent whole or not at all.
    pub async fn update(&self, update: impl Into<SessionUpdate> + Send) -> Result<(), ClientError> {
        self.send(update.into()).done().await
    }

    /// Announces a tool call and returns the handle that takes it through its life.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    ///
    /// # Cancel safety
    /// The call is announced or not; a call that was announced ends as failed with the turn.
    pub async fn tool(&self, call: ToolCall) -> Result<Tool, ClientError> {
        let tool = Tool::new(self.clone(), asked(&call));
        self.send(call.into()).done().await?;
        Ok(tool)
    }

    /// Asks the person for permission. The tool call is announced first if that has not happened in this turn.
    ///
    /// Only an option that was offered, and that allows, counts as permission.
    ///
    /// # Errors
    /// [`ClientError::Ended`] when the turn is over or the connection gone. A refusal is not an error, nor is a cancel.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub fn ask(&self, question: Question) -> impl Future<Output = Result<Decision, ClientError>> + Send {
        question.ask(self)
    }

    /// The client's files, terminals and forms; what is still asked of it when the turn is cancelled is given up. After the
    /// turn's answer it refuses with [`ClientError::Ended`]: for what outlives the turn there is [`Session::client`].
    pub fn client(&self) -> Client {
        Client::in_turn(self.session.clone(), Arc::clone(&self.running))
    }

    /// Whether the turn has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.running.cancel.is_set()
    }

    /// Returns when the turn is cancelled.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn cancelled(&self) {
        self.running.cancel.wait().await;
    }

    /// Waits for something unless the turn is cancelled first.
    ///
    /// # Errors
    /// [`ClientError::Cancelled`]; the future is dropped then.
    ///
    /// # Cancel safety
    /// As the future itself.
    pub async fn or_cancelled<T>(&self, future: impl Future<Output = T> + Send) -> Result<T, ClientError> {
        self.running.cancel.or(pin!(future)).await.ok_or(ClientError::Cancelled)
    }

    /// Whether an update of about so many bytes can be sent at all.
    pub(crate) fn takes(&self, bytes: usize) -> Result<(), ClientError> {
        let limit = self.session.wire.frame_limit;
        if bytes < limit { Ok(()) } else { Err(ClientError::TooLarge { bytes, limit }) }
    }

    /// Runs what has to be done before the turn is answered, also if its handler is dropped.
    pub(crate) fn at_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.running.ending.get_or_init(TaskTracker::new).spawn(work)
    }

    /// The calls without an end; they count as ended from here on.
    pub(crate) fn take_open_calls(&self) -> Vec<ToolCallId> {
        self.running.calls().take_open()
    }

    pub(crate) fn knows(&self, call: &ToolCallId) -> bool {
        self.running.calls().knows(call)
    }

    pub(crate) fn send(&self, update: SessionUpdate) -> Sending<'_> {
        let Some(inside) = self.running.fence.enter() else { return Sending::Done(Err(ClientError::Ended)) };
        let notification = self.session.notification(update);
        if let Some(sent) = self.session.send_now(&notification) {
            return Sending::Done(sent.map(|()| self.sent(&notification)));
        }
        Sending::Waiting(Box::pin(async move {
            let _inside = inside;
            self.session.send_in_time(&notification).await.map(|()| self.sent(&notification))
        }))
    }

    /// Only what was sent counts: the future may be dropped while it waits.
    fn sent(&self, notification: &SessionNotification) {
        if let Some(seen) = ToolCalls::sight(&notification.update) {
            self.running.calls().observe(seen);
        }
    }

    fn unless_cancelled(&self) -> Result<(), ClientError> {
        if self.is_cancelled() { Err(ClientError::Cancelled) } else { Ok(()) }
    }
}

impl Tells for Turn {
    type Error = ClientError;

    async fn tell(&self, news: ToolCallUpdate) -> Result<(), ClientError> {
        self.update(news).await
    }

    async fn decide(&self, question: Question) -> Result<Decision, ClientError> {
        self.ask(question).await
    }
}

impl From<ClientError> for Error {
    /// For `?` in a handler: the client's own error code would say the wrong thing about the agent's method.
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Cancelled => Self::cancelled(),
            other => Self::internal(other.to_string()),
        }
    }
}
