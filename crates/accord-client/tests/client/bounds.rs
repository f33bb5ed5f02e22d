//! Memory stays bounded when whoever consumes stops, whatever it is that they consume: the agent is held up, nothing is lost.

use std::{
    cell::Cell,
    future::{Future, poll_fn},
    path::Path,
    pin::{Pin, pin},
    sync::Arc,
    task::Poll,
};

use accord_client::{
    Client, Handler, Runner, SessionId, SessionUpdate, StopReason, events::EventKind,
    protocol::v1::LoadSessionRequest, runner::Source,
};
use serde_json::{Value, json, value::RawValue};
use tokio::{io::split, sync::Semaphore};

use crate::script::{CWD, chunk, connected, opened, wire};

/// How much each message says, and how many there are: far more than may be held.
const TEXT: usize = 64 * 1024;
const MESSAGES: usize = 96;
/// A lane, what one read brings past it, and both pipes.
const HELD: usize = 3 * 1024 * 1024;

/// Polls a flood until nothing more of it is taken, and gives how much was, in bytes.
///
/// There is one thread, so whoever could take more has its turn between two polls.
async fn stuck(mut flood: Pin<&mut impl Future<Output = ()>>, taken: &Cell<usize>) -> usize {
    let (mut idle, mut before) = (0, 0);
    poll_fn(|cx| {
        assert!(flood.as_mut().poll(cx).is_pending(), "all of it was taken, and nobody consumes it");
        idle = if taken.get() == before { idle + 1 } else { 0 };
        before = taken.get();
        if idle > 500 {
            return Poll::Ready(taken.get() * TEXT);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

fn length(update: &SessionUpdate) -> usize {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) => chunk.content.as_text().map_or(0, str::len),
        _ => 0,
    }
}

/// Sends the whole flood, counting what is taken.
macro_rules! flood {
    ($agent:ident, $taken:ident, $message:expr) => {
        async {
            for _ in 0..MESSAGES {
                $agent.send($message).await;
                $taken.set($taken.get() + 1);
            }
        }
    };
}

fn update() -> Value {
    crate::script::update_of("sess_1", &chunk(&"x".repeat(TEXT)))
}

// Rule 4: a turn that is not read.
#[tokio::test]
async fn a_turn_nobody_reads_is_bounded() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let mut turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    let taken = Cell::new(0);
    {
        let mut flood = pin!(flood!(agent, taken, update()));
        let held = stuck(flood.as_mut(), &taken).await;
        assert!(held < HELD, "{held} bytes are held");
        let reading = async {
            let mut bytes = 0;
            while bytes < MESSAGES * TEXT {
                bytes += length(&turn.next().await.expect("nothing is lost"));
            }
        };
        tokio::join!(flood, reading);
    }
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    assert_eq!(turn.finish().await.unwrap(), StopReason::EndTurn);
}

// Rule 4, T4: a cancel gets through although nothing is read, and a turn that is given up holds nobody up.
#[tokio::test]
async fn a_turn_that_is_given_up_holds_nothing_up() {
    let (session, mut agent) = opened(Client::builder(), json!({})).await;
    let turn = session.prompt("go").await.unwrap();
    let prompt = agent.expect("session/prompt").await;
    let taken = Cell::new(0);
    {
        let mut flood = pin!(flood!(agent, taken, update()));
        stuck(flood.as_mut(), &taken).await;
        drop(turn);
        flood.await;
    }
    agent.expect("session/cancel").await;
    agent.answer(&prompt, json!({"stopReason": "cancelled"})).await;
    // Nothing of the flood is in the next turn.
    let mut next = session.prompt("again").await.unwrap();
    agent.serve("session/prompt", json!({"stopReason": "end_turn"})).await;
    assert!(next.next().await.is_none());
}

// Rule 4: a history that is not read.
#[tokio::test]
async fn a_history_nobody_reads_is_bounded() {
    let (client, mut agent) = connected(Client::builder(), json!({"loadSession": true})).await;
    let mut replay = client.replay_session(LoadSessionRequest::new("sess_1", CWD, [])).unwrap();
    // The request is sent when the history is first asked for.
    let request = tokio::select! {
        biased;
        _ = replay.next() => panic!("there is no history yet"),
        request = agent.expect("session/load") => request,
    };
    let taken = Cell::new(0);
    {
        let mut flood = pin!(flood!(agent, taken, update()));
        let held = stuck(flood.as_mut(), &taken).await;
        assert!(held < HELD, "{held} bytes are held");
        let reading = async {
            let mut bytes = 0;
            while bytes < MESSAGES * TEXT {
                bytes += length(&replay.next().await.expect("nothing is lost"));
            }
        };
        tokio::join!(flood, reading);
    }
    let (session, ()) = tokio::join!(replay.finish(), agent.answer(&request, json!({})));
    session.unwrap();
}

/// A handler that takes nothing until it may.
#[derive(Clone)]
struct Slow(Arc<Semaphore>);

impl Slow {
    async fn wait(&self) {
        self.0.acquire().await.expect("it is never closed").forget();
    }
}

impl Handler for Slow {
    async fn update(&self, _: &SessionId, _: SessionUpdate) {
        self.wait().await;
    }

    async fn ext_notification(&self, _: &str, _: Option<Box<RawValue>>) {
        self.wait().await;
    }
}

// Rule 4: a handler that does not come back, between turns and outside sessions.
#[tokio::test]
async fn a_handler_that_hangs_is_bounded() {
    let notice = || json!({"jsonrpc": "2.0", "method": "_x/much", "params": {"text": "x".repeat(TEXT)}});
    for message in [&update as &dyn Fn() -> Value, &notice] {
        let slow = Slow(Arc::new(Semaphore::new(0)));
        let (_session, mut agent) = opened(Client::builder().handler(slow.clone()), json!({})).await;
        let taken = Cell::new(0);
        {
            let mut flood = pin!(flood!(agent, taken, message()));
            let held = stuck(flood.as_mut(), &taken).await;
            assert!(held < HELD, "{held} bytes are held");
            slow.0.add_permits(MESSAGES);
            flood.await;
        }
        agent.assert_quiet().await;
    }
}

// Rule 4: a runner whose events nobody takes.
#[tokio::test]
async fn events_nobody_takes_are_bounded() {
    let (ours, mut agent) = wire();
    let (read, write) = split(ours);
    let (runner, mut events) = Runner::builder(Source::stream(read, write)).cwd(CWD).start();
    let running = runner.clone();
    let run = tokio::spawn(async move { running.run("go").await });
    agent.serve("initialize", json!({"protocolVersion": 1})).await;
    agent.serve("session/new", json!({"sessionId": "sess_1"})).await;
    let prompt = agent.expect("session/prompt").await;
    let taken = Cell::new(0);
    {
        let mut flood = pin!(flood!(agent, taken, update()));
        let held = stuck(flood.as_mut(), &taken).await;
        // An event holds its raw message besides; a few of them wait in the stream.
        assert!(held < HELD, "{held} bytes are held");
        let reading = async {
            let mut bytes = 0;
            while bytes < MESSAGES * TEXT {
                if let EventKind::MessageDelta { text, .. } =
                    events.next().await.expect("nothing is lost").kind
                {
                    bytes += text.len();
                }
            }
        };
        tokio::join!(flood, reading);
    }
    agent.answer(&prompt, json!({"stopReason": "end_turn"})).await;
    while events.next().await.expect("the run ends").kind.name() != "run.completed" {}
    assert_eq!(run.await.unwrap().unwrap(), StopReason::EndTurn);
}

// Rule 4: updates for sessions that may yet become known are held up to a limit, and the opening goes well all the same.
#[tokio::test]
async fn what_comes_before_its_session_is_bounded() {
    let (client, mut agent) = connected(Client::builder(), json!({})).await;
    let opening = tokio::spawn(async move { client.new_session(Path::new(CWD)).await });
    let request = agent.expect("session/new").await;
    for _ in 0..MESSAGES {
        agent.send(update()).await;
    }
    agent.answer(&request, json!({"sessionId": "sess_1"})).await;
    opening.await.unwrap().unwrap();
}
