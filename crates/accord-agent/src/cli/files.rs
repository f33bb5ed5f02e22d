//! How many files the process may have open.

/// Lets the process open as many files as the system allows it: each open session of a store holds one, and many systems
/// start a process with 1,024 although it may have far more.
///
/// It is a program's to say, since what it starts inherits the limit: a child that uses `select` works with 1,024 at most.
/// Where the limit cannot be raised, it stays, for fewer sessions.
#[cfg(unix)]
pub fn more_open_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Elsewhere there is no such limit.
#[cfg(not(unix))]
pub fn more_open_files() {}
