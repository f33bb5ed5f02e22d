//! What a stored session was when it was left, and how it is shown again.

use std::collections::BTreeSet;

use accord_protocol::v1::{SessionUpdate, ToolCallId, ToolCallStatus, ToolCallUpdate};

use super::catalogue::Catalogue;
use super::choice::Choice;
use super::owner::{Past, raw};
use super::projection::Projection;
use super::store_error;
use crate::{
    client::ClientError,
    handler::Error,
    session::Session,
    store::{Lease, Position, Record, Store, TurnEnd},
};

/// Bytes of history in memory at a time.
const PIECE: usize = 256 << 10;

/// Reads a session from its beginning and, if its last turn was interrupted, ends that turn. Says how many records there
/// are after that.
///
/// # Errors
/// The store could not be read or written.
pub(super) async fn past(
    store: &Store,
    lease: &Lease,
    catalogue: &Catalogue,
) -> Result<(Past, usize), Error> {
    let mut count = 0;
    let mut past = Past { choice: Choice::initial(catalogue), ..Past::default() };
    let mut running = false;
    let mut directories = None;
    let mut open = BTreeSet::new();
    let mut next = Some(Position::START);
    while let Some(from) = next {
        let slice = store.read(lease.header().id.clone(), from, PIECE).await.map_err(store_error)?;
        count += slice.records.len();
        for record in &slice.records {
            match record {
                Record::Update(update) => {
                    // An update of a later version is kept and not understood.
                    let Ok(update) = serde_json::from_str(update.get()) else { continue };
                    running = true;
                    note(&update, &mut past, &mut open);
                }
                Record::TurnEnd(end) => {
                    directories.clone_from(&end.directories);
                    running = false;
                    open.clear();
                }
                Record::Config(choice) => {
                    if let Ok(choice) = serde_json::from_str(choice.get()) {
                        past.choice = choice;
                    }
                }
                Record::Grant(grant) => past.grants.extend(serde_json::from_str(grant.get())),
                Record::Backend(_) => {}
            }
        }
        next = slice.next;
    }
    past.choice.fit(catalogue);
    if running {
        let mut records = Vec::new();
        for call in open {
            let failed = ToolCallUpdate::new(call).status(ToolCallStatus::Failed);
            records.push(Record::Update(raw(&SessionUpdate::from(failed))?));
        }
        let end =
            TurnEnd::new("interrupted", super::now()).title(past.title.clone()).directories(directories);
        records.push(Record::TurnEnd(end));
        count += records.len();
        lease.append(records).await.map_err(store_error)?;
    }
    Ok((past, count))
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

/// Sends what happened up to the record of this number, through the projection that sends it live.
///
/// # Errors
/// The store could not be read, or the client is gone.
pub(super) async fn replay(
    store: &Store,
    session: &Session,
    records: usize,
    projection: Projection,
) -> Result<(), Error> {
    let mut left = records;
    let mut next = Some(Position::START);
    while let Some(from) = next {
        let slice = store.read(session.id().clone(), from, PIECE).await.map_err(store_error)?;
        for record in slice.records {
            let Some(fewer) = left.checked_sub(1) else { return Ok(()) };
            left = fewer;
            let Record::Update(update) = record else { continue };
            let Ok(update) = serde_json::from_str::<SessionUpdate>(update.get()) else { continue };
            if let Some(update) = projection.project(update) {
                match session.update(update).await {
                    // It did not reach its client in its time either.
                    Err(error @ ClientError::TooLarge { .. }) => {
                        tracing::warn!(session = %session.id(), %error, "an update was left out of a replay");
                    }
                    sent => sent?,
                }
            }
        }
        next = slice.next;
    }
    Ok(())
}
