//! What an agent can do.

use crate::{
    open::{Maybe, record},
    unstable::SessionForkCapabilities,
};

record! {
    /// What an agent can do beyond what every agent must.
    ///
    /// See [Agent capabilities](https://agentclientprotocol.com/protocol/v1/initialization#agent-capabilities).
    pub struct AgentCapabilities {
        optional {
            /// Whether it offers `session/load`; absent means no.
            lenient load_session: Option<bool> = false,
            /// What a prompt may hold beside text and links.
            lenient prompt_capabilities: Option<PromptCapabilities> = {},
            /// Which MCP servers it can connect to beside commands.
            lenient mcp_capabilities: Option<McpCapabilities> = {},
            /// What it can do with sessions.
            lenient session_capabilities: Option<SessionCapabilities> = {},
            /// What it can do about signing in and out.
            lenient auth: Option<AgentAuthCapabilities> = {},
        }
    }
}

record! {
    /// What a prompt may hold beside text and links.
    ///
    /// See [Prompt capabilities](https://agentclientprotocol.com/protocol/v1/initialization#prompt-capabilities).
    pub struct PromptCapabilities {
        optional {
            /// Images; absent means no.
            lenient image: Option<bool> = false,
            /// Sound; absent means no.
            lenient audio: Option<bool> = false,
            /// Resources with their contents; absent means no.
            lenient embedded_context: Option<bool> = false,
        }
    }
}

record! {
    /// Which MCP servers an agent can connect to beside commands.
    ///
    /// See [Agent capabilities](https://agentclientprotocol.com/protocol/v1/initialization#agent-capabilities).
    pub struct McpCapabilities {
        optional {
            /// Those reached by Streamable HTTP; absent means no.
            lenient http: Option<bool> = false,
            /// Those reached by HTTP with server-sent events; absent means no.
            lenient sse: Option<bool> = false,
        }
    }
}

record! {
    /// What an agent can do with sessions; each is offered by an object, `{}` suffices.
    ///
    /// See [Session capabilities](https://agentclientprotocol.com/protocol/v1/initialization#session-capabilities).
    pub struct SessionCapabilities {
        optional {
            /// `session/list`.
            lenient list: Maybe<SessionListCapabilities>,
            /// `session/delete`.
            lenient delete: Maybe<SessionDeleteCapabilities>,
            /// `additionalDirectories` in new, load and resume.
            lenient additional_directories: Maybe<SessionAdditionalDirectoriesCapabilities>,
            /// `session/resume`.
            lenient resume: Maybe<SessionResumeCapabilities>,
            /// `session/close`.
            lenient close: Maybe<SessionCloseCapabilities>,
            /// `systemPrompt` in new, load and resume.
            lenient system_prompt: Maybe<SessionSystemPromptCapabilities>,
            /// `session/fork`, which is not in the stable protocol.
            lenient fork: Maybe<SessionForkCapabilities>,
        }
    }
}

record! {
    /// The agent offers `session/list`.
    pub struct SessionListCapabilities {}
}

record! {
    /// The agent offers `session/delete`.
    pub struct SessionDeleteCapabilities {}
}

record! {
    /// The agent takes `additionalDirectories`.
    pub struct SessionAdditionalDirectoriesCapabilities {}
}

record! {
    /// The agent offers `session/resume`.
    pub struct SessionResumeCapabilities {}
}

record! {
    /// The agent offers `session/close`.
    pub struct SessionCloseCapabilities {}
}

record! {
    /// The agent takes `systemPrompt`, with the mode `append` at least.
    pub struct SessionSystemPromptCapabilities {
        optional {
            /// The modes beside `append`.
            lenient mode: Maybe<SessionSystemPromptModeCapabilities>,
        }
    }
}

record! {
    /// The modes of `systemPrompt` beside `append`.
    pub struct SessionSystemPromptModeCapabilities {
        optional {
            /// `override`.
            lenient r#override: Maybe<SessionSystemPromptOverrideCapabilities>,
        }
    }
}

record! {
    /// The agent takes a `systemPrompt` in place of its own.
    pub struct SessionSystemPromptOverrideCapabilities {}
}

record! {
    /// What an agent can do about signing in and out.
    ///
    /// See [Agent capabilities](https://agentclientprotocol.com/protocol/v1/initialization#agent-capabilities).
    pub struct AgentAuthCapabilities {
        optional {
            /// `logout`.
            lenient logout: Maybe<LogoutCapabilities>,
        }
    }
}

record! {
    /// The agent offers `logout`.
    pub struct LogoutCapabilities {}
}
