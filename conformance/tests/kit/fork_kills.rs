//! An agent that is killed in the middle of a fork: the copy is there whole, or it is not there.

use std::process::Child;

use accord_agent::store::{
    Header, Record, SessionStore as _, TurnEnd, jsonl::JsonlStore, sqlite::SqliteStore,
};
use rustix::process::Signal;
use serde_json::json;

use crate::process::{Home, said, updates};
use crate::stored::STORES;

const TURNS: u64 = 200;
/// How often the agent is killed, each time a little later.
const KILLS: u64 = 12;

/// A session of many turns.
fn long(store: &str, home: &Home) -> String {
    let mut made: Box<dyn accord_agent::store::SessionStore> = match store {
        "jsonl" => Box::new(JsonlStore::open(home.state()).expect("a store").relaxed()),
        _ => Box::new(SqliteStore::open(home.state()).expect("a store").relaxed()),
    };
    let cwd = home.cwd().canonicalize().expect("it is there");
    made.create(&Header::new("long", cwd.to_str().expect("Unicode"), 1)).expect("created");
    for turn in 0..TURNS {
        let content = json!({"type": "text", "text": format!("{turn} {}", "x".repeat(4096))});
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
        let said = Record::Update(serde_json::value::to_raw_value(&update).expect("valid JSON"));
        made.append(&"long".into(), &[said, Record::TurnEnd(TurnEnd::new("end_turn", turn))])
            .expect("stored");
    }
    made.close(&"long".into()).expect("closed");
    "long".to_owned()
}

/// How much a process has written so far, in bytes.
fn written(process: &Child) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{}/io", process.id())).expect("it runs");
    let count = io.lines().find_map(|line| line.strip_prefix("wchar: ")).expect("the kernel counts");
    count.parse().expect("a number")
}

// D6: no part of a session, whenever its process dies
#[test]
fn a_copy_is_whole_or_not_there() {
    for store in STORES {
        let home = Home::new();
        let source = long(store, &home);
        let args = ["--store", store, "--fork"];
        let params = json!({"sessionId": source, "cwd": home.cwd(), "mcpServers": []});
        for kill in 0..KILLS {
            let mut agent = home.start(&args, &json!({}));
            let before = written(&agent.process);
            agent.request("session/fork", &params);
            // Some of it has been written.
            while written(&agent.process) <= before + kill * (TURNS * 4096 / KILLS) {
                std::thread::yield_now();
            }
            agent.signal(Signal::KILL);
            agent.ended();

            let mut agent = home.start(&args, &json!({}));
            let listed = agent.call("session/list", &json!({}));
            for session in listed["result"]["sessions"].as_array().expect("a list") {
                let place = json!({"sessionId": session["sessionId"], "cwd": home.cwd(), "mcpServers": []});
                let load = agent.request("session/load", &place);
                let (replayed, answer) = agent.answer(load, |_, _| None).expect("an answer");
                assert!(answer["result"].is_object(), "{store}: {answer}");
                let turns = said(&updates(&replayed)).matches(' ').count();
                assert_eq!(turns as u64, TURNS, "{store} {kill}: {session}");
                let end = if session["sessionId"] == "long" { "close" } else { "delete" };
                agent.call(&format!("session/{end}"), &json!({"sessionId": session["sessionId"]}));
            }
        }
    }
}
