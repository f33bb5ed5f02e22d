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

use crate::method::{Notification, Request, ServedBy, Side};

macro_rules! requests {
    ($($method:literal $side:ident $params:ident => $answer:ident,)+) => {$(
        impl Request for $params {
            const METHOD: &'static str = $method;
            const SERVED_BY: Side = Side::$side;
            type Answer = $answer;
        }
    )+};
}

macro_rules! notifications {
    ($($method:literal $side:ident $params:ident,)+) => {$(
        impl Notification for $params {
            const METHOD: &'static str = $method;
            const SERVED_BY: ServedBy = ServedBy::$side;
        }
    )+};
}

requests! {
    "initialize"                 Agent  InitializeRequest             => InitializeResponse,
    "authenticate"               Agent  AuthenticateRequest           => AuthenticateResponse,
    "logout"                     Agent  LogoutRequest                 => LogoutResponse,
    "session/new"                Agent  NewSessionRequest             => NewSessionResponse,
    "session/load"               Agent  LoadSessionRequest            => LoadSessionResponse,
    "session/resume"             Agent  ResumeSessionRequest          => ResumeSessionResponse,
    "session/list"               Agent  ListSessionsRequest           => ListSessionsResponse,
    "session/close"              Agent  CloseSessionRequest           => CloseSessionResponse,
    "session/delete"             Agent  DeleteSessionRequest          => DeleteSessionResponse,
    "session/set_mode"           Agent  SetSessionModeRequest         => SetSessionModeResponse,
    "session/set_config_option"  Agent  SetSessionConfigOptionRequest => SetSessionConfigOptionResponse,
    "session/prompt"             Agent  PromptRequest                 => PromptResponse,
    "session/request_permission" Client RequestPermissionRequest      => RequestPermissionResponse,
    "fs/read_text_file"          Client ReadTextFileRequest           => ReadTextFileResponse,
    "fs/write_text_file"         Client WriteTextFileRequest          => WriteTextFileResponse,
    "terminal/create"            Client CreateTerminalRequest         => CreateTerminalResponse,
    "terminal/output"            Client TerminalOutputRequest         => TerminalOutputResponse,
    "terminal/wait_for_exit"     Client WaitForTerminalExitRequest    => WaitForTerminalExitResponse,
    "terminal/kill"              Client KillTerminalRequest           => KillTerminalResponse,
    "terminal/release"           Client ReleaseTerminalRequest        => ReleaseTerminalResponse,
    "elicitation/create"         Client CreateElicitationRequest      => CreateElicitationResponse,
}

notifications! {
    "session/cancel"       Agent  CancelNotification,
    "session/update"       Client SessionNotification,
    "elicitation/complete" Client CompleteElicitationNotification,
    "$/cancel_request"     Both   CancelRequestNotification,
}
