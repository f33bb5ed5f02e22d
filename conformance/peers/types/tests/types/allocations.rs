//! Reading a `session/update` makes what its value owns and nothing else: no tree of JSON values in between.

use std::{fs, path::Path};

use accord_protocol::{
    rpc,
    v1::{SessionNotification, SessionUpdate},
};
use allocation_counter::{AllocationInfo, measure};
use serde_json::Value;

/// What reading a line allocates, once there is a place for what it says.
fn reading(line: &str) -> (AllocationInfo, SessionNotification) {
    let mut place = None;
    let read =
        measure(|| assert!(rpc::decode_into(line.as_bytes(), &mut place).is_ok_and(|other| other.is_none())));
    (read, place.expect("it is an update"))
}

fn line(update: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#)
}

#[test]
fn a_chunk_costs_its_texts() {
    let chunk = |text: &str| {
        line(&format!(
            r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":{text}}}}}"#
        ))
    };
    // The method, the session, the text.
    assert!(reading(&chunk(r#""Hello""#)).0.count_total <= 3);
    // An escape needs a buffer, which grows with the text.
    let (read, note) = reading(&chunk(&format!("\"{}\\n\"", "x".repeat(1000))));
    assert!(read.count_total <= 5 && read.bytes_max < 4096, "{read:?}");
    assert!(matches!(note.update, SessionUpdate::AgentMessageChunk(_)));
    // And the message's id.
    let update =
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hi"},"messageId":"m"}"#;
    assert!(reading(&line(update)).0.count_total <= 4);
}

/// A recorded update costs less than a `Value` of its line would, by far on the whole. Left out are configuration options: those
/// are unions inside their objects, whose members are gathered first.
#[test]
fn recorded_updates_make_no_tree() {
    let frames =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../crates/accord-protocol/tests/data/frames.jsonl");
    let (mut ours, mut trees, mut frames_read) = (0, 0, 0);
    for record in fs::read_to_string(frames).expect("the sample").lines() {
        let frame = &serde_json::from_str::<Value>(record).expect("JSON")["frame"];
        let options = frame["params"]["update"]["sessionUpdate"] == "config_option_update";
        if frame["method"] != "session/update" || options {
            continue;
        }
        // Every agent writes the tag first; the sample's own order was lost in `Value`.
        let note: SessionNotification = serde_json::from_value(frame["params"].clone()).expect("an update");
        let params = serde_json::to_string(&note).expect("it writes");
        let line = format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#);
        let (read, again) = reading(&line);
        assert_eq!(again, note);
        let tree = measure(|| drop(serde_json::from_str::<Value>(&line)));
        assert!(read.count_total < tree.count_total, "{} and {}: {line}", read.count_total, tree.count_total);
        ours += read.count_total;
        trees += tree.count_total;
        frames_read += 1;
    }
    println!("{frames_read} updates: {ours} allocations, {trees} for a tree alone");
    assert!(frames_read > 20 && ours * 2 < trees, "{frames_read} {ours} {trees}");
}
