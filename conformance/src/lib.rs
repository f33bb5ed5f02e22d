//! Does any agent, or any client, speak the Agent Client Protocol?

mod baseline;
pub mod cli;
pub mod mcp_server;
mod play;
mod replay;
mod report;
mod say;
mod scenario;
mod stop;
pub mod subject;
pub mod subject_client;
mod tee;
pub mod trial;
mod waiting;
pub mod wire;

/// The examples of the README and of the guides are tests.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[doc = include_str!("../../docs/guides/write-an-agent.md")]
    struct WriteAnAgent;

    #[doc = include_str!("../../docs/guides/drive-an-agent.md")]
    struct DriveAnAgent;
}
