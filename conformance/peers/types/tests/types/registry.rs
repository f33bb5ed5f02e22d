//! Every type by its schema's name, in both crates.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// What a type makes of a value: what it writes after it has read it.
pub(crate) type Again = fn(&Value) -> Result<Value, serde_json::Error>;

fn again<T: Serialize + DeserializeOwned>(value: &Value) -> Result<Value, serde_json::Error> {
    // By way of text, as on the wire.
    let read: T = serde_json::from_str(&value.to_string())?;
    serde_json::from_str(&serde_json::to_string(&read)?)
}

macro_rules! registry {
    ($($name:ident,)+) => {
        /// Each name with our type and the official one.
        pub(crate) const TYPES: &[(&str, Again, Again)] = &[$(
            (stringify!($name), again::<accord_protocol::v1::$name>, again::<agent_client_protocol_schema::v1::$name>),
        )+];

        /// Makes the schema of every type of ours.
        pub(crate) fn describe(generator: &mut schemars::SchemaGenerator) {
            $(generator.subschema_for::<accord_protocol::v1::$name>();)+
        }
    };
}

registry! {
    AgentAuthCapabilities, AgentCapabilities, Annotations, AudioContent, AuthCapabilities, AuthMethod,
    AuthMethodAgent, AuthMethodId, AuthMethodTerminal, AuthenticateRequest, AuthenticateResponse,
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, BlobResourceContents,
    BooleanConfigOptionCapabilities, BooleanPropertySchema, CancelNotification,
    CancelRequestNotification, ClientCapabilities, ClientSessionCapabilities, CloseSessionRequest,
    CloseSessionResponse, CompactionCapabilities, CompactionId, CompactionStatus,
    CompactionSummaryChunk, CompactionUpdate, CompleteElicitationNotification, ConfigOptionUpdate,
    Content, ContentBlock, ContentChunk, Cost, CreateElicitationRequest, CreateElicitationResponse,
    CreateTerminalRequest, CreateTerminalResponse, CurrentModeUpdate, DeleteSessionRequest,
    DeleteSessionResponse, Diff, ElicitationAcceptAction, ElicitationCapabilities,
    ElicitationContentValue, ElicitationFormCapabilities, ElicitationFormMode, ElicitationId,
    ElicitationPropertySchema, ElicitationRequestScope, ElicitationSchema, ElicitationSchemaType,
    ElicitationSessionScope, ElicitationUrlCapabilities, ElicitationUrlMode, EmbeddedResource,
    EmbeddedResourceResource, EnumOption, EnvVariable, Error, ExtResponse,
    FileSystemCapabilities, HttpHeader, IdleStateUpdate, ImageContent, Implementation,
    InitializeRequest, InitializeResponse, IntegerPropertySchema, KillTerminalRequest,
    KillTerminalResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, LogoutCapabilities, LogoutRequest, LogoutResponse, McpCapabilities, McpServer,
    McpServerHttp, McpServerSse, McpServerStdio, MessageId, MultiSelectItems, MultiSelectPropertySchema,
    NewSessionRequest, NewSessionResponse, Notice, NoticeCapabilities, NoticeSeverity,
    NumberPropertySchema, PermissionOption, PermissionOptionId, PermissionOptionKind, Plan,
    PlanCapabilities, PlanEntry, PlanEntryPriority, PlanEntryStatus, PlanItems, PlanMarkdown,
    PlanRemoved, PlanUpdate, PlanUpdateContent, PromptCapabilities, PromptRequest, PromptResponse,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest,
    ReleaseTerminalResponse, RequestId, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, ResourceLink, ResumeSessionRequest, ResumeSessionResponse, Role,
    SelectedPermissionOutcome, SessionAdditionalDirectoriesCapabilities, SessionCancelCapabilities,
    SessionCapabilities, SessionCloseCapabilities, SessionConfigBoolean, SessionConfigGroupId,
    SessionConfigId, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionsCapabilities,
    SessionConfigSelect, SessionConfigSelectGroup, SessionConfigSelectOption,
    SessionConfigSelectOptions, SessionConfigValueId, SessionDeleteCapabilities, SessionId, SessionInfo,
    SessionInfoUpdate, SessionListCapabilities, SessionMessage, SessionMessageChunk, SessionMode,
    SessionModeId, SessionModeState, SessionNotification, SessionResumeCapabilities,
    SessionSystemPromptCapabilities, SessionSystemPromptModeCapabilities,
    SessionSystemPromptOverrideCapabilities, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse, StateUpdate,
    StopReason, StringFormat, StringMultiSelectItems, StringPropertySchema, SubagentCapabilities,
    SubagentSessionCapabilities, SubagentUpdate, SystemPrompt, SystemPromptMode, Terminal,
    TerminalExitStatus, TerminalId, TerminalOutputRequest, TerminalOutputResponse, TextContent,
    TextResourceContents, TitledMultiSelectItems, ToolCall, ToolCallContent, ToolCallId,
    ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind, UnstructuredCommandInput,
    UsageUpdate, WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest,
    WriteTextFileResponse,
}
