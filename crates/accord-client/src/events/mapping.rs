//! From one update to the events it stands for: a pure function without memory.

use accord_protocol::{
    open::{Json, Maybe},
    v1::{
        CompactionUpdate, ContentBlock, ContentChunk, SessionInfoUpdate, SessionUpdate, ToolCall,
        ToolCallContent, ToolCallId, ToolCallStatus, ToolCallUpdate,
    },
};
use serde::Serialize;

use super::{EventKind, Role, ToolEnd};
use crate::diff;

/// The events an update stands for: none, one, or several.
///
/// Chunks that are no text, the user's own chunks and unknown updates give none; they are in the raw message.
#[must_use]
pub fn events_of(update: &SessionUpdate) -> Vec<EventKind> {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) => delta(Role::Assistant, chunk).into_iter().collect(),
        SessionUpdate::AgentThoughtChunk(chunk) => delta(Role::Reasoning, chunk).into_iter().collect(),
        SessionUpdate::ToolCall(call) => tool_call(call),
        SessionUpdate::ToolCallUpdate(update) => tool_call_update(update),
        SessionUpdate::Plan(plan) => vec![EventKind::PlanUpdated { entries: plan.entries.clone() }],
        SessionUpdate::UsageUpdate(usage) => vec![EventKind::UsageUpdated {
            used: usage.used,
            size: usage.size,
            cost: usage.cost.get().cloned(),
        }],
        SessionUpdate::AvailableCommandsUpdate(update) => {
            vec![EventKind::CommandsUpdated { commands: update.available_commands.clone() }]
        }
        SessionUpdate::CurrentModeUpdate(update) => {
            vec![EventKind::ModeUpdated { mode: update.current_mode_id.clone() }]
        }
        SessionUpdate::ConfigOptionUpdate(update) => {
            vec![EventKind::ConfigUpdated { options: update.config_options.clone() }]
        }
        SessionUpdate::SessionInfoUpdate(update) => session_info(update).into_iter().collect(),
        SessionUpdate::Notice(notice) => vec![EventKind::Notice {
            severity: notice.severity.clone(),
            title: notice.title.clone(),
            description: notice.description.get().cloned(),
        }],
        SessionUpdate::CompactionUpdate(update) => vec![compaction(update)],
        SessionUpdate::CompactionSummaryChunk(chunk) => vec![EventKind::CompactionUpdated {
            compaction_id: chunk.compaction_id.clone(),
            status: None,
            summary: chunk.content.as_text().map(str::to_owned),
            error: None,
        }],
        _ => Vec::new(),
    }
}

fn delta(role: Role, chunk: &ContentChunk) -> Option<EventKind> {
    let text = chunk.content.as_text()?;
    Some(EventKind::MessageDelta { role, text: text.to_owned(), message_id: chunk.message_id.get().cloned() })
}

/// A call that arrives already ended has started, too.
fn tool_call(call: &ToolCall) -> Vec<EventKind> {
    let mut events = vec![EventKind::ToolStarted {
        tool_call_id: call.tool_call_id.clone(),
        name: call.name.get().unwrap_or(&call.title).clone(),
        title: call.title.clone(),
        kind: call.kind.clone().unwrap_or_default(),
        input: known(&call.raw_input).cloned(),
    }];
    let content = call.content.as_deref();
    if let Some(status) = call.status.as_ref().and_then(tool_end) {
        events.push(completed(&call.tool_call_id, status, &call.raw_output, content, call));
    }
    events.extend(diffs(&call.tool_call_id, content));
    events
}

fn tool_call_update(update: &ToolCallUpdate) -> Vec<EventKind> {
    let content = update.content.get().map(Vec::as_slice);
    let status = update.status.get().and_then(tool_end);
    let mut events: Vec<EventKind> = status
        .map(|status| completed(&update.tool_call_id, status, &update.raw_output, content, update))
        .into_iter()
        .collect();
    events.extend(diffs(&update.tool_call_id, content));
    events
}

fn tool_end(status: &ToolCallStatus) -> Option<ToolEnd> {
    match status {
        ToolCallStatus::Completed => Some(ToolEnd::Completed),
        ToolCallStatus::Failed => Some(ToolEnd::Failed),
        _ => None,
    }
}

fn completed(
    id: &ToolCallId,
    status: ToolEnd,
    raw_output: &Maybe<Json>,
    content: Option<&[ToolCallContent]>,
    whole: &impl Serialize,
) -> EventKind {
    let output = match (known(raw_output), content) {
        (Some(raw), _) => raw.clone(),
        (None, Some(content)) if !content.is_empty() => as_json(&content),
        _ => as_json(whole),
    };
    EventKind::ToolCompleted { tool_call_id: id.clone(), status, output }
}

fn diffs(id: &ToolCallId, content: Option<&[ToolCallContent]>) -> impl Iterator<Item = EventKind> {
    content.unwrap_or_default().iter().filter_map(|item| match item {
        ToolCallContent::Diff(change) => {
            let path = change.path.to_string_lossy().into_owned();
            let unified_diff =
                diff::unified(&path, change.old_text.get().map(String::as_str), &change.new_text);
            Some(EventKind::DiffUpdated { tool_call_id: id.clone(), path, unified_diff })
        }
        _ => None,
    })
}

/// An update that says nothing the protocol knows, as some agents send by the hundred, is no event.
fn session_info(update: &SessionInfoUpdate) -> Option<EventKind> {
    let change = |field: &Maybe<String>| (!field.is_absent()).then(|| field.get().cloned());
    let (title, updated_at) = (change(&update.title), change(&update.updated_at));
    (title.is_some() || updated_at.is_some()).then_some(EventKind::SessionUpdated { title, updated_at })
}

fn compaction(update: &CompactionUpdate) -> EventKind {
    let text = |blocks: &Vec<ContentBlock>| blocks.iter().filter_map(ContentBlock::as_text).collect();
    EventKind::CompactionUpdated {
        compaction_id: update.compaction_id.clone(),
        status: Some(update.status.clone()),
        summary: update.summary.get().map(text),
        error: update.error.get().cloned(),
    }
}

/// A raw value; null says as little as no value.
fn known(value: &Maybe<Json>) -> Option<&Json> {
    value.get().filter(|json| !json.is_null())
}

fn as_json(value: &impl Serialize) -> Json {
    Json::new(value).unwrap_or_else(|_| serde_json::Value::Null.into())
}
