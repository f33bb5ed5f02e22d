//! Two agents on one store, seen by their clients: one owner for each session, for exactly as long as it lives.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::process::Agent;
use crate::stored::{STORES, reopen, session, start, turn};

fn listed(agent: &mut Agent) -> Vec<String> {
    let answer = agent.call("session/list", &json!({}));
    let sessions = answer["result"]["sessions"].as_array().unwrap_or_else(|| panic!("{answer}"));
    sessions.iter().map(|one| one["sessionId"].as_str().expect("an id").to_owned()).collect()
}

// D5, D7: the code and the words a client gets, until the owner closes
#[test]
fn a_session_that_is_active_elsewhere_is_refused() {
    for store in STORES {
        let (state, cwd) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let more = ["--projection", "committed"];
        let mut owner = start(state.path(), store, &more);
        let mut other = start(state.path(), store, &more);
        let session = session(&mut owner, cwd.path());
        for method in ["session/resume", "session/load", "session/delete"] {
            let (_, refused) = reopen(&mut other, method, &session, cwd.path());
            assert_eq!(refused["error"]["code"], -32600, "{store}, {method}: {refused}");
            assert_eq!(
                refused["error"]["message"], "the session is active; close it where it is open",
                "{store}, {method}"
            );
            assert_eq!(refused["error"]["data"]["sessionId"], session.as_str(), "{store}, {method}");
        }
        assert_eq!(listed(&mut other), Vec::<String>::new(), "{store}");
        turn(&mut owner, &session, "echo still mine");
        owner.call("session/close", &json!({ "sessionId": session }));
        assert_eq!(listed(&mut other), [session.as_str()], "{store}");
        let (_, resumed) = reopen(&mut other, "session/resume", &session, cwd.path());
        assert!(resumed["result"].is_object(), "{store}: {resumed}");
        let (_, refused) = reopen(&mut owner, "session/resume", &session, cwd.path());
        assert_eq!(refused["error"]["code"], -32600, "{store}: {refused}");
    }
}

/// A process of ours that is ended whatever happens.
#[cfg(target_os = "linux")]
struct Survivor(String);

#[cfg(target_os = "linux")]
impl Survivor {
    /// Read from where it wrote its number, once its client knows that it has.
    fn of(file: &Path) -> Self {
        Self(fs::read_to_string(file).expect("it wrote its number").trim().to_owned())
    }

    fn lives(&self) -> bool {
        Path::new("/proc").join(&self.0).join("exe").exists()
    }
}

#[cfg(target_os = "linux")]
impl Drop for Survivor {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = Command::new("kill").args(["-KILL", &self.0]).status();
    }
}

// D7: what an agent started does not inherit what it has locked, and does not keep it
#[cfg(target_os = "linux")]
#[test]
fn children_that_survive_their_agent_hold_none_of_its_sessions() {
    for store in STORES {
        let (state, cwd) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let mut owner = start(state.path(), store, &[]);
        // Open before anything is started, and again by then.
        let first = session(&mut owner, cwd.path());
        let stays = |name: &str| {
            let tells = format!("ls -l /proc/self/fd > {name}.fds; echo $$ > {name}.pid; exec sleep 1000");
            format!(
                "setsid sh -c '{tells}' < /dev/null > /dev/null 2>&1 & until test -s {name}.pid; do :; done"
            )
        };
        turn(&mut owner, &first, &format!("run {}", stays("tool")));
        let line = format!("{}; exec \"$0\"", stays("mcp"));
        let server = json!({
            "name": "lasting", "command": "/bin/sh", "env": [],
            "args": ["-c", line, env!("CARGO_BIN_EXE_accord-mcp-server")],
        });
        let answer = owner.call("session/new", &json!({"cwd": cwd.path(), "mcpServers": [server]}));
        let second = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        let survivors = ["tool", "mcp"].map(|name| {
            let open = fs::read_to_string(cwd.path().join(format!("{name}.fds"))).expect("it looked");
            let state = state.path().to_str().expect("Unicode");
            assert!(!open.contains(state), "{store}, {name} has files of the store: {open}");
            Survivor::of(&cwd.path().join(format!("{name}.pid")))
        });
        owner.process.kill().expect("it can be killed");
        owner.process.wait().expect("it is dead");
        let mut other = start(state.path(), store, &[]);
        for session in [&first, &second] {
            let (_, resumed) = reopen(&mut other, "session/resume", session, cwd.path());
            assert!(resumed["result"].is_object(), "{store}: {resumed}");
        }
        assert!(survivors.iter().all(Survivor::lives), "{store}: they were to survive");
    }
}
