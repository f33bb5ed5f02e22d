//! A session's life: new, load, resume, list, close, delete.

use std::path::{Path, PathBuf};

use super::{ContentBlock, McpServer, SessionConfigOption, SessionModeState};
use crate::{
    open::{Maybe, id, record, strings},
    unstable::SessionModelState,
};

id! {
    /// Names a session; the agent chooses it.
    ///
    /// See [Session ID](https://agentclientprotocol.com/protocol/v1/session-setup#session-id).
    pub struct SessionId;
}

record! {
    /// Begins a session (`session/new`).
    ///
    /// Sent by the client; answered with [`NewSessionResponse`].
    ///
    /// See [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup#creating-a-session).
    pub struct NewSessionRequest {
        required {
            /// The directory it works in (absolute).
            strict cwd: PathBuf,
            /// The MCP servers to connect to; null means none.
            nullable mcp_servers: Vec<McpServer>,
        }
        optional {
            /// Other roots (absolute) it may work in; null means none, as when absent. Needs the agent capability
            /// `sessionCapabilities.additionalDirectories`.
            nullable additional_directories: Option<Vec<PathBuf>>,
            /// Instructions beside or in place of the agent's own. Needs the agent capability
            /// `sessionCapabilities.systemPrompt`.
            strict system_prompt: Maybe<SystemPrompt>,
        }
    }
}

impl From<PathBuf> for NewSessionRequest {
    /// A session in that directory, without MCP servers.
    fn from(cwd: PathBuf) -> Self {
        Self::new(cwd, [])
    }
}

impl From<&PathBuf> for NewSessionRequest {
    /// A session in that directory, without MCP servers.
    fn from(cwd: &PathBuf) -> Self {
        Self::new(cwd, [])
    }
}

impl From<&Path> for NewSessionRequest {
    /// A session in that directory, without MCP servers.
    fn from(cwd: &Path) -> Self {
        Self::new(cwd, [])
    }
}

record! {
    /// The session has begun.
    ///
    /// The agent's answer to [`NewSessionRequest`].
    ///
    /// See [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup#creating-a-session).
    pub struct NewSessionResponse {
        required {
            /// Which session it is.
            strict session_id: SessionId,
        }
        optional {
            /// Its modes, if it has any.
            lenient modes: Maybe<SessionModeState>,
            /// Its configuration options, if it has any.
            lenient config_options: Maybe<Vec<SessionConfigOption>>,
            /// Its models, as some agents tell them; not in the stable protocol.
            lenient models: Maybe<SessionModelState>,
        }
    }
}

record! {
    /// Opens a session again and replays its history as updates (`session/load`). Needs the agent capability
    /// `loadSession`.
    ///
    /// Sent by the client; answered with [`LoadSessionResponse`].
    ///
    /// See [Loading sessions](https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions).
    pub struct LoadSessionRequest {
        required {
            /// Which session it is.
            strict session_id: SessionId,
            /// The directory it works in (absolute).
            strict cwd: PathBuf,
            /// The MCP servers to connect to; null means none.
            nullable mcp_servers: Vec<McpServer>,
        }
        optional {
            /// Other roots (absolute) it may work in, complete; null means none, as when absent.
            nullable additional_directories: Option<Vec<PathBuf>>,
            /// Instructions beside or in place of the agent's own.
            strict system_prompt: Maybe<SystemPrompt>,
        }
    }
}

record! {
    /// The session is open and its history has been replayed.
    ///
    /// The agent's answer to [`LoadSessionRequest`].
    ///
    /// See [Loading sessions](https://agentclientprotocol.com/protocol/v1/session-setup#loading-sessions).
    pub message LoadSessionResponse {
        optional {
            /// Its modes, if it has any.
            lenient modes: Maybe<SessionModeState>,
            /// Its configuration options, if it has any.
            lenient config_options: Maybe<Vec<SessionConfigOption>>,
            /// Its models, as some agents tell them; not in the stable protocol.
            lenient models: Maybe<SessionModelState>,
        }
    }
}

record! {
    /// Opens a session again without a replay (`session/resume`). Needs the agent capability
    /// `sessionCapabilities.resume`.
    ///
    /// Sent by the client; answered with [`ResumeSessionResponse`].
    ///
    /// See [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup).
    pub struct ResumeSessionRequest {
        required {
            /// Which session it is.
            strict session_id: SessionId,
            /// The directory it works in (absolute).
            strict cwd: PathBuf,
        }
        optional {
            /// The MCP servers to connect to; null means none, as when absent.
            nullable mcp_servers: Option<Vec<McpServer>>,
            /// Other roots (absolute) it may work in, complete; null means none, as when absent.
            nullable additional_directories: Option<Vec<PathBuf>>,
            /// Instructions beside or in place of the agent's own.
            strict system_prompt: Maybe<SystemPrompt>,
        }
    }
}

record! {
    /// The session is open.
    ///
    /// The agent's answer to [`ResumeSessionRequest`].
    ///
    /// See [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup).
    pub message ResumeSessionResponse {
        optional {
            /// Its modes, if it has any.
            lenient modes: Maybe<SessionModeState>,
            /// Its configuration options, if it has any.
            lenient config_options: Maybe<Vec<SessionConfigOption>>,
            /// Its models, as some agents tell them; not in the stable protocol.
            lenient models: Maybe<SessionModelState>,
        }
    }
}

record! {
    /// Asks for one page of the sessions there are (`session/list`). Needs the agent capability
    /// `sessionCapabilities.list`.
    ///
    /// Sent by the client; answered with [`ListSessionsResponse`].
    ///
    /// See [Session list](https://agentclientprotocol.com/protocol/v1/session-list).
    pub message ListSessionsRequest {
        optional {
            /// Only sessions in this directory (absolute).
            strict cwd: Maybe<PathBuf>,
            /// Where the last page ended; absent for the first page.
            strict cursor: Maybe<String>,
        }
    }
}

record! {
    /// One page of the sessions there are.
    ///
    /// The agent's answer to [`ListSessionsRequest`].
    ///
    /// See [Session list](https://agentclientprotocol.com/protocol/v1/session-list).
    pub struct ListSessionsResponse {
        required {
            /// The sessions.
            lenient sessions: Vec<SessionInfo>,
        }
        optional {
            /// Where this page ended; absent or null when it was the last.
            lenient next_cursor: Maybe<String>,
        }
    }
}

record! {
    /// What a list tells about a session.
    ///
    /// See [Session list](https://agentclientprotocol.com/protocol/v1/session-list).
    pub struct SessionInfo {
        required {
            /// Which session it is.
            strict session_id: SessionId,
            /// The directory it works in (absolute).
            strict cwd: PathBuf,
        }
        optional {
            /// Its other roots (absolute), complete.
            lenient additional_directories: Option<Vec<PathBuf>>,
            /// What to call it, for people.
            lenient title: Maybe<String>,
            /// When something last happened in it (ISO 8601).
            lenient updated_at: Maybe<String>,
        }
    }
}

record! {
    /// What has changed about a session: absent fields leave things as they are, null clears them.
    ///
    /// See [Session list](https://agentclientprotocol.com/protocol/v1/session-list).
    pub struct SessionInfoUpdate {
        optional {
            /// What to call it, for people.
            lenient title: Maybe<String>,
            /// When something last happened in it (ISO 8601).
            lenient updated_at: Maybe<String>,
        }
    }
}

record! {
    /// Ends a session's work and frees what it holds (`session/close`); it can be resumed later. Needs the agent
    /// capability `sessionCapabilities.close`.
    ///
    /// Sent by the client; answered with [`CloseSessionResponse`].
    ///
    /// See [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup).
    pub struct CloseSessionRequest {
        required {
            /// Which session it is.
            strict session_id: SessionId,
        }
    }
}

record! {
    /// The session is closed.
    ///
    /// The agent's answer to [`CloseSessionRequest`].
    ///
    /// See [Session setup](https://agentclientprotocol.com/protocol/v1/session-setup).
    pub message CloseSessionResponse {}
}

record! {
    /// Removes a session for good (`session/delete`). Needs the agent capability `sessionCapabilities.delete`.
    ///
    /// Sent by the client; answered with [`DeleteSessionResponse`].
    ///
    /// See [Session delete](https://agentclientprotocol.com/protocol/v1/session-delete).
    pub struct DeleteSessionRequest {
        required {
            /// Which session it is.
            strict session_id: SessionId,
        }
    }
}

record! {
    /// The session is gone.
    ///
    /// The agent's answer to [`DeleteSessionRequest`].
    ///
    /// See [Session delete](https://agentclientprotocol.com/protocol/v1/session-delete).
    pub message DeleteSessionResponse {}
}

record! {
    /// Instructions from the client for a session. Needs the agent capability `sessionCapabilities.systemPrompt`.
    ///
    /// See [Client system prompt](https://agentclientprotocol.com/rfds/client-system-prompt).
    pub struct SystemPrompt {
        required {
            /// How they combine with the agent's own; an agent refuses a mode it does not know.
            strict mode: SystemPromptMode,
            /// The instructions: blocks of text, at least one.
            strict content: Vec<ContentBlock>,
        }
    }
}

strings! {
    /// How the client's instructions combine with the agent's own.
    pub enum SystemPromptMode {
        /// They come on top.
        Append = "append",
        /// They take their place; needs `sessionCapabilities.systemPrompt.mode.override`.
        Override = "override",
    }
}
