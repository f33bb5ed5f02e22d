//! The client's files, unsaved changes included.

use std::path::PathBuf;

use super::SessionId;
use crate::open::{Maybe, record};

record! {
    /// Asks for a text file's contents (`fs/read_text_file`). Needs the client capability `fs.readTextFile`.
    ///
    /// Sent by the agent; answered with [`ReadTextFileResponse`].
    ///
    /// See [File system](https://agentclientprotocol.com/protocol/v1/file-system).
    pub struct ReadTextFileRequest {
        required {
            /// The session on whose behalf it is read.
            strict session_id: SessionId,
            /// The file (absolute).
            strict path: PathBuf,
        }
        optional {
            /// The first line wanted, counted from 1; absent and null mean the first.
            strict line: Maybe<u32>,
            /// How many lines are wanted; absent and null mean all.
            strict limit: Maybe<u32>,
        }
    }
}

record! {
    /// A text file's contents.
    ///
    /// The client's answer to [`ReadTextFileRequest`].
    ///
    /// See [File system](https://agentclientprotocol.com/protocol/v1/file-system).
    pub struct ReadTextFileResponse {
        required {
            /// The lines asked for.
            strict content: String,
        }
    }
}

record! {
    /// Replaces a text file's contents, making the file if need be (`fs/write_text_file`).
    ///
    /// Needs the client capability `fs.writeTextFile`.
    ///
    /// Sent by the agent; answered with [`WriteTextFileResponse`].
    ///
    /// See [File system](https://agentclientprotocol.com/protocol/v1/file-system).
    pub struct WriteTextFileRequest {
        required {
            /// The session on whose behalf it is written.
            strict session_id: SessionId,
            /// The file (absolute).
            strict path: PathBuf,
            /// All that the file is to hold.
            strict content: String,
        }
    }
}

record! {
    /// The file is written.
    ///
    /// The client's answer to [`WriteTextFileRequest`].
    ///
    /// See [File system](https://agentclientprotocol.com/protocol/v1/file-system).
    pub message WriteTextFileResponse {}
}
