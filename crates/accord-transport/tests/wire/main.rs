//! The behaviour of a connection, topic by topic.

mod calls;
#[cfg(unix)]
mod children;
mod support;
