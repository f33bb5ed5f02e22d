//! What a client says about a session reaches that session and nothing of another one: neither by its id from another
//! connection, nor by the names of another session's tools, files and terminals.

use serde_json::{Value, json};

use crate::process::{Agent, Home, choose, said, updates};
use crate::stored::STORES;

/// A session in a folder, with a server of this name that knows a secret of its own.
fn session(agent: &mut Agent, cwd: &std::path::Path, name: &str) -> String {
    let env = json!([{"name": "OWN", "value": format!("secret of {name}")}]);
    let server =
        json!({"name": name, "command": env!("CARGO_BIN_EXE_accord-mcp-server"), "args": [], "env": env});
    let answer = agent.call("session/new", &json!({"cwd": cwd, "mcpServers": [server]}));
    answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// How the tool call of a turn ended, and what was said.
fn ended(agent: &mut Agent, session: &str, text: &str) -> (Value, String) {
    let (told, answer) = agent.turn(session, text, "allow");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    let status = told.iter().rev().find_map(|update| update.get("status")).cloned().unwrap_or_default();
    (status, said(&told))
}

// issue: no session reaches another one's tools, files or servers; D11, B140
#[test]
fn a_session_has_its_own_tools_and_files() {
    let (home, other) = (Home::new(), Home::new());
    std::fs::write(other.cwd().join("theirs.txt"), "theirs").expect("written");
    std::os::unix::fs::symlink(other.cwd(), home.cwd().join("link")).expect("linked");
    let mut agent = home.start(&[], &json!({}));
    let mine = session(&mut agent, home.cwd(), "mine");
    let theirs = session(&mut agent, other.cwd(), "theirs");
    let secret = |server: &str| format!("mcp {server}__env {{\"name\":\"OWN\"}}");
    assert_eq!(ended(&mut agent, &mine, &secret("mine")), (json!("completed"), "secret of mine".into()));
    assert_eq!(
        ended(&mut agent, &theirs, &secret("theirs")),
        (json!("completed"), "secret of theirs".into())
    );
    // By its own name a tool is the session's.
    let own = "mcp env {\"name\":\"OWN\"}";
    assert_eq!(ended(&mut agent, &mine, own), (json!("completed"), "secret of mine".into()));
    let path = other.cwd().join("theirs.txt");
    let path = path.to_str().expect("Unicode");
    let written = other.cwd().join("written");
    for hostile in [
        secret("theirs"),
        format!("read {path}"),
        "read link/theirs.txt".to_owned(),
        "read ../theirs.txt".to_owned(),
        format!("write {} x", written.display()),
        "write link/written x".to_owned(),
    ] {
        assert_eq!(ended(&mut agent, &mine, &hostile), (json!("failed"), String::new()), "{hostile}");
    }
    assert!(!written.exists());
    // Closing one takes nothing from the other.
    agent.call("session/close", &json!({"sessionId": mine}));
    assert_eq!(ended(&mut agent, &theirs, own), (json!("completed"), "secret of theirs".into()));
}

// issue: a session's id opens nothing on another connection; D7, ACPX-SESS-003
#[test]
fn another_connection_cannot_reach_an_open_session() {
    for store in STORES {
        let home = Home::new();
        let mut owner = home.start(&["--store", store, "--fork"], &json!({}));
        let session = session(&mut owner, home.cwd(), "mine");
        let prompt = owner.prompt(&session, "permit 1");
        let question = loop {
            let frame = owner.frame().expect("it goes on");
            if choose(&frame, "allow").is_some() {
                break frame;
            }
        };
        let mut other = home.start(&["--store", store, "--fork"], &json!({}));
        let place = json!({"cwd": home.cwd(), "mcpServers": []});
        for (method, params, code) in [
            ("session/prompt", json!({"prompt": [{"type": "text", "text": "mcp"}]}), -32002),
            ("session/set_mode", json!({"modeId": "auto"}), -32002),
            ("session/set_config_option", json!({"configId": "mode", "value": "auto"}), -32002),
            ("session/close", json!({}), -32002),
            ("session/load", place.clone(), -32600),
            ("session/resume", place.clone(), -32600),
            ("session/delete", json!({}), -32600),
        ] {
            let mut params = params;
            params["sessionId"] = json!(session);
            let answer = other.call(method, &params);
            assert_eq!(answer["error"]["code"], code, "{store} {method}: {answer}");
        }
        // Neither a cancel, nor an answer to a question that was asked elsewhere.
        other.send(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}));
        let mut allowed = choose(&question, "allow").expect("a question");
        allowed["jsonrpc"] = json!("2.0");
        allowed["id"] = question["id"].clone();
        other.send(&allowed);
        assert!(other.call("session/list", &json!({}))["result"].is_object());
        let mut refused = choose(&question, "reject").expect("a question");
        refused["jsonrpc"] = json!("2.0");
        refused["id"] = question["id"].clone();
        owner.send(&refused);
        let (told, answer) = owner.answer(prompt, |_, _| None).expect("an answer");
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{store}: {answer}");
        assert_eq!(updates(&told).last().expect("an end")["status"], "failed", "{store}");
        assert_eq!(ended(&mut owner, &session, "whoami").1.split("mode=").nth(1), Some("ask"), "{store}");
    }
}

// issue: ids that sound like another session's, and are none
#[test]
fn an_id_that_is_none_reaches_nothing() {
    let home = Home::new();
    let mut agent = home.start(&["--fork"], &json!({}));
    let session = home.session(&mut agent);
    for id in [
        session.to_uppercase(),
        format!("{session} "),
        format!("../{session}"),
        format!("{session}.jsonl"),
        session[..session.len() - 1].to_owned(),
        format!("{session}\u{0}"),
        "%".to_owned(),
        "*".to_owned(),
        String::new(),
    ] {
        let place = json!({"cwd": home.cwd(), "mcpServers": []});
        for (method, params) in [
            ("session/prompt", json!({"prompt": [{"type": "text", "text": "ping"}]})),
            ("session/set_mode", json!({"modeId": "auto"})),
            ("session/close", json!({})),
            ("session/load", place.clone()),
            ("session/resume", place.clone()),
            ("session/fork", place.clone()),
        ] {
            let mut params = params;
            params["sessionId"] = json!(id);
            let answer = agent.call(method, &params);
            assert_eq!(answer["error"]["code"], -32002, "{method} {id:?}: {answer}");
        }
        let deleted = agent.call("session/delete", &json!({"sessionId": id}));
        assert!(deleted["result"].is_object(), "what was never there counts as deleted: {deleted}");
    }
    assert_eq!(ended(&mut agent, &session, "echo here").1, "here");
}
