//! Child sessions of a session, and the messages between sessions. All of it needs the client capability `subagents`.

use std::path::PathBuf;

use super::{ContentBlock, Error, MessageId, SessionId, StopReason};
use crate::open::{Maybe, from, record, tagged};

record! {
    /// A child session begins, or something about it changes: absent fields leave things as they are, null clears them.
    ///
    /// Sent in the parent's session, before anything of the child's own.
    ///
    /// See [Subagents](https://agentclientprotocol.com/rfds/subagents).
    pub struct SubagentUpdate {
        required {
            /// The child.
            strict session_id: SessionId,
        }
        optional {
            /// What to call it, for people.
            lenient title: Maybe<String>,
            /// What it is for, for people.
            lenient description: Maybe<String>,
            /// What the client may do to it; nothing unless said.
            lenient capabilities: Maybe<SubagentSessionCapabilities>,
            /// What it is doing, in place of what was said before.
            lenient state: Maybe<Box<StateUpdate>>,
            /// Where it works (absolute); the parent's directory unless said.
            strict cwd: Maybe<PathBuf>,
            /// Its other roots (absolute); the parent's unless said.
            strict additional_directories: Maybe<Vec<PathBuf>>,
        }
    }
}

record! {
    /// What the client may do to a child session.
    pub struct SubagentSessionCapabilities {
        optional {
            /// The client may cancel what it is doing.
            lenient cancel: Maybe<SessionCancelCapabilities>,
        }
    }
}

record! {
    /// The child's work may be cancelled.
    pub struct SessionCancelCapabilities {}
}

tagged! {
    /// What a child session is doing.
    ///
    /// See [Current work state](https://agentclientprotocol.com/rfds/subagents#current-work-state).
    pub enum StateUpdate by "state" {
        /// It works.
        "running" => Running(RunningStateUpdate),
        /// It is ready for more.
        "idle" => Idle(IdleStateUpdate),
        /// It waits for the person.
        "requires_action" => RequiresAction(RequiresActionStateUpdate),
        /// The agent cannot tell at present. (A state that *we* cannot tell is [`StateUpdate::Unknown`].)
        "unknown" => NotKnown(UnknownStateUpdate),
    }
}

from!(StateUpdate {
    Running(RunningStateUpdate),
    Idle(IdleStateUpdate),
    RequiresAction(RequiresActionStateUpdate),
    NotKnown(UnknownStateUpdate),
});

record! {
    /// The child works.
    pub struct RunningStateUpdate {}
}

record! {
    /// The child is ready for more.
    pub struct IdleStateUpdate {
        optional {
            /// Why its work stopped; `error` is one of the words.
            lenient stop_reason: Maybe<StopReason>,
            /// What failed, where the stop reason is `error`.
            lenient error: Maybe<Error>,
            /// The tokens the work has used.
            lenient usage: Maybe<Usage>,
        }
    }
}

record! {
    /// The child waits for the person.
    pub struct RequiresActionStateUpdate {}
}

record! {
    /// The agent cannot tell what the child is doing.
    pub struct UnknownStateUpdate {}
}

record! {
    /// Tokens that some work has used.
    pub struct Usage {
        required {
            /// All of them.
            strict total_tokens: u64,
            /// Those that went into the model.
            strict input_tokens: u64,
            /// Those that came out.
            strict output_tokens: u64,
        }
        optional {
            /// Those the model thought with.
            lenient thought_tokens: Maybe<u64>,
            /// Those read from the provider's cache.
            lenient cached_read_tokens: Maybe<u64>,
            /// Those written to the provider's cache.
            lenient cached_write_tokens: Maybe<u64>,
        }
    }
}

record! {
    /// A message between two sessions; said again, absent fields leave things as they are and null clears them.
    ///
    /// See [Subagents](https://agentclientprotocol.com/rfds/subagents).
    pub struct SessionMessage {
        required {
            /// The message, within the session that this update is about.
            strict message_id: MessageId,
        }
        optional {
            /// The session that sends it.
            lenient sender_session_id: Maybe<SessionId>,
            /// The session that receives it.
            lenient recipient_session_id: Maybe<SessionId>,
            /// The same message in the sender's session.
            lenient sender_message_id: Maybe<MessageId>,
            /// The same message in the recipient's session.
            lenient recipient_message_id: Maybe<MessageId>,
            /// What it says, in place of what was said before; empty and null clear it.
            lenient content: Maybe<Vec<ContentBlock>>,
        }
    }
}

record! {
    /// A block more for a message between two sessions.
    ///
    /// See [Subagents](https://agentclientprotocol.com/rfds/subagents).
    pub struct SessionMessageChunk {
        required {
            /// The message, within the session that this update is about.
            strict message_id: MessageId,
            /// The block to append.
            strict content: ContentBlock,
        }
    }
}
