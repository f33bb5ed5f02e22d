//! Nothing but the opening call is served before it succeeded.

use accord_peer::{CallKey, Config, Event, Peer, Violation};
use accord_protocol::method::Side;
use accord_protocol::rpc::Error;
use serde_json::json;

use crate::support::{output, tell};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
const NEW: &str = r#"{"jsonrpc":"2.0","id":1,"method":"session/new"}"#;
const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"session/cancel"}"#;
const UPDATE: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":[]}}}"#;

fn agent() -> Peer<()> {
    let mut config = Config::new(Side::Agent);
    config.opening = Some("initialize");
    Peer::new(config)
}

fn called(events: &[Event<()>]) -> CallKey {
    match events {
        [Event::Call { key, .. }] => *key,
        other => panic!("one call was expected, not {other:?}"),
    }
}

#[test]
fn what_comes_before_the_opening_is_refused() {
    let mut agent = agent();
    assert!(matches!(&tell(&mut agent, NEW)[..], [Event::Violation(Violation::TooEarly(_))]));
    let answers = output(&mut agent);
    assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&json!(1), &json!(-32600)));
    // A notification is not answered, and not handed on.
    for line in [CANCEL, UPDATE] {
        assert!(matches!(&tell(&mut agent, line)[..], [Event::Violation(Violation::TooEarly(_))]));
    }
    assert_eq!(output(&mut agent), [json!(null); 0]);
    let key = called(&tell(&mut agent, INITIALIZE));
    assert!(agent.answer(key, Ok(&())));
    called(&tell(&mut agent, NEW));
}

/// A client may write its first requests in one go.
#[test]
fn what_comes_behind_the_opening_waits_for_it() {
    let mut agent = agent();
    let key = called(&tell(&mut agent, INITIALIZE));
    for line in [NEW, CANCEL, UPDATE, INITIALIZE] {
        assert!(tell(&mut agent, line).is_empty());
    }
    assert!(agent.receive_held().is_none());
    assert!(agent.owes());
    agent.answer(key, Ok(&()));
    assert!(matches!(agent.receive_held(), Some(Event::Call { method, .. }) if &*method == "session/new"));
    assert!(
        matches!(agent.receive_held(), Some(Event::Notification { method, .. }) if &*method == "session/cancel")
    );
    assert!(matches!(agent.receive_held(), Some(Event::Update(_))));
    assert!(matches!(agent.receive_held(), Some(Event::Call { method, .. }) if &*method == "initialize"));
    assert!(agent.receive_held().is_none());
}

#[test]
fn what_waited_for_an_opening_that_failed_is_refused() {
    let mut agent = agent();
    let key = called(&tell(&mut agent, INITIALIZE));
    tell(&mut agent, NEW);
    agent.answer(key, Err::<&(), _>(&Error::invalid_params("protocolVersion", "an integer")));
    assert!(matches!(agent.receive_held(), Some(Event::Violation(Violation::TooEarly(_)))));
    let answers = output(&mut agent);
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(1), &json!(-32600)));
    // It can be tried again.
    called(&tell(&mut agent, INITIALIZE));
}

#[test]
fn what_waits_is_bounded() {
    let mut agent = agent();
    called(&tell(&mut agent, INITIALIZE));
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"_x","params":{{"t":"{}"}}}}"#, "x".repeat(300_000));
    let refused = (0..10).filter(|_| !tell(&mut agent, &line).is_empty()).count();
    assert_eq!(refused, 7, "a MiB is held");
}
