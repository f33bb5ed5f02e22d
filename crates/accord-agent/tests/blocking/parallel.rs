//! Many sessions on few threads: everyone's turn comes, in order, and one that is stuck is not in the way.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use accord_agent::blocking::{ApprovalRequest, Reply};
use serde_json::json;

use super::harness::{Puppet, Wire, folder, said};

const SESSIONS: usize = 64;
const THREADS: usize = 8;

// H2, H3
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_sessions_share_eight_threads() {
    let state = folder();
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let agent = Puppet::new({
        let (running, most) = (running.clone(), most.clone());
        let together = std::sync::Barrier::new(THREADS);
        move |_, prompt, callbacks| {
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            if (0..THREADS).any(|number| prompt.text() == format!("0.{number}")) {
                // So many run at once, or nobody goes on.
                together.wait();
            }
            for number in 0..20 {
                callbacks.text(&format!("{} {number};", prompt.text()));
                callbacks.tool_started("read_file", json!({ "path": number.to_string() }));
                callbacks.tool_finished("read_file", format!("{number}"));
            }
            if prompt.text().ends_with('3') {
                let granted = callbacks.approve(&ApprovalRequest::new("shell", "x").once_only()).is_granted();
                callbacks.text(if granted { "yes" } else { "no" });
            }
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(Reply::done())
        }
    });
    let mut wire = Wire::open(agent, state.path(), |builder| builder.threads(THREADS), json!({})).await;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(wire.session(state.path()).await);
    }
    for round in 0..2 {
        let mut turns = Vec::new();
        for (number, session) in sessions.iter().enumerate() {
            turns.push(wire.start(session, &format!("{round}.{number}")).await);
        }
        let mut answered = 0;
        while answered < SESSIONS {
            let frame = wire
                .take(|frame| {
                    frame["method"] == "session/request_permission" || frame.get("method").is_none()
                })
                .await;
            if frame.get("method").is_some() {
                wire.choose(&frame, "allow").await;
            } else {
                assert_eq!(frame["result"]["stopReason"], "end_turn", "{frame}");
                assert!(turns.contains(&frame["id"].as_i64().expect("an id")));
                answered += 1;
            }
        }
        for (number, session) in sessions.iter().enumerate() {
            let asks = number % 10 == 3;
            let mut expected =
                (0..20).map(|piece| format!("{round}.{number} {piece};")).collect::<Vec<_>>().concat();
            if asks {
                expected.push_str("yes");
            }
            assert_eq!(said(&wire.updates(session)), expected, "session {number}");
        }
    }
    assert_eq!(most.load(Ordering::SeqCst), THREADS, "no more than there are threads");
    wire.close().await;
}

// H2, H9
#[tokio::test]
async fn a_turn_that_waits_for_a_thread_can_be_cancelled() {
    let state = folder();
    let (go, gone) = mpsc::channel::<()>();
    let gone = Mutex::new(gone);
    let ran = Arc::new(Mutex::new(Vec::new()));
    let agent = Puppet::new({
        let ran = ran.clone();
        move |_, prompt, _| {
            ran.lock().expect("no panic while held").push(prompt.text());
            if prompt.text() == "first" {
                gone.lock().expect("no panic while held").recv().expect("the test says go");
            }
            Ok(Reply::text(prompt.text()))
        }
    });
    let mut wire = Wire::open(agent, state.path(), |builder| builder.threads(1), json!({})).await;
    let (one, two, three) = (
        wire.session(state.path()).await,
        wire.session(state.path()).await,
        wire.session(state.path()).await,
    );
    let first = wire.start(&one, "first").await;
    let second = wire.start(&two, "second").await;
    let third = wire.start(&three, "third").await;
    wire.cancel(&two).await;
    assert_eq!(wire.response(second).await["result"]["stopReason"], "cancelled", "without a thread");
    go.send(()).expect("the turn waits");
    assert_eq!(wire.response(first).await["result"]["stopReason"], "end_turn");
    assert_eq!(wire.response(third).await["result"]["stopReason"], "end_turn");
    assert_eq!(*ran.lock().expect("no panic while held"), ["first", "third"]);
    wire.close().await;
}

// H9, B032
#[tokio::test]
async fn an_agent_that_ignores_its_cancel_is_left_behind() {
    let state = folder();
    let (go, gone) = mpsc::channel::<()>();
    let gone = Mutex::new(gone);
    let agent = Puppet::new(move |_, prompt, callbacks| {
        if prompt.text() == "stuck" {
            callbacks.text("on it");
            gone.lock().expect("no panic while held").recv().expect("the test says go");
            callbacks.text("late");
        }
        Ok(Reply::text(prompt.text()))
    });
    let grace = Duration::from_millis(50);
    let mut wire =
        Wire::open(agent, state.path(), |builder| builder.threads(1).grace(grace), json!({})).await;
    let (stuck, other) = (wire.session(state.path()).await, wire.session(state.path()).await);
    let turn = wire.start(&stuck, "stuck").await;
    wire.take(|frame| frame["params"]["update"]["content"]["text"] == "on it").await;
    wire.cancel(&stuck).await;
    assert_eq!(wire.response(turn).await["result"]["stopReason"], "cancelled");

    let (stop, updates) = wire.prompt(&other, "meanwhile").await;
    assert_eq!(
        (stop.as_str(), said(&updates).as_str()),
        ("end_turn", "meanwhile"),
        "its seat went to the next"
    );
    let refused = wire.start(&stuck, "too early").await;
    let response = wire.response(refused).await;
    assert_eq!(response["error"]["code"], -32600, "{response}");

    go.send(()).expect("the thread waits");
    let (stop, updates) = loop {
        let id = wire.start(&stuck, "again").await;
        let response = wire.response(id).await;
        if let Some(stop) = response["result"]["stopReason"].as_str() {
            break (stop.to_owned(), wire.updates(&stuck));
        }
    };
    assert_eq!((stop.as_str(), said(&updates).as_str()), ("end_turn", "again"), "nothing of the old turn");
    wire.close().await;
}

// H2, X5
#[tokio::test]
async fn a_slow_client_slows_the_agent_down_and_loses_nothing() {
    const CHUNK: usize = 10_000;
    const CHUNKS: usize = 2_000;
    let state = folder();
    let (sent, taken, most) =
        (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let agent = Puppet::new({
        let (sent, taken, most) = (sent.clone(), taken.clone(), most.clone());
        move |_, _, callbacks| {
            let text = "x".repeat(CHUNK);
            for _ in 0..CHUNKS {
                callbacks.text(&text);
                let ahead = sent.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
                most.fetch_max(ahead, Ordering::SeqCst);
            }
            Ok(Reply::done())
        }
    });
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    let turn = wire.start(&session, "flood").await;
    let mut text = 0;
    while text < CHUNK * CHUNKS {
        let chunk =
            wire.take(|frame| frame["params"]["update"]["sessionUpdate"] == "agent_message_chunk").await;
        text += chunk["params"]["update"]["content"]["text"].as_str().expect("text").len();
        taken.fetch_add(1, Ordering::SeqCst);
    }
    assert_eq!(wire.response(turn).await["result"]["stopReason"], "end_turn");
    let ahead = most.load(Ordering::SeqCst) * CHUNK;
    assert!(ahead < 5_000_000, "of 20 MB {ahead} bytes were out before the client had read them");
    wire.close().await;
}
