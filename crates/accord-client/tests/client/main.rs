//! What the client does, against agents that follow a script.

mod cancel;
mod handshake;
mod order;
mod runner;
mod script;
mod sessions;
