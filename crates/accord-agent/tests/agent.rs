//! The agent side against raw lines: what goes over the wire, in which order, and nothing else. `agent/` is about the low
//! level, `runtime/` about the runtime on real stores.

#[path = "agent/cancel.rs"]
mod cancel;
#[path = "runtime/config.rs"]
mod config;
#[path = "runtime/ends.rs"]
mod ends;
#[path = "runtime/grants.rs"]
mod grants;
#[path = "agent/handshake.rs"]
mod handshake;
#[path = "runtime/hooked.rs"]
mod hooked;
#[path = "runtime/lifecycle.rs"]
mod lifecycle;
#[cfg(all(unix, feature = "mcp"))]
#[path = "runtime/mcp.rs"]
mod mcp;
#[path = "runtime/opening.rs"]
mod opening;
#[path = "agent/order.rs"]
mod order;
#[path = "agent/permission.rs"]
mod permission;
#[path = "runtime/pressure.rs"]
mod pressure;
#[path = "runtime/projection.rs"]
mod projection;
#[path = "agent/reach.rs"]
mod reach;
#[path = "runtime/reopening.rs"]
mod reopening;
#[path = "runtime/restore.rs"]
mod restore;
#[path = "runtime/stage.rs"]
mod stage;
#[path = "runtime/storm.rs"]
mod storm;
#[path = "agent/support.rs"]
mod support;
#[path = "runtime/tools.rs"]
mod tools;
