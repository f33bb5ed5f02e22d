//! What the client does, against agents that follow a script.

mod bounds;
mod cancel;
mod captures;
mod cases;
mod files;
mod handlers;
mod handshake;
mod hostile;
mod manifests;
mod mapping;
mod order;
mod processes;
mod real;
mod runner;
mod script;
mod sessions;
mod strays;
mod streams;
mod terminals;
mod transcripts;
