//! The subject agent, killed at any byte of a running turn: what its client saw of what is durable is there again.

use std::env;

use serde_json::Value;

use crate::stored::{STORES, reopen, session, start, turn};

/// How often each kind is killed; `ACCORD_KILLS` asks for more.
const KILLS: u64 = 6;
/// The turns that are killed in, which say a few thousand bytes each.
const TURNS: [&str; 4] = ["stream 60 40", "tools 8", "think of nothing in particular", "permit 5"];

fn kills() -> u64 {
    env::var("ACCORD_KILLS").map_or(KILLS, |kills| kills.parse().expect("ACCORD_KILLS is a number"))
}

/// Updates that are part of the conversation; the rest tells of a moment.
fn is_durable(update: &Value, projection: &str) -> bool {
    match update["sessionUpdate"].as_str().unwrap_or_default() {
        "tool_call" | "tool_call_update" => true,
        // An editor sees pieces of a message before it is whole; a controller does not.
        "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" | "usage_update" => {
            projection == "committed"
        }
        _ => false,
    }
}

/// The whole lines among the bytes; a killed process may have left half of one.
fn updates(bytes: &[u8]) -> Vec<Value> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let lines = bytes[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let frames = lines.map(|line| serde_json::from_slice::<Value>(line).expect("a whole line is JSON"));
    frames
        .filter(|frame| frame["method"] == "session/update")
        .map(|frame| frame["params"]["update"].clone())
        .collect()
}

fn said(updates: &[Value]) -> String {
    updates.iter().filter_map(|update| update["content"]["text"].as_str()).collect()
}

fn killed_at(byte: usize, text: &str, store: &str, projection: &str) {
    let when = format!("{store}, {projection}, {text}, byte {byte}");
    let (state, cwd) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let mut agent = start(state.path(), store, &["--projection", projection]);
    let session = session(&mut agent, cwd.path());
    turn(&mut agent, &session, "echo acknowledged");
    agent.prompt(&session, text);
    let mut seen = agent.bytes(byte);
    agent.process.kill().expect("it can be killed");
    // What it had written by then was seen too.
    seen.extend(agent.last_words());
    drop(agent);

    let mut agent = start(state.path(), store, &["--projection", projection]);
    let (replayed, answer) = reopen(&mut agent, "session/load", &session, cwd.path());
    assert!(answer["result"].is_object(), "{when}: {answer}");
    assert!(said(&replayed).contains("acknowledged"), "{when}");
    let durable: Vec<_> =
        updates(&seen).into_iter().filter(|update| is_durable(update, projection)).collect();
    let mut rest = replayed.iter();
    for update in &durable {
        assert!(
            rest.any(|again| again == update),
            "{when}: {update} is not replayed in its place: {replayed:?}"
        );
    }
    // No call is left open, and the session goes on.
    let mut open = Vec::new();
    for update in &replayed {
        let call = update["toolCallId"].clone();
        match update["status"].as_str() {
            Some("completed" | "failed") => open.retain(|known| *known != call),
            _ if update["sessionUpdate"] == "tool_call" => open.push(call),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{when}: {open:?}");
    turn(&mut agent, &session, "ping");
}

// D6, D12, rule 12: both projections, both stores
#[test]
fn a_kill_at_any_byte_of_a_turn_loses_nothing_durable() {
    let mut byte = 7_usize;
    for store in STORES {
        for projection in ["committed", "live"] {
            for kill in 0..kills() {
                // Steps that meet no line length, up to about what the turns say.
                byte = (byte * 31 + 1009) % 6007;
                let turn = TURNS[usize::try_from(kill).expect("a small number") % TURNS.len()];
                killed_at(byte, turn, store, projection);
            }
        }
    }
}
