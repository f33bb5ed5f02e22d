//! MCP servers which the client asks the agent to connect to.

use std::{fmt, ops::Deref};

use serde::{Deserialize, Serialize};

use crate::open::{from, record, tagged};

tagged! {
    /// An MCP server: a command (which every agent can start), or an address.
    ///
    /// See [MCP servers](https://agentclientprotocol.com/protocol/v1/session-setup#mcp-servers).
    pub enum McpServer by "type" {
        /// Reached by Streamable HTTP; needs the agent capability `mcpCapabilities.http`.
        "http" => Http(McpServerHttp),
        /// Reached by HTTP with server-sent events; needs the agent capability `mcpCapabilities.sse`.
        "sse" => Sse(McpServerSse),
        else "stdio" =>
        /// A command that speaks MCP on its standard input and output.
        Stdio(McpServerStdio),
    }
}

from!(McpServer {
    Http(McpServerHttp),
    Sse(McpServerSse),
    Stdio(McpServerStdio),
});

record! {
    /// An MCP server reached by Streamable HTTP.
    pub struct McpServerHttp {
        required {
            /// What to call it, for people.
            strict name: String,
            /// Its address.
            strict url: String,
            /// Headers to send with every request; null means none.
            nullable headers: Vec<HttpHeader>,
        }
    }
}

record! {
    /// An MCP server reached by HTTP with server-sent events.
    pub struct McpServerSse {
        required {
            /// What to call it, for people.
            strict name: String,
            /// Its address.
            strict url: String,
            /// Headers to send with every request; null means none.
            nullable headers: Vec<HttpHeader>,
        }
    }
}

record! {
    /// An MCP server that is a command.
    pub struct McpServerStdio {
        required {
            /// What to call it, for people.
            strict name: String,
            /// The program, absolute or found by the search path.
            strict command: String,
            /// Its arguments; null means none.
            nullable args: Vec<String>,
            /// Its environment variables; null means none.
            nullable env: Vec<EnvVariable>,
        }
    }
}

record! {
    /// A header of HTTP.
    pub struct HttpHeader {
        required {
            /// Its name.
            strict name: String,
            /// Its value.
            strict value: Secret,
        }
    }
}

record! {
    /// An environment variable.
    pub struct EnvVariable {
        required {
            /// Its name.
            strict name: String,
            /// Its value.
            strict value: Secret,
        }
    }
}

/// A text that may be a secret: it is a string on the wire, but `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, taking it out.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<hidden>")
    }
}

impl Deref for Secret {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}
