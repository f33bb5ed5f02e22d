//! What was said before the end is heard, however slow the consumer: only this side's own wish to close cuts it short.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use accord_transport::{
    AgentCommand, CallError, Cause, Connection, Handle, LaneReceiver, Options, Update, connect,
};
use rustix::process::{Pid, test_kill_process};
use tokio::io::{AsyncWrite, AsyncWriteExt, DuplexStream};

use crate::flow::Lanes;
use crate::order::chunk;
use crate::support::within;

/// More than one read, and less than a pipe holds.
const COUNT: usize = 400;

fn lines() -> String {
    let line = |n: usize| {
        let params = serde_json::to_string(&chunk(&n.to_string())).expect("it serialises");
        format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#) + "\n"
    };
    (0..COUNT).map(line).collect()
}

async fn all_are_there(updates: &mut LaneReceiver<Update>) {
    for n in 0..COUNT {
        let update = within(updates.next()).await.expect("nothing is lost");
        assert_eq!(update.notification, chunk(&n.to_string()));
    }
    assert!(within(updates.next()).await.is_none(), "and nothing comes twice");
}

/// An agent that says everything, and is gone by the time this returns; its consumer has not begun.
async fn exited_agent() -> (Handle, LaneReceiver<Update>) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("lines");
    std::fs::write(&file, lines()).expect("written");
    let (lanes, updates) = Lanes::new(1000);
    let (handle, connection) = Connection::new(Options::client());
    let command = AgentCommand::new("cat").arg(&file);
    connection.spawn_child(&command, lanes).expect("cat is there");
    let pid = handle.pid().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).expect("it has one");
    within(async {
        while test_kill_process(pid).is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    (handle, updates)
}

/// Lets every timer run out that runs now.
async fn long_after() {
    tokio::time::pause();
    for _ in 0..100 {
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    tokio::time::resume();
}

// T1, T6: the process is long gone when the consumer begins
#[tokio::test]
async fn what_a_process_said_last_waits_for_its_consumer() {
    let (handle, mut updates) = exited_agent().await;
    long_after().await;
    assert!(!handle.is_closed(), "it is not over before everything was handed over");
    all_are_there(&mut updates).await;
    assert_eq!(within(handle.closed()).await.exit_code(), Some(0));
}

// T1: a call that waits for nobody fails although the lane is full, and still nothing is lost
#[tokio::test]
async fn the_death_of_a_process_fails_calls_behind_a_full_lane() {
    let (handle, mut updates) = exited_agent().await;
    long_after().await;
    assert!(matches!(within(handle.call_raw("_x", &())).await, Err(CallError::Lost(_))));
    all_are_there(&mut updates).await;
}

#[tokio::test]
async fn closing_does_not_wait_for_the_consumer_of_a_process_that_is_gone() {
    let (handle, updates) = exited_agent().await;
    long_after().await;
    handle.close();
    within(handle.closed()).await;
    drop(updates);
}

/// Takes nothing.
struct Broken;

impl AsyncWrite for Broken {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A peer that has said everything and reads nothing; its consumer has not begun.
async fn deaf_peer() -> (Handle, LaneReceiver<Update>, DuplexStream) {
    let said = lines();
    let (ours, mut theirs) = tokio::io::duplex(said.len());
    theirs.write_all(said.as_bytes()).await.expect("there is room");
    let (lanes, updates) = Lanes::new(1000);
    let handle = connect(ours, Broken, Options::client(), lanes);
    handle.notify_raw("_x", &()).await.expect("queued");
    (handle, updates, theirs)
}

// T1
#[tokio::test]
async fn what_was_said_before_a_write_error_waits_for_its_consumer() {
    let (handle, mut updates, _theirs) = deaf_peer().await;
    long_after().await;
    all_are_there(&mut updates).await;
    assert!(matches!(within(handle.closed()).await.cause(), Cause::Write(_)));
}

#[tokio::test]
async fn closing_does_not_wait_for_a_consumer_after_a_write_error() {
    let (handle, updates, _theirs) = deaf_peer().await;
    long_after().await;
    handle.close();
    assert!(matches!(within(handle.closed()).await.cause(), Cause::Write(_)));
    drop(updates);
}
