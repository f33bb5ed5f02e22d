//! Every type by its schema's name, for tests that are made from the schema.

use accord_protocol::v1;
use serde_json::Value;

macro_rules! registry {
    ($($name:ident,)+) => {
        /// The types there are.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name),)+];

        /// Reads a value as the type of that name and writes it again.
        pub(crate) fn again(name: &str, value: &Value) -> Result<Value, serde_json::Error> {
            match name {
                $(stringify!($name) => {
                    let text = value.to_string();
                    let read: v1::$name = serde_json::from_str(&text)?;
                    let from_value: v1::$name = serde_json::from_value(value.clone())?;
                    assert_eq!(read, from_value, "{name} reads the same from text and from a Value: {text}");
                    let written = serde_json::to_string(&read)?;
                    let reread: v1::$name = serde_json::from_str(&written)?;
                    assert_eq!(read, reread, "{name} reads what it wrote: {written}");
                    serde_json::from_str(&written)
                })+
                _ => panic!("no type is called {name}"),
            }
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
    PlanCapabilities, PlanEntry, PlanEntryPriority, PlanEntryStatus, PlanFile, PlanItems, PlanMarkdown,
    PlanRemoved, PlanUpdate, PlanUpdateContent, PromptCapabilities, PromptRequest, PromptResponse,
    ProtocolVersion, ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest,
    ReleaseTerminalResponse, RequestId, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, ResourceLink, ResumeSessionRequest, ResumeSessionResponse, Role,
    SelectedPermissionOutcome, SessionAdditionalDirectoriesCapabilities, SessionCancelCapabilities,
    SessionCapabilities, SessionCloseCapabilities, SessionConfigBoolean, SessionConfigGroupId,
    SessionConfigId, SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionsCapabilities,
    SessionConfigSelect, SessionConfigSelectGroup, SessionConfigSelectOption,
    SessionConfigSelectOptions, SessionConfigValueId, SessionDeleteCapabilities, SessionId, SessionInfo,
    SessionInfoUpdate, SessionListCapabilities, SessionMessage, SessionMessageChunk, SessionMode,
    SessionModeId, SessionModeState, SessionNotification, SessionReference, SessionResumeCapabilities,
    SessionSystemPromptCapabilities, SessionSystemPromptModeCapabilities,
    SessionSystemPromptOverrideCapabilities, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse, StateUpdate,
    StopReason, StringFormat, StringMultiSelectItems, StringPropertySchema, SubagentCapabilities,
    SubagentSessionCapabilities, SubagentUpdate, SystemPrompt, SystemPromptMode, Terminal,
    TerminalExitStatus, TerminalId, TerminalOutputRequest, TerminalOutputResponse, TextContent,
    TextResourceContents, TitledMultiSelectItems, ToolCall, ToolCallContent, ToolCallId,
    ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind, UnstructuredCommandInput, Usage,
    UsageUpdate, WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest,
    WriteTextFileResponse,
}
