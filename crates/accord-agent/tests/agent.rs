//! The low level against raw lines: what goes over the wire, in which order, and nothing else.

#[path = "agent/cancel.rs"]
mod cancel;
#[path = "agent/handshake.rs"]
mod handshake;
#[path = "agent/order.rs"]
mod order;
#[path = "agent/permission.rs"]
mod permission;
#[path = "agent/reach.rs"]
mod reach;
#[path = "agent/support.rs"]
mod support;
