//! The behaviour of a connection, topic by topic.

mod calls;
#[cfg(unix)]
mod children;
mod flow;
mod lines;
mod order;
#[cfg(unix)]
mod stdio;
mod support;
