//! The subject agent, killed behind each frame of a session's life in turn: what was announced is never lost.

use std::path::Path;

use serde_json::json;

use crate::process::{Agent, choose};

/// The requests of one life, in order; the session's id is filled in once it is known.
const LIFE: &[&str] =
    &["initialize", "session/new", "think first", "write kept.txt words", "history", "session/close"];

fn start(state: &Path, store: &str) -> Agent {
    Agent::start(&["--state-dir", state.to_str().expect("Unicode"), "--store", store])
}

/// Lives until `last` frames were read, and is killed there; the session's id, if it was announced by then, and whether
/// the whole life was lived.
fn live(state: &Path, cwd: &Path, store: &str, last: usize) -> (Option<String>, bool) {
    let mut agent = start(state, store);
    let (mut frames, mut session) = (0, None);
    for step in LIFE {
        let (method, params) = match *step {
            "initialize" => (*step, json!({"protocolVersion": 1, "clientCapabilities": {}})),
            "session/new" => (*step, json!({"cwd": cwd, "mcpServers": []})),
            "session/close" => (*step, json!({"sessionId": session})),
            text => {
                let prompt = json!([{"type": "text", "text": text}]);
                ("session/prompt", json!({"sessionId": session, "prompt": prompt}))
            }
        };
        let id = agent.request(method, &params);
        let answer = agent.answer(id, |process, frame| {
            frames += 1;
            if frames == last {
                process.kill().expect("it can be killed");
            }
            choose(frame, "allow")
        });
        let Some((_, answer)) = answer else { return (session, false) };
        session = answer["result"]["sessionId"].as_str().map(str::to_owned).or(session);
    }
    (session, frames < last)
}

// D6, X3, ACPX-RESTART-001: for every frame of the life, on both stores
#[test]
fn a_kill_behind_any_frame_loses_no_announced_session() {
    for store in ["jsonl", "sqlite"] {
        for last in 1.. {
            let (state, cwd) =
                (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
            let (session, whole) = live(state.path(), cwd.path(), store, last);
            let mut agent = start(state.path(), store);
            agent.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}));
            let listed = agent.call("session/list", &json!({}));
            if let Some(session) = &session {
                let params = json!({"sessionId": session, "cwd": cwd.path(), "mcpServers": []});
                let loaded = agent.call("session/load", &params);
                let ids: Vec<_> = listed["result"]["sessions"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(|one| &one["sessionId"])
                    .collect();
                assert!(
                    ids.iter().any(|id| **id == *session),
                    "{store}, frame {last}: {session} is not in {listed}"
                );
                assert!(loaded["result"].is_object(), "{store}, frame {last}: {session} is not loaded");
            }
            if whole {
                assert!(last > LIFE.len(), "{store}: every step was killed in");
                break;
            }
        }
    }
}
