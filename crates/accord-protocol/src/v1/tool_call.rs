//! Tool calls: what the agent does, from the first announcement to the result.

use std::path::PathBuf;

use super::{ContentBlock, SessionId, TerminalId};
use crate::open::{Json, Maybe, from, id, record, strings, tagged};

id! {
    /// Names a tool call within its session; the agent chooses it.
    pub struct ToolCallId;
}

record! {
    /// A tool call as the agent announces it.
    ///
    /// See [Tool calls](https://agentclientprotocol.com/protocol/v1/tool-calls).
    pub struct ToolCall {
        required {
            /// Which call it is.
            strict tool_call_id: ToolCallId,
            /// What it does, for people.
            strict title: String,
        }
        optional {
            /// The tool's name in the program; null means that there is none, as when absent.
            lenient name: Maybe<String>,
            /// What sort of tool it is; absent means [`ToolKind::Other`].
            lenient kind: Option<ToolKind>,
            /// How far it is; absent means [`ToolCallStatus::Pending`].
            lenient status: Option<ToolCallStatus>,
            /// What it has brought so far.
            lenient content: Option<Vec<ToolCallContent>>,
            /// The files it touches, for an editor that follows along.
            lenient locations: Option<Vec<ToolCallLocation>>,
            /// The tool's input as the model wrote it.
            lenient raw_input: Maybe<Json>,
            /// The tool's output as it came.
            lenient raw_output: Maybe<Json>,
        }
    }
}

record! {
    /// What has changed about a tool call: an absent field, or null, leaves things as they are, a list replaces the old one.
    ///
    /// See [Updating](https://agentclientprotocol.com/protocol/v1/tool-calls#updating).
    pub struct ToolCallUpdate {
        required {
            /// Which call it is.
            strict tool_call_id: ToolCallId,
        }
        optional {
            /// What sort of tool it is.
            lenient kind: Maybe<ToolKind>,
            /// How far it is.
            lenient status: Maybe<ToolCallStatus>,
            /// What it does, for people.
            lenient title: Maybe<String>,
            /// The tool's name in the program.
            lenient name: Maybe<String>,
            /// All that it has brought so far.
            lenient content: Maybe<Vec<ToolCallContent>>,
            /// All the files it touches.
            lenient locations: Maybe<Vec<ToolCallLocation>>,
            /// The tool's input as the model wrote it.
            lenient raw_input: Maybe<Json>,
            /// The tool's output as it came.
            lenient raw_output: Maybe<Json>,
        }
    }
}

impl From<ToolCall> for ToolCallUpdate {
    /// Says everything that the call said.
    fn from(call: ToolCall) -> Self {
        Self {
            tool_call_id: call.tool_call_id,
            kind: call.kind.into(),
            status: call.status.into(),
            title: call.title.into(),
            name: call.name,
            content: call.content.into(),
            locations: call.locations.into(),
            raw_input: call.raw_input,
            raw_output: call.raw_output,
            meta: call.meta,
        }
    }
}

strings! {
    /// What sort of tool is called; clients choose icons by it.
    ///
    /// See [Creating](https://agentclientprotocol.com/protocol/v1/tool-calls#creating).
    pub enum ToolKind {
        /// Reads files or data.
        Read = "read",
        /// Changes files.
        Edit = "edit",
        /// Removes files.
        Delete = "delete",
        /// Moves or renames files.
        Move = "move",
        /// Looks for something.
        Search = "search",
        /// Runs a command.
        Execute = "execute",
        /// Reasons or plans.
        Think = "think",
        /// Fetches something from elsewhere.
        Fetch = "fetch",
        /// Switches the session's mode.
        SwitchMode = "switch_mode",
        /// Anything else.
        Other = "other",
    } or Other
}

strings! {
    /// How far a tool call is.
    ///
    /// See [Status](https://agentclientprotocol.com/protocol/v1/tool-calls#status).
    pub enum ToolCallStatus {
        /// Not started: its input still streams in, or it waits for permission.
        Pending = "pending",
        /// Running.
        InProgress = "in_progress",
        /// Ended well.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
    } or Pending
}

tagged! {
    /// Something that a tool call has brought.
    ///
    /// See [Content of tool calls](https://agentclientprotocol.com/protocol/v1/tool-calls#content).
    pub enum ToolCallContent by "type" {
        /// A piece of text, a picture, a resource.
        "content" => Content(Content),
        /// A change to a file.
        "diff" => Diff(Diff),
        /// A terminal whose output is shown live.
        "terminal" => Terminal(Terminal),
        /// Another session, such as a child. Needs the client capability `subagents`.
        "session" => Session(SessionReference),
    }
}

impl From<ContentBlock> for ToolCallContent {
    fn from(content: ContentBlock) -> Self {
        Self::Content(Content::new(content))
    }
}

from!(ToolCallContent {
    Content(Content),
    Diff(Diff),
    Terminal(Terminal),
    Session(SessionReference),
});

record! {
    /// A content block inside a tool call.
    pub struct Content {
        required {
            /// The block.
            strict content: ContentBlock,
        }
    }
}

record! {
    /// A change to a file, as its text before and after.
    ///
    /// See [Content of tool calls](https://agentclientprotocol.com/protocol/v1/tool-calls#content).
    pub struct Diff {
        required {
            /// The file (absolute).
            strict path: PathBuf,
            /// The text after the change.
            strict new_text: String,
        }
        optional {
            /// The text before the change; absent or null for a new file.
            lenient old_text: Maybe<String>,
        }
    }
}

record! {
    /// A terminal of the client, made with `terminal/create`, shown inside a tool call.
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub struct Terminal {
        required {
            /// Which terminal it is; it must not have been released yet when it is first shown.
            strict terminal_id: TerminalId,
        }
    }
}

record! {
    /// Another session, shown inside a tool call; it says nothing about whose session it is or what it does.
    pub struct SessionReference {
        required {
            /// Which session it is; the client knows it already.
            strict session_id: SessionId,
        }
    }
}

record! {
    /// A place in a file.
    ///
    /// See [Following the agent](https://agentclientprotocol.com/protocol/v1/tool-calls#following-the-agent).
    pub struct ToolCallLocation {
        required {
            /// The file (absolute).
            strict path: PathBuf,
        }
        optional {
            /// The line, counted from 1.
            lenient line: Maybe<u32>,
        }
    }
}
