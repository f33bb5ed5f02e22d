//! What a client can do.

use crate::open::{Maybe, record};

record! {
    /// What a client can do beyond what every client must.
    ///
    /// See [Client capabilities](https://agentclientprotocol.com/protocol/v1/initialization#client-capabilities).
    pub struct ClientCapabilities {
        optional {
            /// Which file methods it serves.
            lenient fs: Option<FileSystemCapabilities> = {},
            /// Whether it serves all of `terminal/*`; absent means no.
            lenient terminal: Option<bool> = false,
            /// What it understands about sessions.
            lenient session: Maybe<ClientSessionCapabilities>,
            /// What it can do about signing in.
            lenient auth: Option<AuthCapabilities> = {},
            /// How it can ask the person for input.
            lenient elicitation: Maybe<ElicitationCapabilities>,
            /// It understands several plans (`plan_update`, `plan_removed`).
            lenient plan: Maybe<PlanCapabilities>,
            /// It understands child sessions and messages between sessions.
            lenient subagents: Maybe<SubagentCapabilities>,
        }
    }
}

record! {
    /// Which file methods a client serves.
    ///
    /// See [File system](https://agentclientprotocol.com/protocol/v1/initialization#filesystem).
    pub struct FileSystemCapabilities {
        optional {
            /// `fs/read_text_file`; absent means no.
            lenient read_text_file: Option<bool> = false,
            /// `fs/write_text_file`; absent means no.
            lenient write_text_file: Option<bool> = false,
        }
    }
}

record! {
    /// What a client understands about sessions; each is offered by an object, `{}` suffices.
    ///
    /// See [Client capabilities](https://agentclientprotocol.com/protocol/v1/initialization#client-capabilities).
    pub struct ClientSessionCapabilities {
        optional {
            /// Compaction updates.
            lenient compaction: Maybe<CompactionCapabilities>,
            /// Configuration options beyond selects.
            lenient config_options: Maybe<SessionConfigOptionsCapabilities>,
            /// Notices.
            lenient notices: Maybe<NoticeCapabilities>,
        }
    }
}

record! {
    /// The client understands compaction updates.
    pub struct CompactionCapabilities {}
}

record! {
    /// Which configuration options a client understands beyond selects.
    pub struct SessionConfigOptionsCapabilities {
        optional {
            /// Switches.
            lenient boolean: Maybe<BooleanConfigOptionCapabilities>,
        }
    }
}

record! {
    /// The client understands configuration options that are switches.
    pub struct BooleanConfigOptionCapabilities {}
}

record! {
    /// The client shows notices.
    pub struct NoticeCapabilities {}
}

record! {
    /// What a client can do about signing in.
    ///
    /// See [Client capabilities](https://agentclientprotocol.com/protocol/v1/initialization#client-capabilities).
    pub struct AuthCapabilities {
        optional {
            /// Whether it can run the agent's command in a terminal for it; absent means no.
            lenient terminal: Option<bool> = false,
        }
    }
}

record! {
    /// How a client can ask the person for input.
    ///
    /// See [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub struct ElicitationCapabilities {
        optional {
            /// By a form.
            lenient form: Maybe<ElicitationFormCapabilities>,
            /// By an address to visit.
            lenient url: Maybe<ElicitationUrlCapabilities>,
        }
    }
}

record! {
    /// The client can show a form.
    pub struct ElicitationFormCapabilities {}
}

record! {
    /// The client can show an address, ask for consent and open it.
    pub struct ElicitationUrlCapabilities {}
}

record! {
    /// The client understands several plans.
    pub struct PlanCapabilities {}
}

record! {
    /// The client understands child sessions and messages between sessions.
    pub struct SubagentCapabilities {}
}
