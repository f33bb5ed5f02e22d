//! The low level against raw lines: what goes over the wire, in which order, and nothing else.

#[path = "agent/cancel.rs"]
mod cancel;
#[path = "agent/order.rs"]
mod order;
#[path = "agent/support.rs"]
mod support;
