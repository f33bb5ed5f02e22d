//! Two ends of a connection in one process.

use accord_protocol::method::Side;

use crate::{Connection, Handle, Options, Service};

/// Bytes that are under way in one direction before the writer waits.
const CAPACITY: usize = 64 << 10;

/// An agent and a client connected in memory; the handles are in the order of the arguments.
///
/// Must be called within a tokio runtime.
pub fn pair(left: (Options, impl Service), right: (Options, impl Service)) -> (Handle, Handle) {
    debug_assert!(
        matches!((left.0.side, right.0.side), (Side::Agent, Side::Client) | (Side::Client, Side::Agent)),
        "a connection has an agent and a client"
    );
    let (left_io, right_io) = tokio::io::duplex(CAPACITY);
    (start(left_io, left), start(right_io, right))
}

fn start(io: tokio::io::DuplexStream, (options, service): (Options, impl Service)) -> Handle {
    let (read, write) = tokio::io::split(io);
    let (handle, connection) = Connection::new(options);
    connection.spawn(read, write, service);
    handle
}
