//! The one ordered chain of a session: what happens is stored, then sent, in the order in which it was handed over.

use std::mem;
use std::sync::Arc;

use accord_protocol::v1::SessionUpdate;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SetOnce, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::handler::Error;
use crate::session::Session;
use crate::store::{Lease, Record, StoreError};
use crate::turn::Turn;

/// How many bytes may wait before whoever hands over waits too.
const ROOM: usize = 1 << 20;
/// Records are stored together up to about this many bytes.
const BATCH: usize = 256 << 10;

/// The near end of a session's chain.
#[derive(Debug)]
pub(super) struct Chain {
    links: mpsc::UnboundedSender<Link>,
    room: Arc<Semaphore>,
    session: Arc<SetOnce<Session>>,
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
    permit: Option<OwnedSemaphorePermit>,
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

    fn bytes(&self) -> usize {
        let stored: usize = self.records.iter().map(weight).sum();
        // What is sent is about as long as what is stored of it; a piece of a message is stored later.
        stored + self.send.as_ref().map_or(0, piece) + size_of::<Self>()
    }
}

impl Chain {
    /// A chain over a claimed session, or over none when nothing is stored.
    pub(super) fn start(lease: Option<Lease>) -> Self {
        let (links, queue) = mpsc::unbounded_channel();
        let session = Arc::new(SetOnce::new());
        let worker = tokio::spawn(work(queue, lease, Arc::clone(&session)));
        Self { links, room: Arc::new(Semaphore::new(ROOM)), session, worker: Some(worker).into() }
    }

    /// From here on there is somebody to send to. What was handed over before has waited.
    pub(super) fn connect(&self, session: &Session) {
        // Whoever comes first is the same session as whoever comes second.
        drop(self.session.set(session.clone()));
    }

    /// Hands something over; returns at once while there is room.
    pub(super) async fn push(&self, mut link: Link) {
        let wanted = u32::try_from(link.bytes().min(ROOM)).unwrap_or(u32::MAX);
        // The semaphore is never closed, nor is the queue while this is there.
        link.permit = Arc::clone(&self.room).acquire_many_owned(wanted).await.ok();
        drop(self.links.send(link));
    }

    /// Hands something over and waits until it is stored and sent, and everything before it.
    pub(super) async fn commit(&self, mut link: Link) -> Result<(), Broken> {
        let (told, done) = oneshot::channel();
        link.told = Some(told);
        self.push(link).await;
        // The worker answers every link, also when it is broken; it is gone only with the runtime.
        done.await.unwrap_or_else(|_| Err(Broken(Arc::new(StoreError::Stopped))))
    }

    /// Waits until everything before is stored and sent.
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
    session: Arc<SetOnce<Session>>,
) -> Option<Lease> {
    let mut broken: Option<Broken> = None;
    while let Some(first) = queue.recv().await {
        let mut links = vec![first];
        let mut bytes = links[0].bytes();
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
                // A client that is gone, or a session that is closed, gets nothing more; the store still gets all.
                drop(match link.turn {
                    Some(turn) => turn.update(update).await,
                    None => session.wait().await.update(update).await,
                });
            }
            if let Some(told) = link.told {
                drop(told.send(broken.clone().map_or(Ok(()), Err)));
            }
            drop(link.permit);
        }
        if last {
            break;
        }
    }
    lease
}

fn weight(record: &Record) -> usize {
    match record {
        Record::Update(raw) | Record::Config(raw) | Record::Backend(raw) => raw.get().len(),
        Record::TurnEnd(_) => 64,
    }
}

fn piece(update: &SessionUpdate) -> usize {
    use accord_protocol::v1::ContentBlock;
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
