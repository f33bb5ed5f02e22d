//! This process's stdin and stdout as the wire, and nobody else's.

use std::io;

#[cfg(unix)]
mod unix;

#[cfg(unix)]
pub use unix::{WireInput, WireOutput};

/// Takes stdin and stdout for the wire.
///
/// From then on descriptor 1 is a copy of stderr and descriptor 0 is `/dev/null`, so neither a stray print nor a child
/// process can touch the wire. Call it first thing, once, within a tokio runtime.
///
/// # Errors
/// A descriptor is closed, or the system has none left.
#[cfg(unix)]
pub fn take() -> io::Result<(WireInput, WireOutput)> {
    unix::take()
}
