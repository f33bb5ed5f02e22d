//! Updates that belong nowhere: told in the log, but not one by one, and without what they say.

use std::{
    fmt::Write,
    sync::{Arc, Mutex},
};

use accord_client::Client;
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::script::{chunk, opened, update_of};

/// Keeps what this crate warns of.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, "{field}={value:?} ").expect("a String takes everything");
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("accord_client") && *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut text = String::new();
        event.record(&mut Fields(&mut text));
        self.0.lock().expect("no test panicked").push(text);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

// B007, rule 8: an agent that sends nothing but strays does not fill the log, and nothing it says gets there.
#[tokio::test]
async fn strays_are_told_each_time_their_count_doubles() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let (_session, mut agent) = opened(Client::builder(), json!({})).await;
    for n in 0..1000 {
        agent.send(update_of(&format!("secret_{n}"), &chunk("secret"))).await;
    }
    agent.assert_quiet().await;
    let told = log.0.lock().unwrap().clone();
    let counts: Vec<&str> =
        told.iter().filter(|text| text.contains("unknown sessions")).map(String::as_str).collect();
    assert_eq!(counts.len(), 10, "1, 2, 4 … 512: {told:?}");
    assert!(counts[9].contains("count=512"), "{counts:?}");
    assert!(!told.concat().contains("secret"), "{told:?}");
}
