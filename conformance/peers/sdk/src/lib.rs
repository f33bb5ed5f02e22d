//! What the floor and the SDK's peers have in common: the updates of each work, from the official schema's types.

use accord_bench::text::text;
use agent_client_protocol_schema::v1::{
    ContentBlock, ContentChunk, Diff, PermissionOption, PermissionOptionKind, RequestPermissionRequest,
    SessionId, SessionNotification, SessionUpdate, TextContent, ToolCall, ToolCallContent, ToolCallStatus,
    ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};

/// A chunk of the agent's message.
pub fn chunk(text: String) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(ContentChunk::new(ContentBlock::Text(TextContent::new(text))))
}

/// The text of a pair of tool updates; made once a work.
pub fn edited() -> String {
    text(2048)
}

/// A tool call and the update that ends it with a diff.
pub fn tool_pair(number: u64, edited: &str) -> [SessionUpdate; 2] {
    let id = format!("call-{number}");
    let diff = ToolCallContent::Diff(Diff::new("/project/src/main.rs", edited.to_owned()));
    let fields = ToolCallUpdateFields::new().status(ToolCallStatus::Completed).content(vec![diff]);
    [
        SessionUpdate::ToolCall(ToolCall::new(id.clone(), "Edit src/main.rs").kind(ToolKind::Edit)),
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, fields)),
    ]
}

/// A permission request with two options.
pub fn permission(session: &SessionId, number: u64) -> RequestPermissionRequest {
    let fields = ToolCallUpdateFields::new().title("Edit src/main.rs".to_owned());
    let options = vec![
        PermissionOption::new("allow", "Allow", PermissionOptionKind::AllowOnce),
        PermissionOption::new("reject", "Reject", PermissionOptionKind::RejectOnce),
    ];
    RequestPermissionRequest::new(
        session.clone(),
        ToolCallUpdate::new(format!("call-{number}"), fields),
        options,
    )
}

/// The bytes of text in an update; a client that counts them has looked at its content.
pub fn text_bytes(notification: &SessionNotification) -> u64 {
    let (SessionUpdate::AgentMessageChunk(chunk)
    | SessionUpdate::AgentThoughtChunk(chunk)
    | SessionUpdate::UserMessageChunk(chunk)) = &notification.update
    else {
        return 0;
    };
    if let ContentBlock::Text(text) = &chunk.content { text.text.len() as u64 } else { 0 }
}
