//! What one end of a connection may be told about itself.

use std::time::Duration;

use accord_peer::Config;
use accord_protocol::method::Side;

use crate::trace_context::Source;
use crate::{Tap, TraceContext};

/// The settings of one end of a connection.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Which side this is: an agent answers lines that are no messages, a client never does.
    pub side: Side,
    /// The method that opens the connection: until a call of it succeeded, no other is served.
    pub opening: Option<&'static str>,
    /// The longest line, in bytes, in either direction. Default 32 MiB.
    pub frame_limit: usize,
    /// A sender waits while more than this many bytes are to be written. Default 256 KiB.
    pub high_water: usize,
    /// How far reading may run ahead of a service that is not ready, in bytes, while an answer is awaited.
    /// Default 64 MiB; past it the connection ends with [`Cause::Flooded`](crate::Cause::Flooded).
    pub hard_limit: usize,
    /// How many calls of the peer may be open at once. Default 4,096. What comes above is refused.
    pub max_calls: usize,
    /// How long the lines of open calls may be together, in bytes. Default 64 MiB. What comes above is refused, unless
    /// it is the only one.
    pub max_call_bytes: usize,
    /// How long open calls may still be answered after the input has ended. Default 5 s.
    pub linger: Duration,
    /// Whether an [`Update`](crate::Update) keeps the line it came in.
    pub keep_raw: bool,
    /// Records every frame.
    pub tap: Option<Tap>,
    /// Where the trace context of an outgoing request comes from.
    pub(crate) trace: Option<Source>,
}

impl Options {
    /// The defaults for `side`.
    pub fn new(side: Side) -> Self {
        Self {
            side,
            opening: None,
            frame_limit: 32 << 20,
            high_water: 256 << 10,
            hard_limit: 64 << 20,
            max_calls: 4096,
            max_call_bytes: 64 << 20,
            linger: Duration::from_secs(5),
            keep_raw: false,
            tap: None,
            trace: None,
        }
    }

    /// The defaults for an agent.
    pub fn agent() -> Self {
        Self::new(Side::Agent)
    }

    /// The defaults for a client.
    pub fn client() -> Self {
        Self::new(Side::Client)
    }

    /// Serves nothing before a call of `method` succeeded.
    #[must_use]
    pub fn opening(mut self, method: &'static str) -> Self {
        self.opening = Some(method);
        self
    }

    /// Sets the longest line, in bytes, in either direction.
    #[must_use]
    pub fn frame_limit(mut self, bytes: usize) -> Self {
        self.frame_limit = bytes;
        self
    }

    /// Sets how many bytes may wait to be written before a sender has to wait.
    #[must_use]
    pub fn high_water(mut self, bytes: usize) -> Self {
        self.high_water = bytes;
        self
    }

    /// Sets how far reading may run ahead of the service while an answer is awaited, in bytes.
    #[must_use]
    pub fn hard_limit(mut self, bytes: usize) -> Self {
        self.hard_limit = bytes;
        self
    }

    /// Sets how long open calls may still be answered after the input has ended.
    #[must_use]
    pub fn linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// Keeps the line of every update beside its typed form.
    #[must_use]
    pub fn keep_raw(mut self, keep: bool) -> Self {
        self.keep_raw = keep;
        self
    }

    /// Records every frame with `tap`.
    #[must_use]
    pub fn tap(mut self, tap: Tap) -> Self {
        self.tap = Some(tap);
        self
    }

    /// Puts the context that `current` gives into the `_meta` of each request that is sent. It is called on the task
    /// of the caller.
    #[must_use]
    pub fn trace_context(
        mut self,
        current: impl Fn() -> Option<TraceContext> + Send + Sync + 'static,
    ) -> Self {
        self.trace = Some(Source::new(current));
        self
    }

    pub(crate) fn peer(&self) -> Config {
        let mut config = Config::new(self.side);
        config.opening = self.opening;
        config.frame_limit = self.frame_limit;
        config.max_calls = self.max_calls;
        config.max_call_bytes = self.max_call_bytes;
        config
    }
}
