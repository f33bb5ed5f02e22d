//! Turns about the session: what it remembers, what it is set to, what a client may be told besides.

use accord_agent::{
    Error,
    protocol::v1::{
        AvailableCommandsUpdate, CompactionStatus, CompactionSummaryChunk, CompactionUpdate, ContentBlock,
        Cost, ImageContent, Notice, NoticeSeverity, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
        SessionUpdate, UsageUpdate,
    },
    runtime::Turn,
};
use serde_json::json;

use crate::subject::backend::{self, Memory};

/// A picture of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(super) async fn history(turn: &Turn, memory: &Memory) -> Result<(), Error> {
    let told = {
        let turns = memory.turns();
        let lines = turns.iter().enumerate().map(|(number, said)| format!("\n{}. {said}", number + 1));
        format!("{} turns{}", turns.len(), lines.collect::<String>())
    };
    turn.say(told).await
}

pub(super) async fn whoami(turn: &Turn) -> Result<(), Error> {
    let choice = turn.choice();
    let route = choice.route.as_ref();
    let (provider, model) = route.map_or(("none", "none"), |route| (&*route.provider, &*route.model));
    let effort = choice.effort.as_deref().unwrap_or("none");
    let mode = choice.mode.as_ref().map_or("none", |mode| mode.as_str());
    turn.say(format!("provider={provider} model={model} effort={effort} mode={mode}")).await
}

pub(super) async fn usage(turn: &Turn, memory: &Memory) -> Result<(), Error> {
    let used = 1000 + 100 * memory.turns().len() as u64;
    turn.update(UsageUpdate::new(used, 200_000_u64).cost(Cost::new(0.25, "USD"))).await
}

pub(super) async fn plan(turn: &Turn) -> Result<(), Error> {
    use PlanEntryStatus::{Completed, InProgress, Pending};
    for statuses in [[InProgress, Pending], [Completed, InProgress], [Completed, Completed]] {
        let entries = ["Look around", "Do it"].into_iter().zip(statuses);
        let entries = entries.map(|(what, status)| PlanEntry::new(what, PlanEntryPriority::Medium, status));
        turn.update(Plan::new(entries.collect::<Vec<_>>())).await?;
    }
    Ok(())
}

pub(super) async fn commands(turn: &Turn) -> Result<(), Error> {
    turn.update(AvailableCommandsUpdate::new(backend::commands())).await
}

pub(super) async fn notice(turn: &Turn, text: String) -> Result<(), Error> {
    turn.update(Notice::new(NoticeSeverity::Info, text)).await
}

/// A compaction from its beginning to its end.
pub(super) async fn compact(turn: &Turn) -> Result<(), Error> {
    let id = format!("compact_{}", uuid::Uuid::now_v7().simple());
    turn.update(CompactionUpdate::new(id.as_str(), CompactionStatus::InProgress)).await?;
    turn.update(CompactionSummaryChunk::new(id.as_str(), ContentBlock::text("So far we talked."))).await?;
    let summary = vec![ContentBlock::text("So far we talked.")];
    turn.update(CompactionUpdate::new(id.as_str(), CompactionStatus::Completed).summary(summary)).await
}

/// The provider no longer takes the stored credentials.
pub(super) fn expired() -> Error {
    Error::auth_required().with_data(json!({ "cause": "the token has expired" }))
}

/// Something is worked out in a child session.
pub(super) async fn child(turn: &Turn, text: String) -> Result<(), Error> {
    let child = turn.session().child().await?;
    child.update(SessionUpdate::agent_message(ContentBlock::text(text))).await?;
    child.end_turn("end_turn").await?;
    turn.say("a child session has worked it out").await
}

/// A picture among the text.
pub(super) async fn image(turn: &Turn) -> Result<(), Error> {
    turn.say("Look: ").await?;
    turn.update(SessionUpdate::agent_message(ContentBlock::from(ImageContent::new(PIXEL, "image/png")))).await
}
