//! The behaviour of a connection, topic by topic.

mod calls;
#[cfg(unix)]
mod children;
#[cfg(unix)]
mod fixture;
mod flow;
#[cfg(unix)]
mod groups;
mod lines;
mod order;
#[cfg(unix)]
mod stdio;
mod support;
