//! What real agents use but the stable protocol does not have: forking a session, and models beside configuration
//! options. All of it may change or go.

use std::path::PathBuf;

use crate::{
    method::{Request, Side},
    open::{Maybe, id, record},
    v1::{McpServer, SessionConfigOption, SessionId, SessionModeState, SystemPrompt},
};

record! {
    /// The agent offers `session/fork`.
    pub struct SessionForkCapabilities {}
}

record! {
    /// Begins a session with another one's history (`session/fork`). Needs the agent capability
    /// `sessionCapabilities.fork`.
    pub struct ForkSessionRequest {
        required {
            /// The session whose history it begins with.
            strict session_id: SessionId,
            /// The directory the new session works in (absolute).
            strict cwd: PathBuf,
        }
        optional {
            /// The MCP servers to connect to; null means none, as when absent.
            nullable mcp_servers: Option<Vec<McpServer>>,
            /// Other roots (absolute) it may work in; null means none, as when absent.
            nullable additional_directories: Option<Vec<PathBuf>>,
            /// Instructions beside or in place of the agent's own.
            strict system_prompt: Maybe<SystemPrompt>,
        }
    }
}

record! {
    /// The new session has begun.
    pub struct ForkSessionResponse {
        required {
            /// Which session it is.
            strict session_id: SessionId,
        }
        optional {
            /// Its modes, if it has any.
            lenient modes: Maybe<SessionModeState>,
            /// Its configuration options, if it has any.
            lenient config_options: Maybe<Vec<SessionConfigOption>>,
            /// Its models, if it has any.
            lenient models: Maybe<SessionModelState>,
        }
    }
}

impl Request for ForkSessionRequest {
    const METHOD: &'static str = "session/fork";
    const SERVED_BY: Side = Side::Agent;
    type Answer = ForkSessionResponse;
}

id! {
    /// Names a model; the agent chooses it.
    pub struct ModelId;
}

record! {
    /// The models a session has, and the one it uses. The stable protocol has configuration options for this.
    pub struct SessionModelState {
        required {
            /// The model it uses.
            strict current_model_id: ModelId,
            /// The models it can use.
            lenient available_models: Vec<ModelInfo>,
        }
    }
}

record! {
    /// A model.
    pub struct ModelInfo {
        required {
            /// Which model it is.
            strict model_id: ModelId,
            /// What to call it, for people.
            strict name: String,
        }
        optional {
            /// What it is good for, for people.
            lenient description: Maybe<String>,
        }
    }
}

record! {
    /// Switches a session's model (`session/set_model`).
    pub struct SetSessionModelRequest {
        required {
            /// The session.
            strict session_id: SessionId,
            /// The model, one of those the session has.
            strict model_id: ModelId,
        }
    }
}

record! {
    /// The model is switched.
    pub message SetSessionModelResponse {}
}

impl Request for SetSessionModelRequest {
    const METHOD: &'static str = "session/set_model";
    const SERVED_BY: Side = Side::Agent;
    type Answer = SetSessionModelResponse;
}
