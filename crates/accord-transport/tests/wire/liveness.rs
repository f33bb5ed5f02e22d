//! Everything settles: at the end of the input, on errors, on cancels, in any handler.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use accord_protocol::rpc::{Error, ErrorCode};
use accord_transport::{
    Call, CallError, Cause, Connection, Notification, Options, Reason, Service, Update, connect, pair,
};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

use crate::support::{Echo, Raw, Recorder, Told, within};

/// Gives nothing, or an error once told to; takes everything, or an error.
struct Broken {
    read: Option<io::ErrorKind>,
    write: Option<io::ErrorKind>,
}

impl AsyncRead for Broken {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, _: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.read.map_or(Poll::Pending, |kind| Poll::Ready(Err(io::Error::new(kind, "the line is down"))))
    }
}

impl AsyncWrite for Broken {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(self.write.map_or(Ok(bytes.len()), |kind| Err(kind.into())))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

// T1, B041
#[tokio::test]
async fn a_read_error_is_told_as_what_it_was() {
    let broken = || Broken { read: Some(io::ErrorKind::ConnectionReset), write: None };
    let handle = connect(broken(), broken(), Options::client(), Echo);
    let CallError::Lost(lost) = within(handle.call_raw("_x", &())).await.expect_err("it is down") else {
        panic!("the connection should be lost")
    };
    assert!(
        matches!(lost.end().cause(), Cause::Read(error) if error.kind() == io::ErrorKind::ConnectionReset)
    );
    assert!(lost.to_string().contains("the line is down"), "{lost}");
    assert_eq!(within(handle.closed()).await.reason(), Reason::Crashed);
}

// T1
#[tokio::test]
async fn a_write_error_ends_the_connection() {
    let broken = || Broken { read: None, write: Some(io::ErrorKind::BrokenPipe) };
    let handle = connect(broken(), broken(), Options::client(), Echo);
    let outcomes =
        within(async { tokio::join!(handle.call_raw("_x", &()), handle.call_raw("_y", &())) }).await;
    assert!(matches!(outcomes, (Err(CallError::Lost(_)), Err(CallError::Lost(_)))));
    assert!(matches!(within(handle.closed()).await.cause(), Cause::Write(_)));
    assert!(matches!(handle.call_raw("_z", &()).await, Err(CallError::Lost(_))));
}

// T1, B038: every pending request, each once, also those whose outcome is delivered on the driver
#[tokio::test]
async fn the_end_of_input_settles_everything_once() {
    let (handle, raw) = Raw::connected(Options::client(), Echo);
    let (sender, mut delivered) = mpsc::unbounded_channel();
    for _ in 0..10 {
        let sender = sender.clone();
        let request = accord_protocol::v1::ListSessionsRequest::new();
        let deliver = move |outcome: Result<_, _>| sender.send(outcome.is_err()).expect("awaited");
        handle.start(&request, deliver).await.expect("sent");
    }
    drop(sender);
    let pending: Vec<_> = (0..10)
        .map(|_| {
            let handle = handle.clone();
            tokio::spawn(async move { handle.call_raw("_x", &()).await })
        })
        .collect();
    handle.flush().await;
    drop(raw);
    for call in pending {
        assert!(matches!(within(call).await.expect("no panic"), Err(CallError::Lost(_))));
    }
    for _ in 0..10 {
        assert_eq!(within(delivered.recv()).await, Some(true));
    }
    assert_eq!(within(delivered.recv()).await, None);
}

#[tokio::test]
async fn closing_writes_what_is_queued_and_fails_what_is_pending() {
    let (handle, mut raw) = Raw::with_capacity(Options::client(), Echo, 100);
    let pending = tokio::spawn({
        let handle = handle.clone();
        async move { handle.call_raw("_first", &"x".repeat(5000)).await }
    });
    tokio::task::yield_now().await;
    handle.close();
    assert!(matches!(within(pending).await.expect("no panic"), Err(CallError::Lost(_))));
    assert!(matches!(handle.call_raw("_late", &()).await, Err(CallError::Lost(_))));
    assert_eq!(raw.line().await.expect("it was queued")["method"], "_first");
    assert_eq!(raw.line().await, None);
    assert_eq!(within(handle.closed()).await.reason(), Reason::Killed);
}

// A peer that never reads does not keep us from going.
#[tokio::test(start_paused = true)]
async fn closing_has_a_limit() {
    let (handle, _raw) = Raw::with_capacity(Options::client().linger(Duration::from_secs(3)), Echo, 100);
    handle.notify_raw("_x", &"x".repeat(5000)).await.expect("queued");
    handle.close();
    let start = tokio::time::Instant::now();
    assert!(matches!(within(handle.closed()).await.cause(), Cause::Closed));
    assert!(start.elapsed() >= Duration::from_secs(3));
}

// T11, ACPX-CREQ-002
#[tokio::test]
async fn a_cancelled_request_leaves_the_connection_usable() {
    let (recorder, mut told) = Recorder::new();
    let (_agent, client) = pair((Options::agent(), recorder), (Options::client(), Echo));
    let (sender, mut delivered) = mpsc::unbounded_channel();
    let request = accord_protocol::v1::ListSessionsRequest::new();
    let deliver = move |outcome: Result<_, CallError>| sender.send(outcome.map(|_| ())).expect("awaited");
    let started = client.start(&request, deliver).await.expect("sent");
    let Some(Told::Call(call)) = within(told.recv()).await else { panic!("a call was expected") };
    started.cancel();
    started.cancel();
    within(call.cancelled()).await;
    assert!(call.is_cancelled());
    call.answer(Err::<(), _>(Error::cancelled()));
    let outcome = within(delivered.recv()).await.expect("delivered");
    assert!(matches!(outcome, Err(CallError::Refused(error)) if error.code == ErrorCode::REQUEST_CANCELLED));
    let next = tokio::spawn(async move { client.call_raw("_next", &()).await });
    match within(told.recv()).await {
        Some(Told::Call(call)) => {
            assert!(!call.is_cancelled());
            call.answer(Ok(()));
        }
        other => panic!("one cancel was sent, and no second: {other:?}"),
    }
    within(next).await.expect("no panic").expect("answered");
}

/// Serves each call in a task of its own, which calls back first.
struct CallsBack;

impl Service for CallsBack {
    fn update(&mut self, _: Update) {}

    fn notification(&mut self, _: Notification) {}

    fn call(&mut self, call: Call) {
        tokio::spawn(async move {
            assert!(call.method() != "_panic", "on purpose");
            let handle = call.handle().expect("the test holds one");
            let answer = match call.method() {
                "_outer" => handle.call_raw("_inner", &json!({"from": "outer"})).await,
                _ => Ok(serde_json::value::to_raw_value("inner").expect("JSON")),
            };
            call.answer(answer.map_err(Error::from));
        });
    }
}

// T16, T4, ACPX-RPC-024: a handler may wait for the other side, whose handler waits for the first
#[tokio::test]
async fn handlers_may_call_each_other() {
    let (agent, client) = pair((Options::agent(), CallsBack), (Options::client(), CallsBack));
    let calls = (0..50).map(|n| {
        let handle = if n % 2 == 0 { agent.clone() } else { client.clone() };
        tokio::spawn(async move { handle.call_raw("_outer", &()).await })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(within(call).await.expect("no panic").expect("answered").get(), "\"inner\"");
    }
}

// Rule 3
#[tokio::test]
async fn a_panic_is_one_error_answer() {
    let (_agent, client) = pair((Options::agent(), CallsBack), (Options::client(), CallsBack));
    let error = within(client.call_raw("_panic", &())).await.expect_err("it panicked");
    assert!(matches!(error, CallError::Refused(error) if error.code == ErrorCode::INTERNAL_ERROR));
    within(client.call_raw("_outer", &())).await.expect("the connection lives");
}

// T5: the answer first, then what depends on it, in the order of the calls
#[tokio::test]
async fn what_follows_an_answer_comes_after_it() {
    let (recorder, mut told) = Recorder::new();
    let (handle, mut raw) = Raw::connected(Options::agent(), recorder);
    for n in 0..100 {
        raw.send_json(json!({"jsonrpc": "2.0", "id": n, "method": "session/new"})).await;
        let Some(Told::Call(call)) = within(told.recv()).await else { panic!("a call was expected") };
        call.answer(Ok(json!({ "sessionId": n })));
        handle.notify_raw("_after", &n).await.expect("queued");
        assert_eq!(raw.line().await.expect("the answer")["id"], n);
        assert_eq!(raw.line().await.expect("the notification")["params"], n);
    }
}

// T5: the function of a request runs before the next frame is looked at, in one read too
#[tokio::test]
async fn the_waiter_is_registered_before_the_next_update() {
    struct Watch(mpsc::UnboundedSender<&'static str>);
    impl Service for Watch {
        fn update(&mut self, _: Update) {
            self.0.send("update").expect("awaited");
        }
        fn notification(&mut self, _: Notification) {}
        fn call(&mut self, _: Call) {}
    }
    let (sender, mut order) = mpsc::unbounded_channel();
    let (handle, mut raw) = Raw::connected(Options::client(), Watch(sender.clone()));
    let request = accord_protocol::v1::NewSessionRequest::new("/", []);
    handle.start(&request, move |_| sender.send("registered").expect("awaited")).await.expect("sent");
    raw.line().await.expect("the request");
    raw.send(concat!(
        r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}"#,
        "\n"
    ))
    .await;
    assert_eq!(within(order.recv()).await, Some("registered"));
    assert_eq!(within(order.recv()).await, Some("update"));
}

// A runtime that ends, or a driver that is dropped, leaves nobody waiting.
#[tokio::test]
async fn a_dropped_driver_loses_the_connection() {
    let (ours, _theirs) = tokio::io::duplex(100);
    let (read, write) = tokio::io::split(ours);
    let (handle, connection) = Connection::new(Options::client());
    let running = tokio::spawn(connection.run(read, write, Echo));
    let pending = tokio::spawn({
        let handle = handle.clone();
        async move { handle.call_raw("_x", &()).await }
    });
    handle.flush().await;
    running.abort();
    let outcome = within(pending).await.expect("no panic");
    assert!(matches!(outcome, Err(CallError::Lost(lost)) if matches!(lost.end().cause(), Cause::Abandoned)));
}
