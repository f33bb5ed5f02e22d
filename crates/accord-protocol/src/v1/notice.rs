//! Notices: what the agent wants the person to know now, outside the conversation.

use crate::open::{Maybe, record, strings};

record! {
    /// Something the person should know now. It is no part of the session's history and may go unseen.
    ///
    /// Needs the client capability `session.notices`.
    ///
    /// See [Session notices](https://agentclientprotocol.com/rfds/session-notices).
    pub struct Notice {
        required {
            /// How bad it is.
            strict severity: NoticeSeverity,
            /// What it is, in plain text that stands alone; not empty.
            strict title: String,
        }
        optional {
            /// More about it, in plain text; absent and null mean that there is no more.
            lenient description: Maybe<String>,
        }
    }
}

strings! {
    /// How bad the news is.
    pub enum NoticeSeverity {
        /// Good to know.
        Info = "info",
        /// Something may go wrong.
        Warning = "warning",
        /// Something went wrong.
        Error = "error",
    }
}
