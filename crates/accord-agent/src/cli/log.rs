//! A log for people: what `tracing` is told, from a level up, as lines on stderr.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    sync::atomic::{AtomicU64, Ordering},
};

use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};

/// Sends everything of at least `level` to stderr, from now on and from every thread.
///
/// What HTTP and MCP libraries say is left out: it may hold the keys of servers.
///
/// Without effect where the program has installed its own subscriber before.
pub fn log_to_stderr(level: LevelFilter) {
    // The program's own subscriber, if there is one, is what it wants.
    let _ = tracing::subscriber::set_global_default(Stderr { level, spans: AtomicU64::new(1) });
}

/// Reads a level by its name, `off` included.
pub(super) fn level(name: &str) -> Option<LevelFilter> {
    let known = [
        ("off", LevelFilter::OFF),
        ("error", LevelFilter::ERROR),
        ("warn", LevelFilter::WARN),
        ("info", LevelFilter::INFO),
        ("debug", LevelFilter::DEBUG),
        ("trace", LevelFilter::TRACE),
    ];
    known.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim())).map(|(_, level)| level)
}

/// What these say may hold the addresses and headers of servers, and so their keys; what matters of it is told by us.
const UNGUARDED: &[&str] = &["rmcp", "reqwest", "hyper", "hyper_util", "h2", "rustls"];

/// Events only: spans would tell nothing that the events' own fields do not.
struct Stderr {
    level: LevelFilter,
    spans: AtomicU64,
}

impl Subscriber for Stderr {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let from = metadata.target().split("::").next().unwrap_or_default();
        *metadata.level() <= self.level && !UNGUARDED.contains(&from)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let line = written(*event.metadata().level(), event.metadata().target(), event);
        // With stderr gone there is nobody left to tell.
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// One line in one write, so that threads do not mix theirs.
fn written(level: Level, target: &str, event: &Event<'_>) -> String {
    let mut line = Line(format!("{level:>5} {target}:"));
    event.record(&mut line);
    line.0.push('\n');
    line.0
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let start = self.0.len();
        let written = match field.name() {
            "message" => write!(self.0, " {value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
        written.expect("writing to a string cannot fail");
        // A value with line ends must not look like another line of the log.
        if self.0[start..].contains(['\n', '\r']) {
            let flat = self.0[start..].replace(['\n', '\r'], "⏎");
            self.0.truncate(start);
            self.0.push_str(&flat);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Keeps the lines instead of writing them.
    struct Kept(Stderr, Arc<Mutex<Vec<String>>>);

    impl Subscriber for Kept {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            self.0.enabled(metadata)
        }
        fn new_span(&self, attributes: &Attributes<'_>) -> Id {
            self.0.new_span(attributes)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &Event<'_>) {
            let line = written(*event.metadata().level(), "agent", event);
            self.1.lock().expect("no panic while held").push(line);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    // H1
    #[test]
    fn an_event_is_one_line_and_the_level_holds() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let level = level("Info").expect("a level");
        let subscriber = Kept(Stderr { level, spans: AtomicU64::new(1) }, lines.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::info!(turn = 3, text = "two\nlines", "started");
            tracing::debug!("not wanted");
        });
        assert_eq!(*lines.lock().expect("no panic"), [" INFO agent: started turn=3 text=two⏎lines\n"]);
        assert!(super::level("loud").is_none());
    }
}
