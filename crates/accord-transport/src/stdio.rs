//! This process's stdin and stdout as the wire, and nobody else's.

use std::io::{self, IsTerminal, Write};

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{WireInput, WireOutput};
#[cfg(windows)]
pub use windows::{WireInput, WireOutput};

/// Takes stdin and stdout for the wire.
///
/// From then on descriptor 1 is a copy of stderr and descriptor 0 is `/dev/null`, so neither a stray print nor a child
/// process can touch the wire. Call it first thing, once, within a tokio runtime.
///
/// Pipes, sockets, files and terminals all work. The blocking mode of the descriptors is left alone, since it belongs
/// to whoever shares them. At a terminal it says on stderr what this program is.
///
/// On Windows the wire is a private copy as well, but a stray print still reaches it: replacing the standard handles
/// takes `unsafe`, which this workspace forbids.
///
/// # Errors
/// A descriptor is closed, or the system has none left.
pub fn take() -> io::Result<(WireInput, WireOutput)> {
    if io::stdin().is_terminal() {
        // Nothing depends on whether anybody reads it.
        let _ = writeln!(
            io::stderr(),
            "This is an agent of the Agent Client Protocol. It speaks JSON-RPC on stdin and stdout, one message a \
             line, and is meant to be started by a client such as an editor."
        );
    }
    #[cfg(unix)]
    return unix::take();
    #[cfg(windows)]
    return windows::take();
}
