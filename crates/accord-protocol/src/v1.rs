//! Version 1 of the protocol: every type under its schema's name, a file a subject, and the table of methods.

mod agent_capabilities;
mod auth;
mod cancel;
mod client_capabilities;
mod command;
mod compaction;
mod config;
mod content;
mod elicitation;
mod ext;
mod form;
mod fs;
mod initialize;
mod mcp;
mod mode;
mod notice;
mod permission;
mod plan;
mod prompt;
mod resource;
mod session;
mod subagent;
mod terminal;
mod tool_call;
mod update;
mod usage;

pub use agent_capabilities::*;
pub use auth::*;
pub use cancel::*;
pub use client_capabilities::*;
pub use command::*;
pub use compaction::*;
pub use config::*;
pub use content::*;
pub use elicitation::*;
pub use ext::*;
pub use form::*;
pub use fs::*;
pub use initialize::*;
pub use mcp::*;
pub use mode::*;
pub use notice::*;
pub use permission::*;
pub use plan::*;
pub use prompt::*;
pub use resource::*;
pub use session::*;
pub use subagent::*;
pub use terminal::*;
pub use tool_call::*;
pub use update::*;
pub use usage::*;

pub use crate::rpc::{Error, ErrorCode, Id as RequestId};

use crate::method::{Notification, ServedBy, notifications, requests};

requests! {
    /// A request that a client sends and an agent answers.
    #[expect(clippy::large_enum_variant, reason = "one at a time, on its way to a handler")]
    pub enum ClientRequest served by Agent {
        "initialize"                Initialize(InitializeRequest)                 => InitializeResponse,
        "authenticate"              Authenticate(AuthenticateRequest)             => AuthenticateResponse,
        "logout"                    Logout(LogoutRequest)                         => LogoutResponse,
        "session/new"               NewSession(NewSessionRequest)                 => NewSessionResponse,
        "session/load"              LoadSession(LoadSessionRequest)               => LoadSessionResponse,
        "session/resume"            ResumeSession(ResumeSessionRequest)           => ResumeSessionResponse,
        "session/list"              ListSessions(ListSessionsRequest)             => ListSessionsResponse,
        "session/close"             CloseSession(CloseSessionRequest)             => CloseSessionResponse,
        "session/delete"            DeleteSession(DeleteSessionRequest)           => DeleteSessionResponse,
        "session/set_mode"          SetMode(SetSessionModeRequest)                => SetSessionModeResponse,
        "session/set_config_option" SetConfigOption(SetSessionConfigOptionRequest) => SetSessionConfigOptionResponse,
        "session/prompt"            Prompt(PromptRequest)                         => PromptResponse,
    }
}

requests! {
    /// A request that an agent sends and a client answers.
    pub enum AgentRequest served by Client {
        "session/request_permission" RequestPermission(RequestPermissionRequest) => RequestPermissionResponse,
        "fs/read_text_file"          ReadTextFile(ReadTextFileRequest)           => ReadTextFileResponse,
        "fs/write_text_file"         WriteTextFile(WriteTextFileRequest)         => WriteTextFileResponse,
        "terminal/create"            CreateTerminal(CreateTerminalRequest)       => CreateTerminalResponse,
        "terminal/output"            TerminalOutput(TerminalOutputRequest)       => TerminalOutputResponse,
        "terminal/wait_for_exit"     WaitForTerminalExit(WaitForTerminalExitRequest) => WaitForTerminalExitResponse,
        "terminal/kill"              KillTerminal(KillTerminalRequest)           => KillTerminalResponse,
        "terminal/release"           ReleaseTerminal(ReleaseTerminalRequest)     => ReleaseTerminalResponse,
        "elicitation/create"         CreateElicitation(CreateElicitationRequest) => CreateElicitationResponse,
    }
}

notifications! {
    /// A notification that a client sends.
    pub enum ClientNotification {
        "session/cancel"   Cancel(CancelNotification),
        "$/cancel_request" CancelRequest(CancelRequestNotification),
    }
}

notifications! {
    /// A notification that an agent sends.
    #[expect(clippy::large_enum_variant, reason = "one at a time, on its way to a handler")]
    pub enum AgentNotification {
        "session/update"       Session(SessionNotification),
        "elicitation/complete" CompleteElicitation(CompleteElicitationNotification),
        "$/cancel_request"     CancelRequest(CancelRequestNotification),
    }
}

impl Notification for CancelNotification {
    const METHOD: &'static str = "session/cancel";
    const SERVED_BY: ServedBy = ServedBy::Agent;
}

impl Notification for SessionNotification {
    const METHOD: &'static str = "session/update";
    const SERVED_BY: ServedBy = ServedBy::Client;
}

impl Notification for CompleteElicitationNotification {
    const METHOD: &'static str = "elicitation/complete";
    const SERVED_BY: ServedBy = ServedBy::Client;
}

impl Notification for CancelRequestNotification {
    const METHOD: &'static str = "$/cancel_request";
    const SERVED_BY: ServedBy = ServedBy::Both;
}
