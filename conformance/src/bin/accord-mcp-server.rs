//! A small, real MCP server for agents to mount: `accord-mcp-server --help` lists its options.

use std::process::ExitCode;

fn main() -> ExitCode {
    accord_conformance::mcp_server::run(&std::env::args().collect::<Vec<_>>())
}
