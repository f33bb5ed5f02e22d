//! Commands that run in the client's terminals. All of it needs the client capability `terminal`.

use std::path::PathBuf;

use super::{EnvVariable, SessionId};
use crate::open::{Maybe, id, record};

id! {
    /// Names a terminal; the client chooses it.
    pub struct TerminalId;
}

record! {
    /// Starts a command in a new terminal (`terminal/create`); the answer does not wait for its end.
    ///
    /// Sent by the agent; answered with [`CreateTerminalResponse`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub struct CreateTerminalRequest {
        required {
            /// The session on whose behalf it runs.
            strict session_id: SessionId,
            /// The program.
            strict command: String,
        }
        optional {
            /// Its arguments; null means none, as when absent.
            nullable args: Option<Vec<String>>,
            /// Its environment variables, beside the client's own; null means none, as when absent.
            nullable env: Option<Vec<EnvVariable>>,
            /// Where it runs (absolute); absent and null mean the session's directory.
            strict cwd: Maybe<PathBuf>,
            /// How many bytes of output to keep; the client drops the oldest, at a character's boundary.
            strict output_byte_limit: Maybe<u64>,
        }
    }
}

record! {
    /// The command has been started.
    ///
    /// The client's answer to [`CreateTerminalRequest`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub struct CreateTerminalResponse {
        required {
            /// Which terminal it runs in.
            strict terminal_id: TerminalId,
        }
    }
}

record! {
    /// Asks for a terminal's output so far (`terminal/output`).
    ///
    /// Sent by the agent; answered with [`TerminalOutputResponse`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub struct TerminalOutputRequest {
        required {
            /// The session.
            strict session_id: SessionId,
            /// The terminal.
            strict terminal_id: TerminalId,
        }
    }
}

record! {
    /// A terminal's output so far.
    ///
    /// The client's answer to [`TerminalOutputRequest`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub struct TerminalOutputResponse {
        required {
            /// What was kept of the output.
            strict output: String,
            /// Whether the beginning was dropped to keep to the limit.
            strict truncated: bool,
        }
        optional {
            /// How the command ended; absent or null while it runs.
            lenient exit_status: Maybe<TerminalExitStatus>,
        }
    }
}

record! {
    /// How a command ended.
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub struct TerminalExitStatus {
        optional {
            /// Its exit code; absent or null when a signal ended it.
            lenient exit_code: Maybe<u32>,
            /// The signal that ended it; absent or null when it exited by itself.
            lenient signal: Maybe<String>,
        }
    }
}

record! {
    /// Ends a command if it still runs, and forgets the terminal (`terminal/release`).
    ///
    /// Sent by the agent; answered with [`ReleaseTerminalResponse`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub struct ReleaseTerminalRequest {
        required {
            /// The session.
            strict session_id: SessionId,
            /// The terminal.
            strict terminal_id: TerminalId,
        }
    }
}

record! {
    /// The terminal is gone; a tool call that shows it keeps what it had.
    ///
    /// The client's answer to [`ReleaseTerminalRequest`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub message ReleaseTerminalResponse {}
}

record! {
    /// Waits for a command's end (`terminal/wait_for_exit`).
    ///
    /// Sent by the agent; answered with [`WaitForTerminalExitResponse`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub struct WaitForTerminalExitRequest {
        required {
            /// The session.
            strict session_id: SessionId,
            /// The terminal.
            strict terminal_id: TerminalId,
        }
    }
}

record! {
    /// The command has ended.
    ///
    /// The client's answer to [`WaitForTerminalExitRequest`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub message WaitForTerminalExitResponse {
        optional {
            /// Its exit code; absent or null when a signal ended it.
            lenient exit_code: Maybe<u32>,
            /// The signal that ended it; absent or null when it exited by itself.
            lenient signal: Maybe<String>,
        }
    }
}

record! {
    /// Ends a command but keeps the terminal and its output (`terminal/kill`).
    ///
    /// Sent by the agent; answered with [`KillTerminalResponse`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub struct KillTerminalRequest {
        required {
            /// The session.
            strict session_id: SessionId,
            /// The terminal.
            strict terminal_id: TerminalId,
        }
    }
}

record! {
    /// The command has been told to end.
    ///
    /// The client's answer to [`KillTerminalRequest`].
    ///
    /// See [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    pub message KillTerminalResponse {}
}
