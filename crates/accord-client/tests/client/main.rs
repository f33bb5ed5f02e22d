//! What the client does, against agents that follow a script.

mod cancel;
mod captures;
mod files;
mod handlers;
mod handshake;
mod manifests;
mod mapping;
mod order;
mod processes;
mod real;
mod runner;
mod script;
mod sessions;
mod terminals;
mod transcripts;
