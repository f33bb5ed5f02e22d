//! What a stored session was when it was left, and how it is shown again.

use std::collections::BTreeSet;

use accord_protocol::v1::{SessionUpdate, ToolCallId, ToolCallStatus, ToolCallUpdate};

use super::catalogue::Catalogue;
use super::choice::Choice;
use super::owner::{Past, raw};
use super::projection::Projection;
use super::store_error;
use super::turn::Turn;
use crate::handler::Error;
use crate::session::Session;
use crate::store::{Lease, Position, Record, Store, TurnEnd};

/// Bytes of history in memory at a time.
const PIECE: usize = 256 << 10;

/// Reads a session from its beginning and, if its last turn was interrupted, ends that turn.
///
/// # Errors
/// The store could not be read or written.
pub(super) async fn past(store: &Store, lease: &Lease, catalogue: &Catalogue) -> Result<Past, Error> {
    let mut past = Past { choice: Choice::initial(catalogue), ..Past::default() };
    let mut running = false;
    let mut open = BTreeSet::new();
    let mut next = Some(Position::START);
    while let Some(from) = next {
        let slice = store.read(lease.header().id.clone(), from, PIECE).await.map_err(store_error)?;
        for record in &slice.records {
            match record {
                Record::Update(update) => {
                    // An update of a later version is kept and not understood.
                    let Ok(update) = serde_json::from_str(update.get()) else { continue };
                    running = true;
                    note(&update, &mut past, &mut open);
                }
                Record::TurnEnd(_) => {
                    running = false;
                    open.clear();
                }
                Record::Config(choice) => {
                    if let Ok(choice) = serde_json::from_str(choice.get()) {
                        past.choice = choice;
                    }
                }
                Record::Backend(_) => {}
            }
        }
        next = slice.next;
    }
    if running {
        let mut records = Vec::new();
        for call in open {
            let failed = ToolCallUpdate::new(call).status(ToolCallStatus::Failed);
            records.push(Record::Update(raw(&SessionUpdate::from(failed))?));
        }
        let end = TurnEnd::new("interrupted", super::now()).title(past.title.clone());
        records.push(Record::TurnEnd(end));
        lease.append(records).await.map_err(store_error)?;
    }
    Ok(past)
}

fn note(update: &SessionUpdate, past: &mut Past, open: &mut BTreeSet<ToolCallId>) {
    let (call, status) = match update {
        SessionUpdate::ToolCall(call) => {
            (&call.tool_call_id, call.status.as_ref().or(Some(&ToolCallStatus::Pending)))
        }
        SessionUpdate::ToolCallUpdate(call) => (&call.tool_call_id, call.status.get()),
        SessionUpdate::SessionInfoUpdate(info) => {
            if !info.title.is_absent() {
                past.title = info.title.clone().into_option();
            }
            return;
        }
        _ => return,
    };
    match status {
        Some(ToolCallStatus::Completed | ToolCallStatus::Failed) => {
            open.remove(call);
        }
        Some(_) => {
            open.insert(call.clone());
        }
        None => {}
    }
}

/// Sends everything that happened, through the projection that sends it live.
///
/// # Errors
/// The store could not be read, or the client is gone.
pub(super) async fn replay(store: &Store, session: &Session, projection: Projection) -> Result<(), Error> {
    let mut next = Some(Position::START);
    while let Some(from) = next {
        let slice = store.read(session.id().clone(), from, PIECE).await.map_err(store_error)?;
        for record in slice.records {
            let Record::Update(update) = record else { continue };
            let Ok(update) = serde_json::from_str::<SessionUpdate>(update.get()) else { continue };
            if let Some(update) = projection.project(update) {
                session.update(update).await?;
            }
        }
        next = slice.next;
    }
    Ok(())
}

/// Sees to it that a turn gets its end, also when its backend had to be dropped.
pub(super) struct EndOfTurn(Option<Turn>);

impl EndOfTurn {
    pub(super) fn new(turn: Turn) -> Self {
        Self(Some(turn))
    }

    pub(super) async fn reached(mut self, stop: &str) -> Result<(), Error> {
        match self.0.take() {
            Some(turn) => turn.end(stop).await,
            None => Ok(()),
        }
    }
}

impl Drop for EndOfTurn {
    fn drop(&mut self) {
        if let (Some(turn), Ok(runtime)) = (self.0.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                if let Err(error) = turn.end("cancelled").await {
                    tracing::warn!(%error, "an abandoned turn was not ended cleanly");
                }
            });
        }
    }
}
