//! The one ordered chain of a session: what happens is stored, then sent, in the order in which it was handed over.

mod outbox;
mod room;

use std::{mem, sync::Arc};

use accord_protocol::v1::{ContentBlock, SessionUpdate};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
};

pub(super) use self::room::Room;

use self::outbox::Outbox;
use self::room::Rooms;
use crate::{
    handler::Error,
    session::Session,
    store::{Lease, Record, StoreError},
    turn::Turn,
};

/// Records are stored together up to about this many bytes.
const BATCH: usize = 256 << 10;

/// The near end of a session's chain.
#[derive(Debug)]
pub(super) struct Chain {
    links: mpsc::UnboundedSender<Link>,
    rooms: Rooms,
    worker: std::sync::Mutex<Option<JoinHandle<Option<Lease>>>>,
}

/// Something that happens to a session.
#[derive(Debug, Default)]
pub(super) struct Link {
    pub(super) records: Vec<Record>,
    pub(super) send: Option<SessionUpdate>,
    /// Whose update it is: nothing of a turn is sent after its answer.
    turn: Option<Turn>,
    told: Option<oneshot::Sender<Result<(), Broken>>>,
    room: Room,
    /// Asks for the header to be written although nothing else is.
    header: bool,
    last: bool,
}

/// The session could not be stored; nothing that came after is stored or sent.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the session could not be stored")]
pub(super) struct Broken(#[source] Arc<StoreError>);

impl From<Broken> for Error {
    fn from(error: Broken) -> Self {
        tracing::error!(error = %error.0, cause = ?std::error::Error::source(&*error.0), "{error}");
        Self::internal(error.to_string())
    }
}

impl Link {
    pub(super) fn send(update: SessionUpdate) -> Self {
        Self { send: Some(update), ..Self::default() }
    }

    pub(super) fn store(records: impl Into<Vec<Record>>) -> Self {
        Self { records: records.into(), ..Self::default() }
    }

    pub(super) fn in_turn(mut self, turn: &Turn) -> Self {
        self.turn = Some(turn.clone());
        self
    }

    /// About how much it holds.
    pub(super) fn bytes(&self) -> usize {
        self.stored() + self.sent() + size_of::<Self>()
    }

    /// About how much of it is sent.
    pub(super) fn sent(&self) -> usize {
        self.send.as_ref().map_or(0, |update| piece(update).max(self.stored()) + size_of::<Self>())
    }

    fn stored(&self) -> usize {
        self.records.iter().map(weight).sum()
    }
}

impl Chain {
    /// A chain over a claimed session, or over none when nothing is stored.
    pub(super) fn start(lease: Option<Lease>) -> Self {
        let (links, queue) = mpsc::unbounded_channel();
        let rooms = Rooms::default();
        let worker = tokio::spawn(work(queue, lease, Outbox::new(rooms.session())));
        Self { links, rooms, worker: Some(worker).into() }
    }

    /// From here on there is somebody to send to. What was handed over before has been kept.
    pub(super) fn connect(&self, session: &Session) {
        self.rooms.connect(session);
    }

    /// The backend has opened the session: what it says from here on waits for the client, and does not fail.
    pub(super) fn opened(&self) {
        self.rooms.opened();
    }

    /// Waits until so much can be handed over, and so much of it sent. After that, [`put`](Self::put) waits for nothing.
    ///
    /// # Errors
    /// A session that is still being opened has said too much already.
    pub(super) async fn reserve(&self, bytes: usize, sent: usize) -> Result<Room, Error> {
        self.rooms.reserve(bytes, sent).await
    }

    /// Hands something over, in the room that was reserved for it.
    pub(super) fn put(&self, room: Room, mut link: Link) {
        link.room = room;
        // The queue is there while this is, unless the chain has ended: then what comes is dropped.
        drop(self.links.send(link));
    }

    /// Hands something over; returns at once while there is room.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve).
    pub(super) async fn push(&self, link: Link) -> Result<(), Error> {
        let room = self.reserve(link.bytes(), link.sent()).await?;
        self.put(room, link);
        Ok(())
    }

    /// Hands something over that is not sent, and waits until it is stored, and everything before it sent.
    pub(super) async fn commit(&self, mut link: Link) -> Result<(), Broken> {
        let (told, done) = oneshot::channel();
        link.told = Some(told);
        let room = self.rooms.inside(link.bytes()).await;
        self.put(room, link);
        // The worker answers every link, also when it is broken; it is gone only with the runtime.
        done.await.unwrap_or_else(|_| Err(Broken(Arc::new(StoreError::Stopped))))
    }

    /// Waits until everything before is stored, and sent if there is somebody to send to.
    pub(super) async fn drain(&self) -> Result<(), Broken> {
        self.commit(Link::default()).await
    }

    /// Puts the header on the disk, behind everything that was handed over.
    pub(super) async fn materialise(&self) -> Result<(), Broken> {
        self.commit(Link { header: true, ..Link::default() }).await
    }

    /// Ends the chain behind everything that was handed over, and gives back the claim. What comes later is dropped.
    pub(super) async fn end(&self) -> (Option<Lease>, Result<(), Broken>) {
        let drained = self.commit(Link { last: true, ..Link::default() }).await;
        let worker = self.worker.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let lease = match worker {
            Some(worker) => worker.await.ok().flatten(),
            None => None,
        };
        (lease, drained)
    }
}

async fn work(
    mut queue: mpsc::UnboundedReceiver<Link>,
    lease: Option<Lease>,
    mut outbox: Outbox,
) -> Option<Lease> {
    let mut broken: Option<Broken> = None;
    loop {
        let first = tokio::select! {
            biased;
            () = outbox.connected() => {
                outbox.empty().await;
                continue;
            }
            first = queue.recv() => first,
        };
        let Some(first) = first else { break };
        let mut bytes = first.bytes();
        let mut links = vec![first];
        while bytes < BATCH
            && !links.last().is_some_and(|link| link.last)
            && let Ok(link) = queue.try_recv()
        {
            bytes += link.bytes();
            links.push(link);
        }
        let last = links.last().is_some_and(|link| link.last);
        let records: Vec<Record> = links.iter_mut().flat_map(|link| mem::take(&mut link.records)).collect();
        if let (Some(lease), None) = (&lease, &broken) {
            let stored = match records.is_empty() {
                false => lease.append(records).await,
                true if links.iter().any(|link| link.header) => lease.materialise().await,
                true => Ok(()),
            };
            broken = stored.err().map(|error| Broken(Arc::new(error)));
        }
        for link in links {
            if let (Some(update), None) = (link.send, &broken) {
                outbox.send(update, link.turn, link.room).await;
            }
            if let Some(told) = link.told {
                drop(told.send(broken.clone().map_or(Ok(()), Err)));
            }
        }
        if last {
            break;
        }
    }
    lease
}

fn weight(record: &Record) -> usize {
    match record {
        Record::Update(raw) | Record::Config(raw) | Record::Backend(raw) | Record::Grant(raw) => {
            raw.get().len()
        }
        Record::TurnEnd(_) => 64,
    }
}

fn piece(update: &SessionUpdate) -> usize {
    match update {
        SessionUpdate::AgentMessageChunk(chunk)
        | SessionUpdate::AgentThoughtChunk(chunk)
        | SessionUpdate::UserMessageChunk(chunk) => match &chunk.content {
            ContentBlock::Text(text) => text.text.len(),
            ContentBlock::Image(image) => image.data.len(),
            ContentBlock::Audio(audio) => audio.data.len(),
            _ => 256,
        },
        _ => 256,
    }
}
