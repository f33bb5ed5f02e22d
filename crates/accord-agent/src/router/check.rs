//! What every agent would have to check about a request, with the error that names the field.

use std::path::{Path, PathBuf};

use accord_protocol::v1::{ContentBlock, McpServer};

use super::offer::Offer;
use crate::handler::Error;

pub(super) fn absolute(field: &str, path: &Path) -> Result<(), Error> {
    if path.is_absolute() { Ok(()) } else { Err(Error::invalid_params(field, "an absolute path")) }
}

/// What new, load and resume have in common.
pub(super) fn workspace(
    offer: &Offer,
    cwd: &Path,
    directories: Option<&[PathBuf]>,
    servers: &[McpServer],
) -> Result<(), Error> {
    absolute("cwd", cwd)?;
    let directories = directories.unwrap_or_default();
    if !offer.additional_directories && !directories.is_empty() {
        return Err(Error::invalid_params(
            "additionalDirectories",
            "nothing: this agent does not offer them",
        ));
    }
    for (number, directory) in directories.iter().enumerate() {
        absolute(&format!("additionalDirectories[{number}]"), directory)?;
    }
    for (number, server) in servers.iter().enumerate() {
        let offered = match server {
            McpServer::Stdio(_) => true,
            McpServer::Http(_) => offer.mcp.http == Some(true),
            McpServer::Sse(_) => offer.mcp.sse == Some(true),
            _ => false,
        };
        if !offered {
            return Err(Error::invalid_params(
                format!("mcpServers[{number}].type"),
                "a type that this agent offers",
            ));
        }
    }
    Ok(())
}

pub(super) fn prompt(offer: &Offer, blocks: &[ContentBlock]) -> Result<(), Error> {
    for (number, block) in blocks.iter().enumerate() {
        let offered = match block {
            ContentBlock::Text(_) | ContentBlock::ResourceLink(_) => true,
            ContentBlock::Image(_) => offer.prompt.image == Some(true),
            ContentBlock::Audio(_) => offer.prompt.audio == Some(true),
            ContentBlock::Resource(_) => offer.prompt.embedded_context == Some(true),
            _ => false,
        };
        if !offered {
            return Err(Error::invalid_params(
                format!("prompt[{number}].type"),
                "content that this agent offers to take",
            ));
        }
    }
    Ok(())
}
