//! The runner: rows E, told as events.

mod ends;
mod opening;
mod questions;
mod races;
mod turns;
mod visits;

use accord_client::{
    Runner,
    events::Event,
    runner::{EventSink, Restore, RunnerBuilder, SinkError, Source},
};
use serde_json::{Value, json};
use tokio::{io::split, sync::mpsc};

use crate::script::{Agent, CWD, wire};

/// A sink that gives the test everything, without ever holding the runner up.
struct Tell(mpsc::UnboundedSender<Event>);

impl EventSink for Tell {
    async fn emit(&mut self, event: Event) -> Result<(), SinkError> {
        Ok(self.0.send(event)?)
    }
}

/// A runner, the agent it will start, and what it tells.
pub(crate) struct Stage {
    runner: Runner,
    agent: Agent,
    events: mpsc::UnboundedReceiver<Event>,
}

pub(crate) fn stage() -> Stage {
    stage_with(|builder| builder)
}

pub(crate) fn stage_with(configure: impl FnOnce(RunnerBuilder) -> RunnerBuilder) -> Stage {
    let (ours, agent) = wire();
    let (read, write) = split(ours);
    let (sender, events) = mpsc::unbounded_channel();
    let builder = configure(Runner::builder(Source::stream(read, write)).cwd(CWD));
    Stage { runner: builder.start_with(Tell(sender)), agent, events }
}

pub(crate) fn restoring(restore: Restore) -> Stage {
    stage_with(|builder| builder.restore(restore))
}

impl Stage {
    /// Starts a prompt; the agent gets to open the session.
    fn run(&self, text: &str) -> tokio::task::JoinHandle<Result<String, String>> {
        let (runner, text) = (self.runner.clone(), text.to_owned());
        tokio::spawn(async move {
            let outcome = runner.run(text.as_str()).await;
            outcome.map(|reason| reason.to_string()).map_err(|error| error.to_string())
        })
    }

    /// The agent's side of the handshake, and of opening `sess_1`.
    async fn serve_opening(&mut self) {
        self.agent.serve("initialize", json!({"protocolVersion": 1})).await;
        self.agent.serve("session/new", json!({"sessionId": "sess_1"})).await;
    }

    /// A turn that has got as far as the agent: the prompt's frame, and who waits for its end.
    async fn running(&mut self) -> (Value, tokio::task::JoinHandle<Result<String, String>>) {
        let run = self.run("go");
        self.serve_opening().await;
        let prompt = self.agent.expect("session/prompt").await;
        assert_eq!(self.told().await["type"], "run.started");
        (prompt, run)
    }

    /// The next event, as it is written down.
    async fn told(&mut self) -> Value {
        let event = self.events.recv().await.expect("there is another event");
        serde_json::to_value(event).expect("events are JSON")
    }

    /// The names of the next events.
    async fn names(&mut self, count: usize) -> Vec<String> {
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(self.told().await["type"].as_str().expect("events have names").to_owned());
        }
        names
    }

    fn assert_nothing_told(&mut self) {
        if let Ok(event) = self.events.try_recv() {
            panic!("{event:?}");
        }
    }
}

/// An event without what most tests do not look at.
fn bare(mut event: Value) -> Value {
    let object = event.as_object_mut().expect("events are objects");
    for member in ["seq", "sessionId", "raw", "run"] {
        object.remove(member);
    }
    event
}
