//! Serving an agent on a stream of bytes, or on this process's stdin and stdout.

#[cfg(test)]
mod tests;

use std::{future, io, pin::pin, time::Duration};

use accord_protocol::{method::Request as _, v1::InitializeRequest};
use accord_transport::{Cause, Connection, End, Handle, Options, stdio};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};

use crate::{
    handler::Agent,
    router::{Router, Serving},
    wire::Wire,
};

/// How long a handler may go on after a cancel, and after the end of the connection.
const GRACE: Duration = Duration::from_secs(5);

/// Serves an agent on stdin and stdout until the client is gone.
///
/// Both are taken away from the rest of the process first: prints go to stderr, and nothing else can read or write the
/// wire. At the end of the input, and when the process is asked to terminate (SIGTERM, SIGINT, or SIGHUP unless it was
/// started to ignore that), every turn is cancelled and every session closed. That takes at most twice the
/// [grace](Serve::grace), whatever the handlers and the client do, and then what [`Agent::disconnected`] takes.
///
/// # Errors
/// stdin or stdout cannot be used, or failed.
///
/// # Cancel safety
/// Dropping the future ends the connection at once.
pub async fn serve_stdio(agent: impl Agent) -> Result<(), ServeError> {
    Serve::new(agent).run_stdio().await
}

/// Serves an agent on any stream of bytes until the client is gone.
///
/// # Errors
/// The stream failed.
///
/// # Cancel safety
/// Dropping the future ends the connection at once.
pub async fn serve(
    agent: impl Agent,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ServeError> {
    Serve::new(agent).run(read, write).await
}

/// How an agent is served, for those who want it otherwise than [`serve`] does it.
#[derive(Debug)]
pub struct Serve<A> {
    agent: A,
    options: Options,
    grace: Duration,
}

impl<A: Agent> Serve<A> {
    /// An agent with the usual settings.
    pub fn new(agent: A) -> Self {
        Self { agent, options: Options::agent().opening(InitializeRequest::METHOD), grace: GRACE }
    }

    /// How long a handler may go on after a cancel before it is dropped; 5 seconds if nothing is said. The end of the
    /// connection takes at most twice as long.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// The longest line, in bytes, in either direction; 32 MiB if nothing is said.
    #[must_use]
    pub fn frame_limit(mut self, bytes: usize) -> Self {
        self.options = self.options.frame_limit(bytes);
        self
    }

    /// Serves on stdin and stdout until the client is gone; see [`serve_stdio`].
    ///
    /// # Errors
    /// stdin or stdout cannot be used, or failed.
    ///
    /// # Cancel safety
    /// Dropping the future ends the connection at once.
    pub async fn run_stdio(self) -> Result<(), ServeError> {
        // Listened for before anything is read: who has had an answer may ask for the end.
        let terminated = terminated();
        let (read, write) = stdio::take().map_err(ServeError::Stdio)?;
        self.until(read, write, terminated).await
    }

    /// Serves until the client is gone; see [`serve`].
    ///
    /// # Errors
    /// The stream failed.
    ///
    /// # Cancel safety
    /// Dropping the future ends the connection at once.
    pub async fn run(
        self,
        read: impl AsyncRead + Unpin + Send + 'static,
        write: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Result<(), ServeError> {
        self.until(read, write, future::pending()).await
    }

    async fn until(
        self,
        read: impl AsyncRead + Unpin + Send + 'static,
        write: impl AsyncWrite + Unpin + Send + 'static,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServeError> {
        let frame_limit = self.options.frame_limit;
        let (handle, connection) = Connection::new(self.options.linger(self.grace * 3 / 4));
        let serving = Serving::new(self.agent, Wire::new(handle.clone(), frame_limit), self.grace);
        connection.spawn(read, write, Router { serving: serving.clone() });
        let hang_up = HangUp(handle);
        tokio::select! { _ = hang_up.0.closed() => {}, () = stop => {} }
        serving.end_turns().await;
        // What the turns still had to say goes out first, if the client reads it.
        hang_up.0.close();
        let end = hang_up.0.closed().await;
        serving.agent.disconnected().await;
        outcome(&end)
    }
}

impl<A: Agent> Serving<A> {
    /// Everything that runs is cancelled and waited for, at most twice the grace.
    async fn end_turns(&self) {
        self.leaving.set();
        let entries = self.wire.table.take_all();
        self.tasks.close();
        let mut ended = pin!(async {
            self.tasks.wait().await;
            for entry in &entries {
                entry.end().await;
            }
        });
        // Handlers have the grace; then it takes a moment to end what they began.
        let own_time = self.grace * 5 / 4;
        if timeout(own_time, &mut ended).await.is_ok() {
            return;
        }
        // A client that does not read holds nobody up any more: what waits for room is given up.
        self.wire.handle.close();
        if timeout(self.grace * 3 / 4, ended).await.is_err() {
            // The process is about to end.
            tracing::warn!("some handlers did not end with the connection");
        }
    }
}

/// Resolves when the process is asked to terminate, from the moment of the call on.
#[cfg(unix)]
fn terminated() -> impl Future<Output = ()> {
    use tokio::signal::unix::{Signal, SignalKind, signal};
    async fn told(signal: Option<Signal>) {
        match signal {
            Some(mut signal) => drop(signal.recv().await),
            None => future::pending().await,
        }
    }
    // Where no handler can be set the signal ends the process by itself, and its children by their watcher.
    let listen = |kind| signal(kind).ok();
    let terminate = listen(SignalKind::terminate());
    let interrupt = listen(SignalKind::interrupt());
    let hang_up = if ignores_hang_up() { None } else { listen(SignalKind::hangup()) };
    async move {
        tokio::select! { () = told(terminate) => {}, () = told(interrupt) => {}, () = told(hang_up) => {} }
    }
}

/// Whether this process was started by `nohup` or the like; where nobody can tell, it was not.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    const SIGHUP: u32 = 1;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << (SIGHUP - 1)) != 0)
}

#[cfg(not(unix))]
async fn terminated() {
    if tokio::signal::ctrl_c().await.is_err() {
        future::pending().await
    }
}

/// Closes the connection when nobody serves it any more.
struct HangUp(Handle);

impl Drop for HangUp {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn outcome(end: &End) -> Result<(), ServeError> {
    match end.cause() {
        Cause::EndOfInput | Cause::Closed => Ok(()),
        // The client went away while something was still to be said: its end, not ours.
        Cause::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(ServeError::Connection(end.clone())),
    }
}

/// Why serving ended badly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// stdin or stdout could not be taken.
    #[error("stdin and stdout cannot be used")]
    Stdio(#[source] io::Error),
    /// The connection failed.
    #[error("the connection failed: {0}")]
    Connection(End),
}
