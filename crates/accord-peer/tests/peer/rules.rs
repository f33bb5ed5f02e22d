//! What the peer makes of odd messages, one rule a test.

use accord_peer::{Config, Event, Failed, Peer, SendError, Violation};
use accord_protocol::method::Side;
use accord_protocol::rpc::{Error, ErrorCode, Fault};
use serde_json::{Value, json};

use crate::support::{output, peer, tell};

fn outcome(events: Vec<Event<u8>>) -> Result<String, Failed> {
    match <[_; 1]>::try_from(events) {
        Ok([Event::Outcome { outcome, .. }]) => outcome.map(|answer| answer.text().to_owned()),
        other => panic!("one outcome was expected, not {other:?}"),
    }
}

fn asking() -> Peer<u8> {
    let mut client = peer(Side::Client);
    client.request("_ask", &(), 7).expect("the connection is open");
    client
}

// Rule 5, B151, ACPX-RPC-019: a malformed response to a known id ends that request
#[test]
fn a_malformed_response_ends_its_request() {
    for (line, fault) in [
        (r#"{"jsonrpc":"2.0","id":1}"#, Fault::Empty),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#, Fault::Ambiguous),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, Fault::BadError),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}"#, Fault::BadError),
        (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, Fault::BadError),
        (r#"{"id":1,"result":{}}"#, Fault::Version),
        (r#"{"jsonrpc":"2.0","id":1.0,"result":{}}"#, Fault::BadId),
        (r#"{"jsonrpc":"2.0","result":{}}"#, Fault::BadId),
        // B172: cut by a line end
        (r#"{"jsonrpc":"2.0","id":1,"res"#, Fault::NotJson),
        (r#"{"jsonrpc":"2.0","id":1,"result":{"a":"#, Fault::NotJson),
    ] {
        let mut client = asking();
        assert_eq!(outcome(tell(&mut client, line)), Err(Failed::Malformed(fault)), "{line}");
        assert_eq!(output(&mut client).len(), 1, "only the request itself was written: {line}");
        assert_eq!(client.pending(), 0, "{line}");
    }
}

#[test]
fn a_response_in_a_foreign_style_is_a_response() {
    for (line, expected) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":null}"#, Ok("null")),
        (r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#, Ok("{}")),
        (r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#, Ok("null")),
        (r#"{"error":{"code":5},"result":null,"id":1,"jsonrpc":"2.0"}"#, Err(Error::new(5, ""))),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32800,"message":"m","data":null}}"#,
            Err(Error::new(-32800, "m")),
        ),
    ] {
        let outcome = outcome(tell(&mut asking(), line));
        assert_eq!(outcome, expected.map(str::to_owned).map_err(Failed::Refused), "{line}");
    }
}

// ACPX-RPC-017
#[test]
fn a_response_to_nothing_is_ignored() {
    let mut client = asking();
    for line in [
        r#"{"jsonrpc":"2.0","id":"1","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":""}}"#,
    ] {
        assert!(
            matches!(&tell(&mut client, line)[..], [Event::Violation(Violation::UnknownResponse(_))]),
            "{line}"
        );
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#,
        // How one agent answers every notification it does not know.
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#,
    ] {
        let complaint = tell(&mut client, line);
        assert!(
            matches!(&complaint[..], [Event::Violation(Violation::Complaint(error))] if error.code == ErrorCode::PARSE_ERROR),
            "{line}"
        );
    }
    assert_eq!(outcome(tell(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":1}"#)), Ok("1".to_owned()));
    assert!(matches!(
        &tell(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":1}"#)[..],
        [Event::Violation(Violation::UnknownResponse(_))]
    ));
}

// ACPX-RPC-009
#[test]
fn an_id_in_use_is_refused_and_the_first_call_goes_on() {
    let mut agent: Peer<u8> = peer(Side::Agent);
    let line = r#"{"jsonrpc":"2.0","id":5,"method":"_x"}"#;
    let [Event::Call { key, .. }] = &tell(&mut agent, line)[..] else { panic!("a call was expected") };
    let key = *key;
    assert!(matches!(&tell(&mut agent, line)[..], [Event::Violation(Violation::DuplicateId(_))]));
    for bad in [
        r#"{"jsonrpc":"2.0","id":5}"#,
        r#"{"jsonrpc":"1.0","id":5,"method":"_x"}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":7}"#,
    ] {
        assert!(matches!(&tell(&mut agent, bad)[..], [Event::Violation(Violation::Malformed(_))]), "{bad}");
    }
    // Under the id itself each of these would look like the answer that the first call waits for.
    let refusals = output(&mut agent);
    assert_eq!(refusals.len(), 4);
    for refusal in refusals {
        assert_eq!((&refusal["error"]["code"], &refusal["id"]), (&json!(-32600), &Value::Null), "{refusal}");
    }
    assert!(agent.answer(key, Ok(&1)));
    assert_eq!(output(&mut agent), [json!({"jsonrpc": "2.0", "id": 5, "result": 1})]);
    // Once answered, the id is free; the two directions number independently.
    agent.request("_y", &(), 1).expect("the connection is open");
    assert!(matches!(&tell(&mut agent, &line.replace('5', "1"))[..], [Event::Call { .. }]));
    assert!(matches!(&tell(&mut agent, line)[..], [Event::Call { .. }]));
}

// ACPX-CREQ-001, ACPX-CREQ-002
#[test]
fn a_cancelled_call_is_still_answered_and_only_it_is_cancelled() {
    let mut agent: Peer<u8> = peer(Side::Agent);
    let mut keys = Vec::new();
    for id in ["1", "\"1\"", "null"] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"_x"}}"#);
        match &tell(&mut agent, &line)[..] {
            [Event::Call { key, .. }] => keys.push(*key),
            other => panic!("a call was expected, not {other:?}"),
        }
    }
    let cancel =
        |id| format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#);
    assert!(matches!(&tell(&mut agent, &cancel("\"1\""))[..], [Event::Cancelled { key }] if *key == keys[1]));
    for quiet in ["\"1\"", "null", "77"] {
        assert!(tell(&mut agent, &cancel(quiet)).is_empty(), "{quiet}");
    }
    assert!(matches!(&tell(&mut agent, &cancel("{}"))[..], [Event::Violation(Violation::BadCancel)]));
    assert_eq!(keys.iter().map(|key| agent.is_cancelled(*key)).collect::<Vec<_>>(), [false, true, false]);
    assert_eq!(output(&mut agent), [Value::Null; 0], "a notification is never answered");
    assert!(agent.answer(keys[1], Err::<&(), _>(&Error::cancelled())));
    assert_eq!(output(&mut agent)[0]["error"]["code"], -32800);
}

#[test]
fn a_request_is_cancelled_at_most_once() {
    let mut client: Peer<u8> = peer(Side::Client);
    let key = client.request("_ask", &(), 7).expect("open");
    assert!(client.cancel(key));
    assert!(!client.cancel(key));
    assert_eq!(client.abandon(key), Some(7));
    assert_eq!(client.abandon(key), None);
    let sent: Vec<Value> = output(&mut client).into_iter().map(|line| line["method"].clone()).collect();
    assert_eq!(sent, ["_ask", "$/cancel_request"]);
    // Its answer, which crossed the cancellation, is no news.
    assert!(matches!(
        &tell(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":1}"#)[..],
        [Event::Violation(_)]
    ));
}

// T7
#[test]
fn a_message_over_the_limit_is_not_sent() {
    let mut config = Config::new(Side::Agent);
    config.frame_limit = 200;
    let mut agent: Peer<u8> = Peer::new(config);
    let long = "x".repeat(300);
    assert!(matches!(agent.request("_x", &long, 1), Err(SendError::TooLarge { bytes: 300.., limit: 200 })));
    assert!(matches!(agent.notify("_x", &long), Err(SendError::TooLarge { .. })));
    assert_eq!((agent.output_len(), agent.pending()), (0, 0));
    // An answer is replaced, so that there is one.
    let [Event::Call { key, .. }] = &tell(&mut agent, r#"{"jsonrpc":"2.0","id":5,"method":"_x"}"#)[..] else {
        panic!("a call was expected")
    };
    assert!(agent.answer(*key, Ok(&long)));
    let answers = output(&mut agent);
    assert_eq!((&answers[0]["id"], &answers[0]["error"]["code"]), (&json!(5), &json!(-32603)));
}

#[test]
fn what_does_not_serialise_leaves_nothing_behind() {
    let mut client = asking();
    let before = client.output_len();
    let odd = std::collections::BTreeMap::from([(vec![1_u8], 1)]);
    assert!(matches!(client.request("_x", &odd, 8), Err(SendError::Unserialisable(_))));
    assert_eq!((client.output_len(), client.pending()), (before, 1));
    // Raw JSON that was formatted over several lines is one line on the wire.
    let raw: Box<serde_json::value::RawValue> = serde_json::from_str("{\n \"a\": 1\r\n}").expect("JSON");
    client.notify("_x", &raw).expect("open");
    assert_eq!(output(&mut client)[1]["params"], json!({"a": 1}));
}

// Rule 5: bounded
#[test]
fn a_flood_of_bad_lines_is_not_answered_for_ever() {
    let mut agent: Peer<u8> = peer(Side::Agent);
    for _ in 0..10_000 {
        tell(&mut agent, "noise");
    }
    let answered = output(&mut agent).len();
    assert!((1..100).contains(&answered), "{answered}");
    tell(&mut agent, r#"{"jsonrpc":"2.0","method":"_x"}"#);
    tell(&mut agent, "noise");
    assert_eq!(output(&mut agent).len(), 1, "a good line makes up for it");
}

#[test]
fn too_many_calls_at_once_are_refused() {
    let mut config = Config::new(Side::Agent);
    config.max_calls = 3;
    let mut agent: Peer<u8> = Peer::new(config);
    let served = (0..10)
        .filter(|id| {
            let events = tell(&mut agent, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"_x"}}"#));
            matches!(&events[..], [Event::Call { .. }])
        })
        .count();
    assert_eq!((served, output(&mut agent).len()), (3, 7));
}

// A message that is too long for the rest is still served alone, and answers make room again.
#[test]
fn open_calls_are_bounded_in_bytes() {
    let mut config = Config::new(Side::Agent);
    config.max_call_bytes = 10_000;
    let mut agent: Peer<u8> = Peer::new(config);
    let line = |id: u64, length| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"_x","params":["{}"]}}"#, "x".repeat(length))
    };
    let served = |agent: &mut Peer<u8>, id, length| match tell(agent, &line(id, length)).pop() {
        Some(Event::Call { key, .. }) => Some(key),
        Some(Event::Violation(Violation::TooMany(_))) => None,
        other => panic!("a call or a violation was expected, not {other:?}"),
    };
    let long = served(&mut agent, 1, 20_000).expect("it is alone");
    assert_eq!(served(&mut agent, 2, 1), None);
    assert_eq!(output(&mut agent)[0]["error"]["code"], -32603);
    // What needs no room of this kind still gets through.
    let cancel = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}"#;
    assert!(matches!(&tell(&mut agent, cancel)[..], [Event::Cancelled { key }] if *key == long));
    agent.request("_y", &(), 7).expect("the connection is open");
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert!(matches!(&tell(&mut agent, answer)[..], [Event::Outcome { waiter: 7, .. }]));
    assert!(agent.answer(long, Ok(&1)));
    let keys: Vec<_> = (3..20).filter_map(|id| served(&mut agent, id, 3000)).collect();
    assert_eq!(keys.len(), 3);
    assert!(agent.answer(keys[1], Ok(&1)));
    assert!(served(&mut agent, 20, 3000).is_some());
}

// T3: a request that also has a result is response-shaped, so it is not answered; it is not passed over in silence
#[test]
fn a_request_with_a_result_is_reported() {
    let mut agent: Peer<u8> = peer(Side::Agent);
    let line = r#"{"jsonrpc":"2.0","id":9,"method":"_x","result":{}}"#;
    assert!(matches!(
        &tell(&mut agent, line)[..],
        [Event::Violation(Violation::Malformed(Fault::Ambiguous))]
    ));
    assert_eq!(output(&mut agent), [Value::Null; 0]);
}

// B080: what was asked before the end of input can still be answered
#[test]
fn after_the_end_of_input_calls_are_answered_and_nothing_is_asked() {
    let mut agent: Peer<u8> = peer(Side::Agent);
    agent.request("_mine", &(), 1).expect("open");
    let [Event::Call { key, .. }] = &tell(&mut agent, r#"{"jsonrpc":"2.0","id":5,"method":"_x"}"#)[..] else {
        panic!("a call was expected")
    };
    assert_eq!(agent.receive_eof().collect::<Vec<_>>(), [1]);
    assert!(agent.is_cancelled(*key));
    assert!(matches!(agent.request("_more", &(), 2), Err(SendError::Ended)));
    agent.notify("_note", &()).expect("it may be read");
    assert!(agent.answer(*key, Ok(&1)));
    assert!(!agent.owes());
    assert_eq!(output(&mut agent).len(), 3);
    assert_eq!(agent.end().count(), 0);
    assert!(matches!(agent.notify("_note", &()), Err(SendError::Ended)));
}
