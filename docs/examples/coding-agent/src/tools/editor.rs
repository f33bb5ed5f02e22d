//! Files as the user sees them in the editor, where the client shows and takes them.

use std::path::Path;

use accord_agent::{ClientError, blocking::Callbacks, protocol::rpc::ErrorCode};

use super::files::Refused;

/// The client's files; a client that offers none leaves the tools to the disk.
pub(super) struct Editor<'a>(pub(super) &'a Callbacks);

impl Editor<'_> {
    /// The text of a file, unsaved changes included; `None` where the disk has to tell.
    pub(super) fn read(&self, file: &Path) -> Option<Result<String, Refused>> {
        let read = self.0.wait(|turn| async move {
            let client = turn.client();
            if client.reads_files() { Some(client.read_text_file(file).await) } else { None }
        });
        match read.flatten()? {
            // The editor does not know every file that there is.
            Err(ClientError::Refused(error)) if error.code == ErrorCode::RESOURCE_NOT_FOUND => None,
            read => Some(read.map_err(|error| refused(file, &error))),
        }
    }

    /// Writes a file where the user sees it; `None` where it has to be written to the disk.
    pub(super) fn write(&self, file: &Path, text: &str) -> Option<Result<(), Refused>> {
        let written = self.0.wait(|turn| async move {
            let client = turn.client();
            if client.writes_files() { Some(client.write_text_file(file, text).await) } else { None }
        });
        Some(written.flatten()?.map_err(|error| refused(file, &error)))
    }
}

fn refused(file: &Path, error: &ClientError) -> Refused {
    Refused::Editor(file.display().to_string(), error.to_string())
}
