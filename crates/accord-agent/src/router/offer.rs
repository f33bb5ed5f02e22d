//! What an agent hands out, asked once: it decides what is advertised and what is routed, so the two cannot differ.

use accord_protocol::{
    unstable::SessionForkCapabilities,
    v1::{
        AgentAuthCapabilities, AgentCapabilities, AuthMethod, AuthMethodId, Implementation,
        InitializeRequest, InitializeResponse, LogoutCapabilities, McpCapabilities, PromptCapabilities,
        ProtocolVersion, SessionAdditionalDirectoriesCapabilities, SessionCapabilities,
        SessionCloseCapabilities, SessionDeleteCapabilities, SessionListCapabilities,
        SessionResumeCapabilities,
    },
};

use crate::handler::{Agent, Auth};

#[expect(clippy::struct_excessive_bools, reason = "one for each optional method of the protocol")]
pub(crate) struct Offer {
    info: Implementation,
    pub(super) prompt: PromptCapabilities,
    pub(super) mcp: McpCapabilities,
    pub(super) additional_directories: bool,
    pub(super) list: bool,
    pub(super) load: bool,
    pub(super) resume: bool,
    pub(super) fork: bool,
    pub(super) revive: bool,
    pub(super) close: bool,
    pub(super) delete: bool,
    pub(super) modes: bool,
    pub(super) config: bool,
    pub(super) auth: bool,
    pub(super) logout: bool,
    methods: Vec<AuthMethod>,
}

impl Offer {
    pub(crate) fn of(agent: &impl Agent) -> Self {
        Self {
            info: agent.info(),
            prompt: agent.prompt_capabilities(),
            mcp: agent.mcp_capabilities(),
            additional_directories: agent.additional_directories(),
            list: agent.listing().is_some(),
            load: agent.loading().is_some(),
            resume: agent.resuming().is_some(),
            fork: agent.forking().is_some(),
            revive: agent.reviving().is_some(),
            close: agent.closing().is_some(),
            delete: agent.deleting().is_some(),
            modes: agent.modes().is_some(),
            config: agent.config().is_some(),
            auth: agent.auth().is_some(),
            logout: agent.logging_out().is_some(),
            methods: agent.auth().map(Auth::methods).unwrap_or_default(),
        }
    }

    /// The answer to `initialize`: version 1, whatever was asked for, since there is no other yet.
    pub(super) fn answer(&self, request: &InitializeRequest) -> InitializeResponse {
        InitializeResponse::new(ProtocolVersion::V1)
            .agent_info(self.info.clone())
            .agent_capabilities(self.capabilities())
            .auth_methods(self.methods_for(request))
    }

    fn capabilities(&self) -> AgentCapabilities {
        let mut session = SessionCapabilities::new();
        session.list = self.list.then(SessionListCapabilities::new).into();
        session.resume = self.resume.then(SessionResumeCapabilities::new).into();
        session.fork = self.fork.then(SessionForkCapabilities::new).into();
        session.close = self.close.then(SessionCloseCapabilities::new).into();
        session.delete = self.delete.then(SessionDeleteCapabilities::new).into();
        let directories = self.additional_directories.then(SessionAdditionalDirectoriesCapabilities::new);
        session.additional_directories = directories.into();
        let mut auth = AgentAuthCapabilities::new();
        auth.logout = self.logout.then(LogoutCapabilities::new).into();
        AgentCapabilities::new()
            .load_session(self.load)
            .prompt_capabilities(self.prompt.clone())
            .mcp_capabilities(self.mcp.clone())
            .session_capabilities(session)
            .auth(auth)
    }

    fn methods_for(&self, request: &InitializeRequest) -> Vec<AuthMethod> {
        let auth = request.client_capabilities.as_ref().and_then(|client| client.auth.as_ref());
        let terminal = auth.and_then(|auth| auth.terminal) == Some(true);
        let shown = |method: &&AuthMethod| terminal || !matches!(method, AuthMethod::Terminal(_));
        self.methods.iter().filter(shown).cloned().collect()
    }
}

/// Terminal methods are for the person's terminal, never for `authenticate`.
pub(super) fn can_authenticate(methods: &[AuthMethod], id: &AuthMethodId) -> bool {
    methods.iter().any(|method| matches!(method, AuthMethod::Agent(method) if method.id == *id))
}
