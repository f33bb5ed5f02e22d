//! Back pressure: nothing is lost, nothing grows without bound, nothing hangs.

use std::task::{Context, Poll};

use accord_protocol::v1::CancelNotification;
use accord_transport::{
    Call, CallError, Cause, Connection, End, Gate, Handle, LaneReceiver, LaneSender, Notification, Options,
    Reason, Service, Update, lane, pair,
};
use serde_json::json;
use serde_json::value::to_raw_value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use crate::order::chunk;
use crate::support::{Echo, Raw, Recorder, Told, within};

/// Puts every update on one lane.
pub(crate) struct Lanes {
    gate: Gate,
    updates: LaneSender<Update>,
}

impl Lanes {
    pub(crate) fn new(limit: usize) -> (Self, LaneReceiver<Update>) {
        let gate = Gate::new();
        let (updates, receiver) = lane(&gate, limit);
        (Self { gate, updates }, receiver)
    }
}

impl Service for Lanes {
    fn update(&mut self, update: Update) {
        let bytes = update.bytes;
        self.updates.push_batched(update, bytes);
    }

    fn notification(&mut self, _: Notification) {}

    fn call(&mut self, call: Call) {
        call.answer(Ok(()));
    }

    fn flush(&mut self) {
        self.gate.flush();
    }

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.gate.poll_ready(cx)
    }

    fn closed(&mut self, _: &End) {
        self.gate.flush();
    }
}

fn joined(
    left: (Options, impl Service),
    right: (Options, impl Service),
    capacity: usize,
) -> (Handle, Handle) {
    fn start(
        io: impl AsyncRead + AsyncWrite + Send + 'static,
        (options, service): (Options, impl Service),
    ) -> Handle {
        let (read, write) = tokio::io::split(io);
        let (handle, connection) = Connection::new(options);
        connection.spawn(read, write, service);
        handle
    }
    let (left_io, right_io) = tokio::io::duplex(capacity);
    (start(left_io, left), start(right_io, right))
}

// T4: 500 updates, then the answer, through a pipe of 37 bytes and a lane with room for one
#[tokio::test]
async fn a_narrow_pipe_and_a_lane_of_one_keep_order() {
    let (lanes, mut updates) = Lanes::new(1);
    let (recorder, mut told) = Recorder::new();
    let (agent, client) = joined((Options::agent(), recorder), (Options::client(), lanes), 37);
    let turn = tokio::spawn(async move {
        let Some(Told::Call(call)) = told.recv().await else { panic!("the prompt comes first") };
        for n in 0..500 {
            agent.notify(&chunk(&n.to_string())).await.expect("the client is there");
        }
        call.answer(Ok(json!({"stopReason": "end_turn"})));
        agent
    });
    let (sender, mut answered) = mpsc::unbounded_channel();
    let prompt = Prompt::default();
    client
        .start_patient(&prompt, move |outcome| sender.send(outcome.is_ok()).expect("awaited"))
        .await
        .expect("sent");
    for n in 0..500 {
        let update = within(updates.next()).await.expect("every update comes");
        assert_eq!(update.notification, chunk(&n.to_string()));
    }
    assert_eq!(within(answered.recv()).await, Some(true));
    within(turn).await.expect("no panic");
}

#[derive(Default, serde::Serialize, serde::Deserialize)]
struct Prompt {}

impl accord_protocol::method::Request for Prompt {
    const METHOD: &'static str = "_prompt";
    const SERVED_BY: accord_protocol::method::Side = accord_protocol::method::Side::Agent;
    type Answer = serde_json::Map<String, serde_json::Value>;
}

// Both ends write more than the pipe holds before either reads.
#[tokio::test]
async fn two_ends_that_write_at_once_do_not_hang() {
    let (agent, client) = joined((Options::agent(), Echo), (Options::client(), Echo), 64);
    let params = json!({ "text": "x".repeat(5000) });
    for _ in 0..5 {
        let (a, c) =
            within(async { tokio::join!(agent.call_raw("_a", &params), client.call_raw("_c", &params)) })
                .await;
        assert_eq!(a.expect("answered").get().len(), c.expect("answered").get().len());
    }
}

// T6: the consumer stops; the cancel gets through; nothing is lost
#[tokio::test]
async fn a_consumer_that_stops_slows_its_peer_down() {
    const COUNT: usize = 200_000;
    let (lanes, mut updates) = Lanes::new(64 << 10);
    let (recorder, mut told) = Recorder::new();
    let (agent, client) = pair((Options::agent(), recorder), (Options::client(), lanes));
    // Serialised once: a debug build takes long over that.
    let update = to_raw_value(&chunk(&"x".repeat(1000))).expect("it serialises");
    let (progress, sent) = tokio::sync::watch::channel(0_usize);
    let sender = tokio::spawn(async move {
        for n in 1..=COUNT {
            agent.notify_raw("session/update", &update).await.expect("the client is there");
            progress.send_replace(n);
        }
        agent
    });
    // The flood stops by itself: everything on the way is full.
    let mut seen = 0;
    loop {
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
        let now = *sent.borrow();
        if now == seen && now > 0 {
            break;
        }
        seen = now;
    }
    // Lane, one read, the pipe, and the agent's output up to its high-water mark.
    assert!(seen * 1100 < (64 + 70 + 64 + 2 * 256 + 100) << 10, "{seen} updates were taken in");
    client.notify_now(&CancelNotification::new("s1")).expect("it never waits");
    match within(told.recv()).await {
        Some(Told::Notification(cancel)) => assert_eq!(&*cancel.method, "session/cancel"),
        other => panic!("the cancel was expected, not {other:?}"),
    }
    let mut taken = 0;
    while taken < COUNT {
        taken += within(updates.next_batch()).await.expect("nothing is lost").len();
    }
    drop(within(sender).await.expect("no panic"));
    assert!(taken == COUNT && within(updates.next()).await.is_none(), "and nothing comes twice");
}

// Rule 1: an awaited answer comes through a full lane, up to the hard limit
#[tokio::test]
async fn an_awaited_answer_is_read_behind_a_full_lane() {
    let (lanes, mut updates) = Lanes::new(1000);
    let (recorder, mut told) = Recorder::new();
    let (agent, client) = pair((Options::agent(), recorder), (Options::client(), lanes));
    for _ in 0..1000 {
        agent.notify(&chunk("full")).await.expect("the client is there");
    }
    let answer = async {
        match told.recv().await {
            Some(Told::Call(call)) => call.answer(Ok(json!({}))),
            other => panic!("a call was expected, not {other:?}"),
        }
    };
    let (outcome, ()) = within(async { tokio::join!(client.call_raw("session/list", &()), answer) }).await;
    outcome.expect("it came through");
    for _ in 0..1000 {
        within(updates.next()).await.expect("nothing is lost");
    }
}

// Rule 1: past the hard limit the connection fails with its own error
#[tokio::test]
async fn a_peer_that_floods_and_never_answers_is_left() {
    let (lanes, _updates) = Lanes::new(1000);
    let (recorder, _told) = Recorder::new();
    let options = Options::client().hard_limit(1 << 20);
    let (agent, client) = pair((Options::agent(), recorder), (options, lanes));
    let flood = tokio::spawn(async move {
        let text = "x".repeat(1000);
        while agent.notify(&chunk(&text)).await.is_ok() {}
    });
    let error = within(client.call_raw("session/list", &())).await.expect_err("it is never answered");
    let CallError::Lost(lost) = error else { panic!("{error}") };
    assert!(matches!(lost.end().cause(), Cause::Flooded(limit) if *limit == 1 << 20), "{lost}");
    assert_eq!(lost.end().reason(), Reason::Crashed);
    within(flood).await.expect("no panic");
}

// A peer that asks for ever and never reads its answers. Paused time moves only when nothing else does.
#[tokio::test(start_paused = true)]
async fn unread_answers_stop_the_reading() {
    let (_handle, mut raw) = Raw::connected(Options::agent(), Echo);
    let line = format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": null, "method": "_x", "params": {"t": "x".repeat(1000)}})
    );
    let mut written = 0;
    let blocked = loop {
        let write = tokio::io::AsyncWriteExt::write_all(&mut raw.write, line.as_bytes());
        match tokio::time::timeout(std::time::Duration::from_secs(1), write).await {
            Ok(done) => done.expect("the connection lives"),
            Err(_) => break written,
        }
        written += line.len();
        assert!(written < 64 << 20, "the answers are kept without bound");
    };
    assert!(blocked < 4 << 20, "{blocked}");
}

// T7
#[tokio::test]
async fn the_frame_limit_holds_both_ways() {
    let (recorder, mut told) = Recorder::new();
    let (handle, mut raw) = Raw::connected(Options::agent().frame_limit(10_000), recorder);
    let long = "x".repeat(20_000);
    raw.send(format!(
        "{}\n{}\n{}\n",
        json!({"jsonrpc": "2.0", "method": "_before"}),
        format_args!(r#"{{"jsonrpc":"2.0","id":5,"method":"_x","params":{{"t":"{long}"}}}}"#),
        json!({"jsonrpc": "2.0", "method": "_after"}),
    ))
    .await;
    for method in ["_before", "_after"] {
        match within(told.recv()).await {
            Some(Told::Notification(notification)) => assert_eq!(&*notification.method, method),
            other => panic!("a notification was expected, not {other:?}"),
        }
    }
    let answer = raw.line().await.expect("it is answered");
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32600)));
    assert!(answer["error"]["message"].as_str().expect("a message").contains("10000"), "{answer}");
    let error = handle.call_raw("_y", &long).await.expect_err("it is too large");
    assert!(matches!(error, CallError::TooLarge { limit: 10_000, .. }));
    assert!(error.to_string().contains("10000"));
    // An answer that is too large ends its request.
    let answer = async {
        let line = raw.line().await.expect("the request");
        raw.send(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"t":"{long}"}}}}"#, line["id"]) + "\n")
            .await;
    };
    let (outcome, ()) = within(async { tokio::join!(handle.call_raw("_z", &()), answer) }).await;
    assert!(matches!(outcome, Err(CallError::AnswerTooLarge { limit: 10_000 })), "{outcome:?}");
}

// B173
#[tokio::test]
async fn large_lines_are_no_trouble() {
    let (agent, _client) = pair((Options::agent(), Echo), (Options::client(), Echo));
    for size in [65_535, 65_536, 1 << 20, 17 << 20] {
        let answer =
            within(agent.call_raw("_x", &json!({ "t": "é".repeat(size / 2) }))).await.expect("answered");
        assert_eq!(answer.get().len(), size / 2 * 2 + r#"{"t":""}"#.len());
    }
}
