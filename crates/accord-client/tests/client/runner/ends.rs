//! The end of a runner: disposed of, its agent gone, its sink broken.

use accord_client::{
    events::{CloseReason, Event},
    runner::{EventSink, RunError, Runner, RunnerState, SinkError, Source},
};
use serde_json::json;
use tokio::io::split;

use super::stage;
use crate::script::{CWD, chunk, permission, wire};

// E13, E21: disposed of twice, closed once; the turn is cancelled and questions are settled; then nothing is taken.
#[tokio::test]
async fn a_runner_is_disposed_of_once() {
    let mut stage = stage();
    let (_prompt, run) = stage.running().await;
    stage.agent.ask(7, "session/request_permission", permission("sess_1")).await;
    assert_eq!(stage.told().await["type"], "approval.requested");
    let (first, second) = tokio::join!(stage.runner.dispose(), stage.runner.dispose());
    assert_eq!((first, second), (CloseReason::Killed, CloseReason::Killed));
    assert_eq!(run.await.unwrap().unwrap(), "cancelled");
    assert_eq!(stage.names(2).await, ["approval.settled", "run.completed"]);
    let closed = stage.told().await;
    assert_eq!((closed["type"].as_str(), closed["reason"].as_str()), (Some("runner.closed"), Some("killed")));
    assert!(stage.events.recv().await.is_none());
    assert_eq!(stage.runner.state(), RunnerState::Closed(CloseReason::Killed));
    let error = stage.runner.run("more").await.unwrap_err();
    assert!(matches!(error, RunError::Closed(CloseReason::Killed)), "{error:?}");
    // What was queued is written before the end.
    assert_eq!(stage.agent.next().await.unwrap()["method"], "session/cancel");
    assert_eq!(stage.agent.expect_answer(7).await["result"]["outcome"]["outcome"], "cancelled");
    assert!(stage.agent.next().await.is_none());
    assert_eq!(stage.runner.dispose().await, CloseReason::Killed);
}

// E13: a runner that was never used is closed, too.
#[tokio::test]
async fn an_unused_runner_is_disposed_of() {
    let mut stage = stage();
    assert_eq!(stage.runner.dispose().await, CloseReason::Killed);
    assert_eq!(stage.names(1).await, ["runner.closed"]);
    assert!(stage.events.recv().await.is_none());
}

// E5, E13, E21, B038: the agent goes away in a turn: it fails at once, questions are settled, the runner is closed.
#[tokio::test]
async fn the_agents_end_closes_the_runner() {
    let mut stage = stage();
    let (_prompt, run) = stage.running().await;
    stage.agent.ask(7, "session/request_permission", permission("sess_1")).await;
    assert_eq!(stage.told().await["type"], "approval.requested");
    drop(stage.agent);
    let error = run.await.unwrap().unwrap_err();
    assert!(error.contains("connection lost"), "{error}");
    let mut names = Vec::new();
    while let Some(event) = stage.events.recv().await {
        names.push(event.kind.name());
    }
    names.sort_unstable();
    assert_eq!(names, ["approval.settled", "run.completed", "runner.closed"]);
    assert_eq!(stage.runner.closed().await, CloseReason::Completed);
}

// E5: an agent that goes away between turns closes the runner as well.
#[tokio::test]
async fn an_idle_runner_is_closed_by_its_agents_end() {
    let mut stage = stage();
    let runner = stage.runner.clone();
    let opening = tokio::spawn(async move { runner.open().await.map(drop) });
    stage.serve_opening().await;
    opening.await.unwrap().unwrap();
    drop(stage.agent);
    assert_eq!(stage.runner.closed().await, CloseReason::Completed);
    let event = stage.events.recv().await.unwrap();
    assert_eq!(event.kind.name(), "runner.closed");
}

/// Takes a number of events, then fails.
struct Failing(usize);

impl EventSink for Failing {
    async fn emit(&mut self, _: Event) -> Result<(), SinkError> {
        self.0 = self.0.checked_sub(1).ok_or("the disk is full")?;
        Ok(())
    }
}

// E2: a sink that fails ends the runner as crashed, and everything pending is settled.
#[tokio::test]
async fn a_sink_that_fails_ends_the_runner() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let runner = Runner::builder(Source::stream(read, write)).cwd(CWD).start_with(Failing(2));
    let running = runner.clone();
    let run = tokio::spawn(async move { running.run("go").await });
    agent.serve("initialize", json!({"protocolVersion": 1})).await;
    agent.serve("session/new", json!({"sessionId": "sess_1"})).await;
    agent.expect("session/prompt").await;
    agent.ask(7, "session/request_permission", permission("sess_1")).await;
    agent.update(chunk("too much")).await;
    let error = run.await.unwrap().unwrap_err();
    assert!(matches!(error, RunError::Closed(CloseReason::Crashed)), "{error:?}");
    assert_eq!(runner.closed().await, CloseReason::Crashed);
    let mut methods = Vec::new();
    while let Some(frame) = agent.next().await {
        methods.push(frame.get("method").map_or("an answer", |_| "session/cancel").to_owned());
    }
    methods.sort();
    assert_eq!(methods, ["an answer", "session/cancel"]);
}

// Rule 4: a consumer that stops reading holds the agent up; nothing is lost, and an interrupt still gets through.
#[tokio::test]
async fn a_consumer_that_stops_is_no_flood() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let (runner, mut events) = Runner::builder(Source::stream(read, write)).cwd(CWD).start();
    let running = runner.clone();
    let run = tokio::spawn(async move { running.run("go").await });
    agent.serve("initialize", json!({"protocolVersion": 1})).await;
    agent.serve("session/new", json!({"sessionId": "sess_1"})).await;
    let prompt = agent.expect("session/prompt").await;
    let text = "x".repeat(64 * 1024);
    // More than the lane and the pipe hold: writing gets stuck until somebody reads.
    let flood = async {
        for _ in 0..64 {
            agent.update(chunk(&text)).await;
        }
    };
    let stuck = {
        let mut flood = std::pin::pin!(flood);
        let mut settled = 0;
        std::future::poll_fn(|cx| {
            let pending = flood.as_mut().poll(cx).is_pending();
            settled += 1;
            if settled < 1000 && pending {
                cx.waker().wake_by_ref();
                std::task::Poll::Pending
            } else {
                std::task::Poll::Ready(pending)
            }
        })
        .await
    };
    assert!(stuck, "the flood was taken without anybody reading it");
    runner.interrupt();
    assert_eq!(run.await.unwrap().unwrap(), accord_client::StopReason::Cancelled);
    let reading = tokio::spawn(async move { while events.next().await.is_some() {} });
    agent.expect("session/cancel").await;
    agent.answer(&prompt, json!({"stopReason": "cancelled"})).await;
    runner.dispose().await;
    drop(runner);
    reading.await.unwrap();
}
