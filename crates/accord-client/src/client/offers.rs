//! What the agent advertised, checked before anything is sent that needs it.

use std::path::{Path, PathBuf};

use accord_protocol::v1::{
    AgentCapabilities, AuthMethod, AuthMethodId, ContentBlock, InitializeResponse, McpServer,
    PromptCapabilities, SessionCapabilities,
};

use crate::Misuse;

/// A capability by its path in the answer to `initialize`, and whether the agent has it.
type Capability = (&'static str, fn(&AgentCapabilities) -> bool);

pub(crate) const LOAD: Capability = ("loadSession", |agent| agent.load_session == Some(true));
pub(crate) const LIST: Capability =
    ("sessionCapabilities.list", |agent| of_sessions(agent, |sessions| sessions.list.is_value()));
pub(crate) const RESUME: Capability =
    ("sessionCapabilities.resume", |agent| of_sessions(agent, |sessions| sessions.resume.is_value()));
pub(crate) const CLOSE: Capability =
    ("sessionCapabilities.close", |agent| of_sessions(agent, |sessions| sessions.close.is_value()));
pub(crate) const DELETE: Capability =
    ("sessionCapabilities.delete", |agent| of_sessions(agent, |sessions| sessions.delete.is_value()));
pub(crate) const LOGOUT: Capability =
    ("auth.logout", |agent| agent.auth.as_ref().is_some_and(|auth| auth.logout.is_value()));
const DIRECTORIES: Capability = ("sessionCapabilities.additionalDirectories", |agent| {
    of_sessions(agent, |sessions| sessions.additional_directories.is_value())
});
const HTTP: Capability = ("mcpCapabilities.http", |agent| {
    agent.mcp_capabilities.as_ref().is_some_and(|mcp| mcp.http == Some(true))
});
const SSE: Capability =
    ("mcpCapabilities.sse", |agent| agent.mcp_capabilities.as_ref().is_some_and(|mcp| mcp.sse == Some(true)));
const IMAGE: Capability =
    ("promptCapabilities.image", |agent| of_prompts(agent, |prompts| prompts.image == Some(true)));
const AUDIO: Capability =
    ("promptCapabilities.audio", |agent| of_prompts(agent, |prompts| prompts.audio == Some(true)));
const EMBEDDED: Capability = ("promptCapabilities.embeddedContext", |agent| {
    of_prompts(agent, |prompts| prompts.embedded_context == Some(true))
});

fn of_sessions(agent: &AgentCapabilities, has: impl Fn(&SessionCapabilities) -> bool) -> bool {
    agent.session_capabilities.as_ref().is_some_and(has)
}

fn of_prompts(agent: &AgentCapabilities, has: impl Fn(&PromptCapabilities) -> bool) -> bool {
    agent.prompt_capabilities.as_ref().is_some_and(has)
}

/// Refused unless the agent has the capability that `what` needs.
pub(crate) fn require(
    agent: &InitializeResponse,
    what: &'static str,
    (capability, has): Capability,
) -> Result<(), Misuse> {
    let offered = agent.agent_capabilities.as_ref().is_some_and(has);
    if offered { Ok(()) } else { Err(Misuse::Unsupported { what, capability }) }
}

/// Whether the agent has a capability.
pub(crate) fn has(agent: &InitializeResponse, (_, has): Capability) -> bool {
    agent.agent_capabilities.as_ref().is_some_and(has)
}

/// A session's folders and MCP servers: absolute paths, and no more than the agent takes.
pub(crate) fn check_session(
    agent: &InitializeResponse,
    cwd: &Path,
    directories: &[PathBuf],
    servers: &[McpServer],
) -> Result<(), Misuse> {
    check_absolute("cwd", cwd)?;
    if !directories.is_empty() {
        require(agent, "an additional directory", DIRECTORIES)?;
    }
    for directory in directories {
        check_absolute("an additional directory", directory)?;
    }
    for server in servers {
        match server {
            McpServer::Http(_) => require(agent, "an MCP server over http", HTTP)?,
            McpServer::Sse(_) => require(agent, "an MCP server over sse", SSE)?,
            _ => {}
        }
    }
    Ok(())
}

/// A prompt's content: some, and of kinds the agent takes.
pub(crate) fn check_prompt(agent: &InitializeResponse, blocks: &[ContentBlock]) -> Result<(), Misuse> {
    if blocks.is_empty() {
        return Err(Misuse::EmptyPrompt);
    }
    for block in blocks {
        match block {
            ContentBlock::Image(_) => require(agent, "an image in a prompt", IMAGE)?,
            ContentBlock::Audio(_) => require(agent, "audio in a prompt", AUDIO)?,
            ContentBlock::Resource(_) => require(agent, "an embedded resource in a prompt", EMBEDDED)?,
            _ => {}
        }
    }
    Ok(())
}

/// A login that a request can start: advertised, and not one to be run in a terminal.
pub(crate) fn check_auth_method(agent: &InitializeResponse, method: &AuthMethodId) -> Result<(), Misuse> {
    let is_offered =
        |offered: &AuthMethod| matches!(offered, AuthMethod::Agent(agent) if agent.id == *method);
    if agent.auth_methods.iter().flatten().any(is_offered) {
        Ok(())
    } else {
        Err(Misuse::UnknownAuthMethod { method: method.to_string() })
    }
}

pub(crate) fn check_absolute(what: &'static str, path: &Path) -> Result<(), Misuse> {
    if path.is_absolute() { Ok(()) } else { Err(Misuse::RelativePath { what, path: path.to_owned() }) }
}
