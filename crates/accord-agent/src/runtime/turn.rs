//! A turn as its backend sees it: what it sends becomes the session's history.

use std::{future::Future, path::Path, sync::Arc};

use accord_protocol::v1::{
    ContentBlock, ContentChunk, MessageId, SessionId, SessionUpdate, ToolCall, ToolCallStatus, ToolCallUpdate,
};
use serde::Serialize;
use tokio::task::JoinHandle;

use super::chain::{Link, Room};
use super::choice::Choice;
use super::handle::SessionHandle;
use super::owner::{Core, raw};
use super::pen::{self, Kind, Pen};
use super::projection::Projection;
use crate::{
    client::{Client, ClientError},
    fence::Fence,
    handler::Error,
    permission::{Decision, Question, announcement},
    store::{Record, TurnEnd},
    tool_calls::{Tells, Tool, asked},
    turn::Turn as WireTurn,
};

/// A running turn. Clones are the same turn, may be used from any thread, and refuse everything once it has ended.
#[derive(Clone, Debug)]
pub struct Turn {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    wire: WireTurn,
    core: Arc<Core>,
    choice: Choice,
    pen: tokio::sync::Mutex<Pen>,
    fence: Fence,
}

impl Turn {
    pub(super) fn new(wire: WireTurn, core: Arc<Core>, choice: Choice) -> Self {
        Self {
            inner: Arc::new(Inner {
                wire,
                core,
                choice,
                pen: tokio::sync::Mutex::default(),
                fence: Fence::default(),
            }),
        }
    }

    /// The session's id.
    pub fn session_id(&self) -> &SessionId {
        &self.inner.core.id
    }

    /// The session, for what outlives the turn.
    pub fn session(&self) -> SessionHandle {
        SessionHandle { core: Arc::clone(&self.inner.core) }
    }

    /// The session's working directory, absolute and without links.
    pub fn cwd(&self) -> &Path {
        &self.inner.core.cwd
    }

    /// What the turn was admitted with; changes meanwhile are for the next one.
    pub fn choice(&self) -> &Choice {
        &self.inner.choice
    }

    /// How much of the session the client sees: pieces as they are written, or only what is whole.
    pub fn projection(&self) -> Projection {
        self.inner.core.projection
    }

    /// The prompt's blocks as they came.
    pub fn blocks(&self) -> &[ContentBlock] {
        self.inner.wire.blocks()
    }

    /// The prompt's text blocks, a line break between them.
    pub fn text(&self) -> String {
        self.inner.wire.text()
    }

    /// Writes a piece of the agent's message. Pieces without anything else between them are one message.
    ///
    /// # Errors
    /// `-32800` after a cancel, so that a backend that only writes `?` stops by itself; or the turn is over.
    ///
    /// # Cancel safety
    /// The piece is written whole or not at all.
    pub async fn say(&self, text: impl Into<String> + Send) -> Result<(), Error> {
        self.unless_cancelled()?;
        self.piece(Kind::Message, &text.into(), None).await
    }

    /// Writes a piece of the agent's reasoning.
    ///
    /// # Errors
    /// As [`say`](Self::say).
    ///
    /// # Cancel safety
    /// As [`say`](Self::say).
    pub async fn think(&self, text: impl Into<String> + Send) -> Result<(), Error> {
        self.unless_cancelled()?;
        self.piece(Kind::Thought, &text.into(), None).await
    }

    /// Ends the message, or the reasoning, that is being written: what is written next is another one.
    ///
    /// # Errors
    /// The turn is over.
    ///
    /// # Cancel safety
    /// The message is ended or not.
    pub async fn end_message(&self) -> Result<(), Error> {
        let _inside = self.inner.fence.enter().ok_or_else(over)?;
        self.lift().await
    }

    /// Anything else that happens; it is stored and sent, as the projection shows it, after a cancel too.
    ///
    /// Text chunks are pieces of the message that their message id names.
    ///
    /// # Errors
    /// The turn is over.
    ///
    /// # Cancel safety
    /// The update is handed over whole or not at all.
    pub async fn update(&self, update: impl Into<SessionUpdate> + Send) -> Result<(), Error> {
        match update.into() {
            SessionUpdate::AgentMessageChunk(chunk) if is_piece(&chunk) => {
                self.piece_of(Kind::Message, &chunk).await
            }
            SessionUpdate::AgentThoughtChunk(chunk) if is_piece(&chunk) => {
                self.piece_of(Kind::Thought, &chunk).await
            }
            update => {
                let _inside = self.inner.fence.enter().ok_or_else(over)?;
                let Inner { wire, core, pen, .. } = &*self.inner;
                let happening = core.happening(update)?.in_turn(wire);
                wire.takes(happening.sent())?;
                let mut pen = pen.lock().await;
                let room = self.room(&pen, happening.bytes()).await?;
                if let Some(message) = pen.lift() {
                    core.chain.put(Room::default(), self.whole(message)?);
                }
                core.take(room, happening);
                Ok(())
            }
        }
    }

    /// Announces a tool call and returns the handle that takes it through its life.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    ///
    /// # Cancel safety
    /// The call is announced or not; a call that was announced ends as failed with the turn.
    pub async fn tool(&self, call: ToolCall) -> Result<Tool<Self>, Error> {
        let asked = asked(&call);
        self.update(call).await?;
        Ok(Tool::new(self.clone(), asked))
    }

    /// Asks the person for permission, once everything that was sent before is on its way. The tool call is announced
    /// first if that has not happened in this turn.
    ///
    /// # Errors
    /// The turn is over. A refusal is not an error, nor is a cancel.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the question.
    pub async fn ask(&self, question: Question) -> Result<Decision, Error> {
        self.drain().await?;
        if !self.is_cancelled() && !self.inner.wire.knows(question.call()) {
            self.update(announcement(question.update())).await?;
            self.drain().await?;
        }
        let Inner { wire, core, .. } = &*self.inner;
        let grant = question.grant();
        let decision = wire.ask(question).await?;
        // What holds for good holds after a restart too.
        if let Some(grant) = grant.and_then(|grant| grant.of(&decision)) {
            core.remember(&grant).await?;
        }
        Ok(decision)
    }

    /// Remembers something of the backend's own. It is on the disk when the turn has ended, however it ends.
    ///
    /// # Errors
    /// The turn is over, or the value does not serialise.
    ///
    /// # Cancel safety
    /// The record is handed over whole or not at all.
    pub async fn record(&self, value: &(impl Serialize + Sync)) -> Result<(), Error> {
        let record = Record::Backend(raw(value)?);
        let _inside = self.inner.fence.enter().ok_or_else(over)?;
        self.inner.core.chain.push(Link::store([record])).await
    }

    /// The tools of the session's MCP servers.
    #[cfg(feature = "mcp")]
    pub fn tools(&self) -> Vec<crate::mcp::Tool> {
        self.inner.core.tools.mounts.tools()
    }

    /// Calls a tool of the session's MCP servers. Whether it may run is the agent's to ask first.
    ///
    /// # Errors
    /// `None` when the turn was cancelled meanwhile, which cancels the call; else why there was no answer.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call.
    #[cfg(feature = "mcp")]
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: serde_json::Value,
    ) -> Result<crate::mcp::CallOutcome, Option<crate::mcp::CallError>> {
        let call = self.inner.core.tools.mounts.call(name, arguments);
        match self.inner.wire.or_cancelled(call).await {
            Ok(outcome) => outcome.map_err(Some),
            Err(_) => Err(None),
        }
    }

    /// The client's files, terminals and forms; what is still asked of it when the turn is cancelled is given up.
    pub fn client(&self) -> Client {
        self.inner.wire.client()
    }

    /// Whether the turn has been cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.inner.wire.is_cancelled()
    }

    /// Returns when the turn is cancelled.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn cancelled(&self) {
        self.inner.wire.cancelled().await;
    }

    /// Waits for something unless the turn is cancelled first.
    ///
    /// # Errors
    /// `-32800`; the future is dropped then.
    ///
    /// # Cancel safety
    /// As the future itself.
    pub async fn or_cancelled<T>(&self, future: impl Future<Output = T> + Send) -> Result<T, Error> {
        Ok(self.inner.wire.or_cancelled(future).await?)
    }

    /// Does something before the turn is answered, also if its handler is dropped.
    pub(super) fn at_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.inner.wire.at_the_end(work)
    }

    /// Ends the turn: what is open ends, what happened is stored, and then the client has been told everything.
    pub(super) async fn end(&self, stop: &str) -> Result<(), Error> {
        let Inner { wire, core, fence, .. } = &*self.inner;
        fence.close().await;
        self.lift().await?;
        core.chain.drain().await?;
        for call in wire.take_open_calls() {
            let failed = ToolCallUpdate::new(call).status(ToolCallStatus::Failed);
            let failed = core.happening(failed.into())?.in_turn(wire);
            core.take(core.chain.reserve(failed.bytes(), 0).await?, failed);
        }
        let end = TurnEnd::new(stop, super::now()).title(core.title()).directories(core.directories.clone());
        Ok(core.chain.commit(Link::store([Record::TurnEnd(end)])).await?)
    }

    /// Puts the prompt into the history. The client knows what it said, so it is not sent.
    pub(super) async fn begin(&self) -> Result<(), Error> {
        let id = MessageId::from(uuid::Uuid::now_v7().to_string());
        let records = self.blocks().iter().map(|block| {
            let chunk = ContentChunk::new(block.clone()).message_id(id.clone());
            Ok(Record::Update(raw(&SessionUpdate::UserMessageChunk(chunk))?))
        });
        let records = records.collect::<Result<Vec<_>, Error>>()?;
        self.inner.core.chain.push(Link::store(records)).await
    }

    async fn drain(&self) -> Result<(), Error> {
        let _inside = self.inner.fence.enter().ok_or_else(over)?;
        self.lift().await?;
        Ok(self.inner.core.chain.drain().await?)
    }

    async fn piece_of(&self, kind: Kind, chunk: &ContentChunk) -> Result<(), Error> {
        match &chunk.content {
            ContentBlock::Text(text) => self.piece(kind, &text.text, chunk.message_id.get()).await,
            _ => Ok(()),
        }
    }

    async fn piece(&self, kind: Kind, text: &str, id: Option<&MessageId>) -> Result<(), Error> {
        let _inside = self.inner.fence.enter().ok_or_else(over)?;
        let Inner { wire, core, pen, .. } = &*self.inner;
        let mut pen = pen.lock().await;
        let room = self.room(&pen, text.len() + size_of::<Link>()).await?;
        let mut last = None;
        for part in pen::parts(text) {
            let (whole, piece) = pen.write(kind, part, id);
            let whole = whole.map(|message| self.whole(message)).transpose()?;
            let piece = core.projection.shows_pieces().then(|| Link::send(piece).in_turn(wire));
            for link in [whole, piece].into_iter().flatten() {
                if let Some(before) = last.replace(link) {
                    core.chain.put(Room::default(), before);
                }
            }
        }
        if let Some(link) = last {
            core.chain.put(room, link);
        }
        Ok(())
    }

    /// Ends what is being written.
    async fn lift(&self) -> Result<(), Error> {
        let mut pen = self.inner.pen.lock().await;
        let room = self.room(&pen, 0).await?;
        if let Some(message) = pen.lift() {
            self.inner.core.chain.put(room, self.whole(message)?);
        }
        Ok(())
    }

    /// Room for what was written so far, and for so much behind it. Everything that has to be waited for is waited for
    /// here: a future that is dropped has taken nothing from the pen, shown nothing and stored nothing. Whoever runs a
    /// turn knows the session, so nothing of it is kept aside.
    async fn room(&self, pen: &Pen, bytes: usize) -> Result<Room, Error> {
        self.inner.core.chain.reserve(pen.waiting() + size_of::<Link>() + bytes, 0).await
    }

    /// A whole message, which is stored, and sent to those who have not seen its pieces.
    fn whole(&self, message: SessionUpdate) -> Result<Link, Error> {
        let mut link = Link::store([Record::Update(raw(&message)?)]).in_turn(&self.inner.wire);
        link.send = (!self.inner.core.projection.shows_pieces()).then_some(message);
        Ok(link)
    }

    fn unless_cancelled(&self) -> Result<(), Error> {
        if self.is_cancelled() { Err(Error::cancelled()) } else { Ok(()) }
    }
}

impl Tells for Turn {
    type Error = Error;

    async fn tell(&self, news: ToolCallUpdate) -> Result<(), Error> {
        self.update(news).await
    }

    async fn decide(&self, question: Question) -> Result<Decision, Error> {
        self.ask(question).await
    }
}

/// Text without anything attached can be joined to the text before it.
fn is_piece(chunk: &ContentChunk) -> bool {
    match &chunk.content {
        ContentBlock::Text(text) => {
            chunk.meta.is_absent() && text.meta.is_absent() && text.annotations.is_absent()
        }
        _ => false,
    }
}

fn over() -> Error {
    ClientError::Ended.into()
}
