//! The tools of the MCP servers that the client mounted in a session, for agents that block.

use serde_json::Value;

use super::{tools::ToolResult, wire::Wire};

/// A tool of an MCP server that is mounted in the session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MountedTool {
    /// The name to call it by, unique in the session.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

/// All of them, as they were listed last.
#[cfg(feature = "mcp")]
pub(super) fn tools(wire: &Wire) -> Vec<MountedTool> {
    let tools = wire.wait(async |turn| turn.tools()).unwrap_or_default();
    let mounted = |tool: crate::mcp::Tool| MountedTool {
        name: tool.name,
        description: tool.description.unwrap_or_default(),
        parameters: tool.input_schema.to().unwrap_or_default(),
    };
    tools.into_iter().map(mounted).collect()
}

/// Runs one of them.
#[cfg(feature = "mcp")]
pub(super) fn call(wire: &Wire, name: &str, arguments: Value) -> ToolResult {
    use accord_protocol::v1::ContentBlock;

    match wire.wait(async |turn| turn.call_tool(name, arguments).await) {
        Some(Ok(outcome)) => {
            let text = outcome.text();
            let data = outcome.structured.as_ref().filter(|_| text.is_empty());
            let output = data.and_then(|data| data.to().ok()).unwrap_or(Value::String(text));
            let result = if outcome.failed { ToolResult::failed(output) } else { ToolResult::ok(output) };
            let shown = outcome.content.into_iter().filter(|block| !matches!(block, ContentBlock::Text(_)));
            shown.fold(result, ToolResult::and_show)
        }
        Some(Err(Some(error))) => ToolResult::failed(error.to_string()),
        Some(Err(None)) | None => ToolResult::failed("cancelled"),
    }
}

/// A build without MCP mounts none.
#[cfg(not(feature = "mcp"))]
pub(super) fn tools(_: &Wire) -> Vec<MountedTool> {
    Vec::new()
}

#[cfg(not(feature = "mcp"))]
pub(super) fn call(_: &Wire, name: &str, _: Value) -> ToolResult {
    ToolResult::failed(format!("no tool is called {name}"))
}
