//! The behaviour of a connection, topic by topic.

mod calls;
#[cfg(unix)]
mod children;
#[cfg(unix)]
mod endings;
#[cfg(unix)]
mod fixture;
mod flow;
#[cfg(unix)]
mod groups;
#[cfg(unix)]
mod leaks;
mod lines;
mod liveness;
mod order;
mod records;
#[cfg(unix)]
mod stdio;
mod support;
