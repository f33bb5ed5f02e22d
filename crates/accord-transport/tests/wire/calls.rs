//! Requests and answers, both ways.

use accord_protocol::rpc::Error;
use accord_transport::{CallError, Options, Reason, pair};
use serde_json::json;

use crate::support::{Echo, Raw, Recorder, Told, within};

#[tokio::test]
async fn both_ends_call_each_other() {
    let (agent, client) = pair((Options::agent(), Echo), (Options::client(), Echo));
    for n in 0..100 {
        let params = json!({ "n": n });
        let (a, c) = tokio::join!(agent.call_raw("_a", &params), client.call_raw("_c", &params));
        assert_eq!(a.expect("answered").get(), format!(r#"{{"n":{n}}}"#));
        assert_eq!(c.expect("answered").get(), format!(r#"{{"n":{n}}}"#));
    }
}

// ACPX-RPC-003
#[tokio::test]
async fn a_forgotten_call_is_answered() {
    let (recorder, mut told) = Recorder::new();
    let (_agent, client) = pair((Options::agent(), recorder), (Options::client(), Echo));
    let call = async {
        match told.recv().await {
            Some(Told::Call(call)) => drop(call),
            other => panic!("a call was expected, not {other:?}"),
        }
    };
    let (outcome, ()) = within(async { tokio::join!(client.call_raw("_x", &()), call) }).await;
    assert!(matches!(outcome, Err(CallError::Refused(error)) if error.code.0 == -32603));
}

#[tokio::test]
async fn dropping_a_call_cancels_it() {
    let (recorder, mut told) = Recorder::new();
    let (_agent, client) = pair((Options::agent(), recorder), (Options::client(), Echo));
    let mut pending = Box::pin(client.call_raw("_slow", &()));
    let call = tokio::select! {
        told = told.recv() => match told { Some(Told::Call(call)) => call, other => panic!("{other:?}") },
        outcome = &mut pending => panic!("nobody answered: {outcome:?}"),
    };
    assert!(!call.is_cancelled());
    drop(pending);
    within(call.cancelled()).await;
    call.answer(Err::<(), _>(Error::cancelled()));
    // The connection goes on.
    let next = tokio::spawn(async move { client.call_raw("_next", &()).await.map(|_| client) });
    match within(told.recv()).await {
        Some(Told::Call(call)) => call.answer(Ok(())),
        other => panic!("a call was expected, not {other:?}"),
    }
    within(next).await.expect("no panic").expect("answered");
}

// T1
#[tokio::test]
async fn the_end_of_input_fails_what_is_pending() {
    let (handle, raw) = Raw::connected(Options::client(), Echo);
    let pending = handle.call_raw("_never", &());
    let end = async {
        tokio::task::yield_now().await;
        drop(raw);
    };
    let (outcome, ()) = within(async { tokio::join!(pending, end) }).await;
    assert!(matches!(outcome, Err(CallError::Lost(_))));
    assert!(matches!(handle.call_raw("_later", &()).await, Err(CallError::Lost(_))));
}

// E5, B040
#[tokio::test]
async fn an_end_in_order_is_told_once() {
    let (recorder, mut told) = Recorder::new();
    let (handle, raw) = Raw::connected(Options::client(), recorder);
    drop(raw);
    assert_eq!(within(handle.closed()).await.reason(), Reason::Completed);
    assert!(
        matches!(within(told.recv()).await, Some(Told::Closed(end)) if end.reason() == Reason::Completed)
    );
    assert!(within(told.recv()).await.is_none());
}
