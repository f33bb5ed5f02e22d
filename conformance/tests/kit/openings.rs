//! What opens a session waits for an MCP server that never answers: whatever makes the wait pointless ends it, at once and
//! without a trace. The limits are so long that only that can.

use std::{collections::BTreeMap, io::Read as _, net::TcpListener, thread};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{
    process::{Agent, Home},
    termination::{pid, report, wait_for_the_end_of},
};

const METHODS: [&str; 3] = ["session/new", "session/load", "session/resume"];
const PATIENT: [&str; 4] = ["--grace", "3600000", "--mcp-limit", "3600000"];

/// A request that waits for a server: over stdio, whose process has the number returned, or over HTTP.
struct Hanging {
    request: usize,
    process: Option<String>,
}

/// Sends the request, and returns when its server has been started or asked.
fn hang(home: &Home, agent: &mut Agent, method: &str, session: &str, http: bool) -> Hanging {
    let mut params = json!({"cwd": home.cwd()});
    if method != "session/new" {
        params["sessionId"] = json!(session);
    }
    if http {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("bound"));
        params["mcpServers"] = json!([{"type": "http", "name": "silent", "url": url, "headers": []}]);
        let request = agent.request(method, &params);
        let (mut asking, _) = listener.accept().expect("it is asked");
        let mut first = [0];
        asking.read_exact(&mut first).expect("it asks");
        // The connection stays open until the other side gives it up.
        thread::spawn(move || while asking.read(&mut [0; 1024]).is_ok_and(|read| read > 0) {});
        return Hanging { request, process: None };
    }
    let server = report(home.cwd(), "server");
    let script = "echo $$ > server; exec sleep 1000000";
    params["mcpServers"] = json!([{"name": "mute", "command": "/bin/sh", "args": ["-c", script], "env": []}]);
    let request = agent.request(method, &params);
    let process = Some(pid(&server));
    std::fs::remove_file(server).expect("it was there");
    Hanging { request, process }
}

/// A session that is stored and not open.
fn stored(home: &Home) -> String {
    let mut agent = home.start(&[], &json!({}));
    let session = home.session(&mut agent);
    agent.turn(&session, "echo hello", "allow");
    agent.call("session/close", &json!({"sessionId": session}));
    session
}

fn reload(home: &Home, agent: &mut Agent, session: &str) {
    let params = json!({"sessionId": session, "cwd": home.cwd(), "mcpServers": []});
    let answer = agent.call("session/load", &params);
    assert!(answer["result"].is_object(), "{answer}");
    let (_, answer) = agent.turn(session, "history", "allow");
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
}

fn only_that_is_left(home: &Home, agent: &mut Agent, session: &str) {
    let listed = agent.call("session/list", &json!({}));
    let listed: Vec<&Value> = listed["result"]["sessions"].as_array().expect("a list").iter().collect();
    assert_eq!(listed.len(), 1, "{listed:?}");
    reload(home, agent, session);
}

/// Runs a test for each method, over stdio and over HTTP.
fn each(test: impl Fn(&Home, Agent, &str, Hanging)) {
    for method in METHODS {
        for http in [false, true] {
            let home = Home::new();
            let session = stored(&home);
            let mut agent = home.start(&PATIENT, &json!({}));
            let hanging = hang(&home, &mut agent, method, &session, http);
            let process = hanging.process.clone();
            test(&home, agent, &session, hanging);
            if let Some(pid) = process {
                wait_for_the_end_of(&pid);
            }
        }
    }
}

// D4, D6, ACPX-MCP-013: the end of the input
#[test]
fn the_end_of_the_input_ends_an_opening() {
    each(|home, mut agent, session, _| {
        agent.end_input();
        while agent.frame().is_some() {}
        assert!(agent.ended().success());
        only_that_is_left(home, &mut home.start(&[], &json!({})), session);
    });
}

// D4, D6, ACPX-CREQ-005: it is asked to end
#[test]
fn a_signal_to_end_ends_an_opening() {
    each(|home, mut agent, session, hanging| {
        agent.signal(Signal::TERM);
        let (_, answer) = agent.answer(hanging.request, |_, _| None).expect("an answer");
        assert_eq!(answer["error"]["code"], -32800, "{answer}");
        while agent.frame().is_some() {}
        assert!(agent.ended().success());
        only_that_is_left(home, &mut home.start(&[], &json!({})), session);
    });
}

// D6, ACPX-CREQ-002, B031: and whoever is told of it may open the session at once
#[test]
fn a_withdrawn_opening_is_undone_before_its_answer() {
    each(|home, mut agent, session, hanging| {
        let cancel = json!({"requestId": hanging.request});
        agent.send(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": cancel}));
        let (_, answer) = agent.answer(hanging.request, |_, _| None).expect("an answer");
        assert_eq!(answer["error"]["code"], -32800, "{answer}");
        only_that_is_left(home, &mut agent, session);
    });
}

// D4, ACP-CLOSE-001: nobody waits for a session that is closed again already
#[test]
fn a_close_ends_the_opening_before_it() {
    for method in ["session/close", "session/delete"] {
        let home = Home::new();
        let session = stored(&home);
        let mut agent = home.start(&PATIENT, &json!({}));
        let loading = hang(&home, &mut agent, "session/load", &session, false);
        let resuming = agent
            .request("session/resume", &json!({"sessionId": session, "cwd": home.cwd(), "mcpServers": []}));
        let ending = agent.request(method, &json!({"sessionId": session}));
        // In any order: the load is answered when its server is gone.
        let answers: BTreeMap<_, _> = (0..3)
            .map(|_| {
                let frame = agent.frame().expect("an answer");
                (frame["id"].as_u64(), frame["error"]["code"].clone())
            })
            .collect();
        let code = |request: usize| answers.get(&Some(request as u64));
        assert_eq!(code(loading.request), Some(&json!(-32800)), "{method}");
        assert_eq!(code(resuming), Some(&json!(-32800)), "{method}");
        assert_eq!(code(ending), Some(&Value::Null), "{method}");
        if method == "session/close" {
            only_that_is_left(&home, &mut agent, &session);
        }
        let again = agent.call("session/close", &json!({"sessionId": "never-there"}));
        assert_eq!(again["error"]["code"], -32002, "{again}");
    }
}
