//! Appending a line to what is to be written, or nothing of it.

use std::io;

/// Why something could not be sent. Nothing of it is in the output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The connection has ended.
    #[error("the connection has ended")]
    Ended,
    /// The line would be longer than the limit.
    #[error("a message of {bytes} bytes is over the limit of {limit}")]
    TooLarge {
        /// How long it would have been.
        bytes: usize,
        /// The limit of this connection.
        limit: usize,
    },
    /// The parameters do not serialise.
    #[error("the parameters do not serialise")]
    Unserialisable(#[source] io::Error),
}

/// Appends what `line` writes, unless it fails or panics half way, or writes more than `limit` bytes.
pub(crate) fn append(
    output: &mut Vec<u8>,
    limit: usize,
    line: impl FnOnce(&mut Vec<u8>) -> io::Result<()>,
) -> Result<(), SendError> {
    let mut tail = Tail { start: output.len(), output, whole: false };
    line(tail.output).map_err(SendError::Unserialisable)?;
    let bytes = tail.output.len() - tail.start;
    if bytes > limit {
        return Err(SendError::TooLarge { bytes, limit });
    }
    tail.whole = true;
    Ok(())
}

/// Takes back what was written unless it is whole.
struct Tail<'a> {
    output: &'a mut Vec<u8>,
    start: usize,
    whole: bool,
}

impl Drop for Tail<'_> {
    fn drop(&mut self) {
        if !self.whole {
            self.output.truncate(self.start);
        }
    }
}
