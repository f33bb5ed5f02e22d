//! What comes at the very moment a run begins, and a runner that is dropped before it ever connected.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, OnceLock},
    task::{Context, Poll, Wake, Waker},
};

use accord_client::{
    Runner, SessionStatus, StopReason,
    events::{CloseReason, Event, EventKind},
    runner::{EventSink, RunError, RunnerState, SinkError, Source},
};
use serde_json::json;
use tokio::{io::split, sync::oneshot};

use super::{Stage, stage};
use crate::{
    hostile::give_up,
    script::{CWD, chunk, wire},
};

/// Acts in the very moment a watcher of the state is woken: nothing can come sooner.
struct AtOnce(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Wake for AtOnce {
    fn wake(self: Arc<Self>) {
        let act = self.0.lock().expect("no test panicked").take();
        if let Some(act) = act {
            act();
        }
    }
}

/// Runs a prompt once it is seen to run `act` is called, before anything else happens; gives what the first step made of it.
fn run_into(runner: &Runner, act: impl FnOnce() + Send + 'static) -> Poll<Result<StopReason, String>> {
    let mut state = runner.watch_state();
    let mut changed = pin!(state.changed());
    let at_once = Waker::from(Arc::new(AtOnce(Mutex::new(Some(Box::new(act))))));
    assert!(changed.as_mut().poll(&mut Context::from_waker(&at_once)).is_pending());
    let mut run = pin!(runner.run("go"));
    let polled = run.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    polled.map(|outcome| outcome.map_err(|error| error.to_string()))
}

// E20: an interrupt that comes as soon as the run can be seen is not lost; nothing is started or sent for it.
#[tokio::test]
async fn an_interrupt_as_the_run_begins_is_not_lost() {
    let mut stage = stage();
    let runner = stage.runner.clone();
    let outcome = run_into(&stage.runner, move || runner.interrupt());
    assert_eq!(outcome, Poll::Ready(Ok(StopReason::Cancelled)));
    stage.assert_nothing_told();
    // The runner takes the next prompt.
    let run = stage.run("go");
    stage.serve_opening().await;
    stage.agent.serve("session/prompt", json!({"stopReason": "end_turn"})).await;
    assert_eq!(run.await.unwrap().unwrap(), "end_turn");
}

// E21, E22: disposed of as soon as the run can be seen: it never was, for the agent and for whoever is told.
#[tokio::test]
async fn a_dispose_as_the_run_begins_is_not_lost() {
    let mut stage = stage();
    let opening = stage.runner.clone();
    let opening = tokio::spawn(async move { opening.open().await.map(drop) });
    stage.serve_opening().await;
    opening.await.unwrap().unwrap();

    let runner = stage.runner.clone();
    let outcome = run_into(&stage.runner, move || {
        let mut dispose = pin!(runner.dispose());
        assert!(dispose.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    });
    assert_eq!(outcome, Poll::Ready(Ok(StopReason::Cancelled)));
    assert_eq!(stage.runner.dispose().await, CloseReason::Killed);
    assert_eq!(stage.names(1).await, ["runner.closed"]);
    assert!(stage.agent.next().await.is_none());
}

// E13: a runner that is dropped before it connected ends its events.
#[tokio::test]
async fn a_runner_that_is_dropped_unused_ends_its_events() {
    let (ours, _agent) = wire();
    let (read, write) = split(ours);
    let (runner, mut events) = Runner::builder(Source::stream(read, write)).cwd(CWD).start();
    drop(runner);
    assert_eq!(events.next().await.unwrap().kind.name(), "runner.closed");
    assert!(events.next().await.is_none());
}

// E13, E6: so does one that is dropped while the agent has not answered `initialize`; the connection is closed.
#[tokio::test]
async fn a_runner_that_is_dropped_as_it_connects_ends_its_events() {
    let mut stage = stage();
    let run = stage.run("go");
    stage.agent.expect("initialize").await;
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    drop(stage.runner);
    assert_eq!(stage.events.recv().await.unwrap().kind.name(), "runner.closed");
    assert!(stage.events.recv().await.is_none());
    assert!(stage.agent.next().await.is_none_or(|frame| frame["method"] == "$/cancel_request"));
}

/// Does something each time it wakes.
struct OnWake(Box<dyn Fn() + Send + Sync>);

impl Wake for OnWake {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

// E12, E20: whoever learns that the run was interrupted may prompt at once: the session's turn is no longer a running one.
#[tokio::test]
async fn whoever_learns_of_the_interrupt_may_prompt_anew() {
    let mut stage = stage();
    let runner = stage.runner.clone();
    let mut run = pin!(runner.run("go"));
    tokio::select! {
        biased;
        outcome = &mut run => panic!("{outcome:?}"),
        () = async { stage.serve_opening().await; stage.agent.expect("session/prompt").await; } => {}
    }
    let session = stage.runner.session().expect("it is open");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let waker = {
        let seen = Arc::clone(&seen);
        Waker::from(Arc::new(OnWake(Box::new(move || seen.lock().unwrap().push(session.status())))))
    };
    assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    stage.runner.interrupt();
    assert_eq!(*seen.lock().unwrap(), [SessionStatus::Cancelling]);
    assert_eq!(run.await.unwrap(), StopReason::Cancelled);
}

// E22: a run that is given up at any of its steps leaves a runner that runs the next, and each run that was told as started
// is told as completed, once.
#[tokio::test]
async fn a_run_is_given_up_at_each_step() {
    for polls in 0..12 {
        let Stage { runner, mut agent, mut events } = stage();
        let serving = tokio::spawn(async move {
            while let Some(frame) = agent.next().await {
                match frame["method"].as_str() {
                    Some("initialize") => agent.answer(&frame, json!({"protocolVersion": 1})).await,
                    Some("session/new") => agent.answer(&frame, json!({"sessionId": "sess_1"})).await,
                    Some("session/prompt") => {
                        agent.update(chunk("said")).await;
                        agent.answer(&frame, json!({"stopReason": "end_turn"})).await;
                    }
                    _ => {}
                }
            }
        });
        give_up(runner.run("given up"), polls).await;
        assert_eq!(runner.run("go").await.unwrap(), StopReason::EndTurn, "{polls}");
        runner.dispose().await;
        serving.await.unwrap();
        let mut open = 0;
        while let Some(event) = events.recv().await {
            match event.kind.name() {
                "run.started" => open += 1,
                "run.completed" => open -= 1,
                _ => {}
            }
            assert!((0..=1).contains(&open), "{polls}");
        }
        assert_eq!(open, 0, "{polls}");
    }
}

/// Prompts anew as soon as a run is told as completed, once.
struct Eager {
    runner: Arc<OnceLock<Runner>>,
    again: Option<oneshot::Sender<Poll<Result<StopReason, RunError>>>>,
}

impl EventSink for Eager {
    async fn emit(&mut self, event: Event) -> Result<(), SinkError> {
        if let EventKind::RunCompleted { .. } = event.kind
            && let Some(again) = self.again.take()
        {
            let runner = self.runner.get().expect("it was set before the run");
            assert_eq!(runner.state(), RunnerState::Idle);
            let mut run = pin!(runner.run("again"));
            let first = run.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            let _ = again.send(first);
        }
        Ok(())
    }
}

// E12, E13, E22: whoever is told that a run is completed finds the runner free, although its caller may not have looked yet.
#[tokio::test]
async fn whoever_is_told_of_the_end_may_prompt_anew() {
    for interrupted in [false, true] {
        let (ours, mut agent) = wire();
        let (read, write) = split(ours);
        let cell = Arc::new(OnceLock::new());
        let (again, seen) = oneshot::channel();
        let sink = Eager { runner: Arc::clone(&cell), again: Some(again) };
        let runner = Runner::builder(Source::stream(read, write)).cwd(CWD).start_with(sink);
        cell.set(runner.clone()).unwrap();
        let mut run = pin!(runner.run("go"));
        let prompt = tokio::select! {
            biased;
            outcome = &mut run => panic!("{outcome:?}"),
            prompt = async {
                agent.serve("initialize", json!({"protocolVersion": 1})).await;
                agent.serve("session/new", json!({"sessionId": "sess_1"})).await;
                agent.expect("session/prompt").await
            } => prompt,
        };
        // Nobody looks at the first run from here on.
        if interrupted {
            runner.interrupt();
        } else {
            agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
        }
        // Given up at once, it is neither refused nor done.
        assert!(seen.await.unwrap().is_pending());
        let expected = if interrupted { StopReason::Cancelled } else { StopReason::EndTurn };
        assert_eq!(run.await.unwrap(), expected);
        assert_eq!(runner.state(), RunnerState::Idle);
    }
}

/// Takes one event and never comes back.
struct Stuck(bool);

impl EventSink for Stuck {
    async fn emit(&mut self, _: Event) -> Result<(), SinkError> {
        if std::mem::replace(&mut self.0, true) {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

// E5: a run ends with its connection, also when whoever takes the events hangs.
#[tokio::test(start_paused = true)]
async fn a_run_ends_with_its_connection_whoever_hangs() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let runner = Runner::builder(Source::stream(read, write)).cwd(CWD).start_with(Stuck(false));
    let serving = async {
        agent.serve("initialize", json!({"protocolVersion": 1})).await;
        agent.serve("session/new", json!({"sessionId": "sess_1"})).await;
        agent.expect("session/prompt").await;
        agent.update(chunk("never taken")).await;
        drop(agent);
    };
    let (outcome, ()) = tokio::join!(runner.run("go"), serving);
    let error = outcome.unwrap_err();
    assert!(error.to_string().contains("connection lost"), "{error}");
    assert_eq!(runner.dispose().await, CloseReason::Killed);
}
