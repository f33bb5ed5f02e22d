//! A session's MCP servers, or the refusal of a build without them.

use std::path::Path;

use accord_protocol::v1::{McpServer, Notice};
use tokio_util::task::TaskTracker;

use crate::handler::Error;
#[cfg(feature = "mcp")]
use crate::mcp::{self, McpSettings, Mounts};

/// What is mounted in a session.
#[derive(Debug, Default)]
pub(super) struct Tools {
    #[cfg(feature = "mcp")]
    pub(super) mounts: Mounts,
}

/// How a runtime mounts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settings {
    #[cfg(feature = "mcp")]
    pub(super) mcp: McpSettings,
}

#[cfg(feature = "mcp")]
impl Tools {
    /// Checks every declaration before it starts any server; returns what the client is to be told besides.
    pub(super) async fn mount(
        servers: Vec<McpServer>,
        cwd: &Path,
        settings: Settings,
        undoing: &TaskTracker,
    ) -> Result<(Self, Vec<Notice>), Error> {
        mcp::check(&servers)?;
        let (mounts, notices) = mcp::mount(servers, cwd, settings.mcp, undoing).await?;
        Ok((Self { mounts }, notices))
    }

    /// Ends every server and waits until it is gone.
    pub(super) async fn release(&self) {
        self.mounts.release().await;
    }
}

#[cfg(not(feature = "mcp"))]
impl Tools {
    #[expect(clippy::unused_async, reason = "the build with MCP servers waits for them")]
    pub(super) async fn mount(
        servers: Vec<McpServer>,
        _: &Path,
        _: Settings,
        _: &TaskTracker,
    ) -> Result<(Self, Vec<Notice>), Error> {
        if servers.is_empty() {
            return Ok((Self::default(), Vec::new()));
        }
        Err(Error::invalid_params("mcpServers", "an empty list: this agent was built without MCP"))
    }

    #[expect(clippy::unused_async, reason = "the build with MCP servers waits for them")]
    pub(super) async fn release(&self) {}
}
