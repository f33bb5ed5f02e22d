//! Many sessions, long histories, few descriptors: what a store costs does not grow with what is in it.

use std::path::Path;

use accord_agent::store::jsonl::JsonlStore;
use accord_agent::store::sqlite::SqliteStore;
use accord_agent::store::{Header, Record, SessionStore, TurnEnd};
use serde_json::json;

use crate::stored::{STORES, limited, session, start};

fn open(store: &str, dir: &Path) -> Box<dyn SessionStore> {
    match store {
        "jsonl" => Box::new(JsonlStore::open(dir).expect("a store").relaxed()),
        _ => Box::new(SqliteStore::open(dir).expect("a store").relaxed()),
    }
}

/// The most memory an agent has used to list so many sessions, page by page, in kilobytes.
fn listing_kb(store: &str, sessions: u64) -> u64 {
    let state = tempfile::tempdir().expect("a folder");
    let mut made = open(store, state.path());
    for number in 0..sessions {
        let header = Header::new(format!("session-{number:08}"), "/dir", number);
        made.create(&header).expect("created");
        made.materialise(&header.id).expect("written");
        made.close(&header.id).expect("closed");
    }
    drop(made);
    let mut agent = start(state.path(), store, &["--projection", "committed"]);
    let (mut listed, mut params) = (0, json!({}));
    loop {
        let answer = agent.call("session/list", &params);
        listed += answer["result"]["sessions"].as_array().map_or(0, Vec::len);
        match answer["result"]["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    assert_eq!(listed as u64, sessions, "{store}");
    agent.peak_kb()
}

// issue: memory does not grow with the number stored; what it grows by here is noise
#[test]
fn a_list_takes_no_memory_for_what_it_does_not_show() {
    for store in STORES {
        let (few, many) = (listing_kb(store, 150), listing_kb(store, 1500));
        assert!(many < few + 1024, "{store}: {few} kB for 150 sessions, {many} kB for 1500");
    }
}

// issue: a long history is read and sent piece by piece, to a client that takes its time
#[test]
fn a_long_history_is_replayed_in_bounded_memory() {
    const PIECE: usize = 4096;
    const PIECES: usize = (50 << 20) / PIECE;
    for store in STORES {
        let (state, cwd) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let cwd = cwd.path().canonicalize().expect("it is there");
        let mut long = open(store, state.path());
        long.create(&Header::new("long", cwd.to_str().expect("Unicode"), 1)).expect("created");
        let text = "x".repeat(PIECE);
        let update =
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
        let piece = Record::Update(serde_json::value::to_raw_value(&update).expect("valid JSON"));
        for _ in 0..PIECES / 64 {
            long.append(&"long".into(), &vec![piece.clone(); 64]).expect("stored");
        }
        long.append(&"long".into(), &[Record::TurnEnd(TurnEnd::new("end_turn", 1))]).expect("stored");
        drop(long);
        let mut agent = start(state.path(), store, &[]);
        let before = agent.peak_kb();
        agent.request("session/load", &json!({"sessionId": "long", "cwd": cwd, "mcpServers": []}));
        let mut bytes = 0;
        while bytes < PIECES * PIECE {
            // Line by line, each looked at: slower than blocks are written.
            let piece = agent.bytes(64 << 10);
            assert!(!piece.is_empty(), "{store}: it ended after {bytes} bytes");
            bytes += piece.len();
        }
        let grown = agent.peak_kb() - before;
        assert!(grown < 8 << 10, "{store}: {grown} kB more for a history of 50 MB");
    }
}

// issue: a session holds a descriptor or two; the one that would take the last ones is refused, and the rest works
#[test]
fn sessions_beyond_what_the_system_allows_are_refused() {
    for store in STORES {
        let (state, cwd) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let mut agent = limited(state.path(), store, 160);
        let mut sessions = Vec::new();
        let refused = loop {
            let answer = agent.call("session/new", &json!({"cwd": cwd.path(), "mcpServers": []}));
            match answer["result"]["sessionId"].as_str() {
                Some(session) => sessions.push(session.to_owned()),
                None => break answer,
            }
        };
        assert!(sessions.len() > 100, "{store}: {} and then {refused}", sessions.len());
        assert_eq!(refused["error"]["code"], -32603, "{store}: {refused}");
        assert_eq!(refused["error"]["message"], "too many sessions are open; close some", "{store}");
        assert_eq!(refused["error"]["data"]["open"], sessions.len(), "{store}");
        // All at once; none of them is worse off.
        let mut prompts: Vec<usize> = sessions.iter().map(|session| agent.prompt(session, "ping")).collect();
        while !prompts.is_empty() {
            let frame = agent.frame().expect("it lives");
            if frame["method"].is_null() {
                assert_eq!(frame["result"]["stopReason"], "end_turn", "{store}: {frame}");
                prompts.retain(|id| frame["id"] != *id);
            }
        }
        let listed = agent.call("session/list", &json!({}));
        assert_eq!(listed["result"]["sessions"].as_array().map(Vec::len), Some(50), "{store}: {listed}");
        let closed = agent.call("session/close", &json!({ "sessionId": sessions[0] }));
        assert!(closed["result"].is_object(), "{store}: {closed}");
        session(&mut agent, cwd.path());
    }
}
