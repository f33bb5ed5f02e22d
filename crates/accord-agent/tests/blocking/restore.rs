//! What comes back after a restart, and what a fork has of its source.

use std::sync::mpsc;

use accord_agent::blocking::{Blocking, Reply};
use serde_json::{Value, json};

use super::harness::{Puppet, Wire, folder, of, said, store};

/// An agent that tells what it remembers, and runs a tool for each prompt.
fn remembering() -> Puppet {
    Puppet::new(|strings, prompt, callbacks| {
        if prompt.text() == "recall" {
            let users = strings.history.iter().filter(|entry| entry["role"] == "user");
            let said: Vec<_> = users.filter_map(|entry| entry["content"].as_str()).collect();
            return Ok(Reply::text(said.join(",")));
        }
        callbacks.thinking("hm");
        callbacks.tool_started("write_file", json!({ "path": "a.txt", "content": prompt.text() }));
        std::fs::write(strings.setup.cwd.join("a.txt"), prompt.text()).expect("a file");
        callbacks.tool_finished("write_file", "ok");
        callbacks.text("did ");
        callbacks.text(&prompt.text());
        Ok(Reply::done())
    })
}

fn without_times(updates: Vec<Value>) -> Vec<Value> {
    updates
        .into_iter()
        .map(|mut update| {
            if let Some(members) = update.as_object_mut() {
                members.remove("updatedAt");
            }
            update
        })
        .collect()
}

// H4, H16
#[tokio::test]
async fn load_replays_the_history_with_its_tool_calls_and_resume_does_not() {
    let state = folder();
    let mut wire = Wire::simple(remembering(), state.path()).await;
    let session = wire.session(state.path()).await;
    wire.prompt(&session, "one").await;
    let (_, live) = wire.prompt(&session, "two").await;
    wire.close().await;

    let open = json!({ "sessionId": session, "cwd": state.path(), "mcpServers": [] });
    let mut wire = Wire::simple(remembering(), state.path()).await;
    let load = wire.send("session/load", open.clone()).await;
    wire.response(load).await;
    let replay = without_times(wire.updates(&session));
    let users: Vec<_> =
        of(&replay, "user_message_chunk").iter().map(|u| u["content"]["text"].clone()).collect();
    assert_eq!(users, ["one", "two"]);
    let live = without_times(live);
    let second: Vec<_> = replay.iter().filter(|update| live.contains(update)).collect();
    for kind in ["agent_thought_chunk", "tool_call", "tool_call_update"] {
        assert!(second.iter().any(|update| update["sessionUpdate"] == kind), "{kind} in {replay:?}");
    }
    assert_eq!(of(&replay, "tool_call")[1], of(&live, "tool_call")[0], "with the same id, title and diff");
    assert_eq!(said(&replay), "did onedid two");
    let (_, updates) = wire.prompt(&session, "recall").await;
    assert_eq!(said(&updates), "one,two,recall", "the agent has its own history back");
    wire.close().await;

    let mut wire = Wire::simple(remembering(), state.path()).await;
    let resume = wire.send("session/resume", open).await;
    assert!(wire.response(resume).await.get("error").is_none());
    let history: Vec<_> = wire
        .updates(&session)
        .into_iter()
        .filter(|update| {
            update["sessionUpdate"]
                .as_str()
                .is_some_and(|kind| kind.ends_with("_chunk") || kind.starts_with("tool"))
        })
        .collect();
    assert!(history.is_empty(), "{history:?}");
    let (_, updates) = wire.prompt(&session, "recall").await;
    assert_eq!(said(&updates), "one,two,recall,recall");
    wire.close().await;
}

// H10, H4
#[tokio::test]
async fn a_fork_goes_its_own_way_with_what_its_source_remembers() {
    let state = folder();
    let (there, elsewhere) = (folder(), folder());
    let mut wire = Wire::simple(remembering(), state.path()).await;
    assert!(wire.introduced["agentCapabilities"]["sessionCapabilities"]["fork"].is_object());
    let source = wire.session(there.path()).await;
    wire.prompt(&source, "one").await;
    wire.prompt(&source, "two").await;
    let params = json!({ "sessionId": source, "cwd": elsewhere.path(), "mcpServers": [] });
    let forked = wire.call("session/fork", params).await;
    let fork = forked["sessionId"].as_str().expect("an id").to_owned();
    assert_ne!(fork, source);

    wire.prompt(&fork, "three").await;
    let read =
        |folder: &tempfile::TempDir| std::fs::read_to_string(folder.path().join("a.txt")).expect("a file");
    assert_eq!((read(&there), read(&elsewhere)), ("two".to_owned(), "three".to_owned()));
    let (_, updates) = wire.prompt(&source, "recall").await;
    assert_eq!(said(&updates), "one,two,recall", "the source knows nothing of its fork");
    let (_, updates) = wire.prompt(&fork, "recall").await;
    assert_eq!(said(&updates), "one,two,three,recall", "nor the fork of what its source went on with");
    let unknown = json!({ "sessionId": "nobody", "cwd": elsewhere.path(), "mcpServers": [] });
    assert_eq!(wire.refused("session/fork", unknown).await["code"], -32002);
    wire.close().await;

    let mut wire = Wire::simple(remembering(), state.path()).await;
    let open = json!({ "sessionId": fork, "cwd": elsewhere.path(), "mcpServers": [] });
    wire.call("session/load", open).await;
    let replay = wire.updates(&fork);
    let users: Vec<_> =
        of(&replay, "user_message_chunk").iter().map(|u| u["content"]["text"].clone()).collect();
    assert_eq!(users, ["one", "two", "three", "recall"]);
    assert_eq!(of(&replay, "tool_call").len(), 3);
    let (_, updates) = wire.prompt(&fork, "recall").await;
    assert_eq!(said(&updates), "one,two,three,recall,recall");
    wire.close().await;
}

// H4
#[tokio::test]
async fn a_prompt_alone_brings_a_stored_session_back_where_that_is_wanted() {
    let state = folder();
    let mut wire = Wire::simple(remembering(), state.path()).await;
    let session = wire.session(state.path()).await;
    wire.prompt(&session, "one").await;
    wire.close().await;

    let mut wire = Wire::simple(remembering(), state.path()).await;
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "recall" }] });
    assert_eq!(wire.refused("session/prompt", prompt).await["code"], -32002, "only on request");
    wire.close().await;

    let reviving = || {
        let runtime = Blocking::new(remembering()).runtime().store(store(state.path()));
        Wire::serve(runtime.revive_on_prompt().build(), json!({}))
    };
    let mut wire = reviving().await;
    let (stop, updates) = wire.prompt(&session, "recall").await;
    assert_eq!((stop.as_str(), said(&updates).as_str()), ("end_turn", "one,recall"));
    assert_eq!(updates[0]["sessionUpdate"], "available_commands_update", "as for any session that is opened");
    let (_, updates) = wire.prompt(&session, "two").await;
    assert_eq!(said(&updates), "did two");
    wire.call("session/close", json!({ "sessionId": session })).await;
    let (_, updates) = wire.prompt(&session, "recall").await;
    assert_eq!(said(&updates), "one,recall,two,recall");
    for _ in 0..2 {
        let nobody = json!({ "sessionId": "nobody", "prompt": [{ "type": "text", "text": "hi" }] });
        assert_eq!(wire.refused("session/prompt", nobody).await["code"], -32002);
    }
    wire.close().await;

    // Cancelled while it is brought back, it is there all the same, or not at all: the next prompt finds it.
    let mut wire = reviving().await;
    let turn = wire.start(&session, "recall").await;
    wire.cancel(&session).await;
    wire.response(turn).await;
    let (stop, _) = wire.prompt(&session, "recall").await;
    assert_eq!(stop, "end_turn");
    wire.close().await;
}

// H3, H4
#[tokio::test]
async fn an_opening_that_the_client_withdraws_is_in_nobodys_way() {
    let state = folder();
    let mut wire = Wire::simple(remembering(), state.path()).await;
    let session = wire.session(state.path()).await;
    wire.prompt(&session, "one").await;
    wire.close().await;

    let agent = remembering();
    let setups = agent.setups.clone();
    let mut wire = Wire::simple(agent, state.path()).await;
    // Whoever holds this holds the agent up while it makes a conversation.
    let (release, until) = mpsc::channel::<()>();
    let (taken, ready) = mpsc::channel();
    let holder = std::thread::spawn(move || {
        let _setups = setups.lock().expect("no panic while held");
        taken.send(()).expect("the test waits");
        let _ = until.recv();
    });
    ready.recv().expect("the thread runs");
    let open = json!({ "sessionId": session, "cwd": state.path(), "mcpServers": [] });
    let resume = wire.send("session/resume", open.clone()).await;
    wire.notify("$/cancel_request", json!({ "requestId": resume })).await;
    assert_eq!(wire.response(resume).await["error"]["code"], -32800);
    drop(release);
    holder.join().expect("no panic");

    wire.call("session/resume", open).await;
    let (_, updates) = wire.prompt(&session, "recall").await;
    assert_eq!(said(&updates), "one,recall");
    wire.close().await;
}

// H16
#[tokio::test]
async fn a_mode_survives_a_restart() {
    use accord_agent::{protocol::v1::SessionMode, runtime::Catalogue};

    let state = folder();
    let agent = || {
        let modes = [SessionMode::new("ask", "Ask"), SessionMode::new("act", "Act")];
        Puppet { catalogue: Catalogue::default().modes(modes), ..remembering() }
    };
    let mut wire = Wire::simple(agent(), state.path()).await;
    let opened = wire.call("session/new", json!({ "cwd": state.path(), "mcpServers": [] })).await;
    let session = opened["sessionId"].as_str().expect("an id").to_owned();
    assert_eq!(opened["modes"]["currentModeId"], "ask");
    wire.call("session/set_mode", json!({ "sessionId": session, "modeId": "act" })).await;
    wire.close().await;

    let again = agent();
    let setups = again.setups.clone();
    let mut wire = Wire::simple(again, state.path()).await;
    let open = json!({ "sessionId": session, "cwd": state.path(), "mcpServers": [] });
    let resumed = wire.call("session/resume", open).await;
    assert_eq!(resumed["modes"]["currentModeId"], "act");
    let mode = setups.lock().expect("no panic while held")[0].choice.mode.clone();
    assert_eq!(mode.expect("a mode"), "act", "the agent is set up with it");
    wire.close().await;
}

// H16
#[tokio::test]
async fn title_and_directory_survive_a_restart() {
    let state = folder();
    let project = folder();
    let mut wire = Wire::simple(remembering(), state.path()).await;
    let session = wire.session(project.path()).await;
    wire.prompt(&session, "a job to do").await;
    wire.close().await;
    let mut wire = Wire::simple(remembering(), state.path()).await;
    let listed = wire.call("session/list", json!({})).await;
    let entry = &listed["sessions"][0];
    assert_eq!(
        (entry["sessionId"].as_str(), entry["title"].as_str()),
        (Some(&*session), Some("a job to do"))
    );
    let cwd = project.path().canonicalize().expect("it is there");
    assert_eq!(entry["cwd"].as_str(), cwd.to_str());
    wire.close().await;
}

// H4
#[tokio::test]
async fn an_object_put_to_rest_is_made_anew_for_the_next_turn() {
    let state = folder();
    let agent = remembering();
    let setups = agent.setups.clone();
    // Whenever a session is opened, all others that do nothing are put to rest.
    let rest = std::time::Duration::ZERO;
    let mut wire = Wire::open(agent, state.path(), |builder| builder.rest_after(rest), json!({})).await;
    let session = wire.session(state.path()).await;
    wire.prompt(&session, "one").await;
    let made = setups.lock().expect("no panic while held").len();
    wire.session(state.path()).await;
    let (_, updates) = wire.prompt(&session, "recall").await;
    assert_eq!(said(&updates), "one,recall");
    assert_eq!(setups.lock().expect("no panic while held").len(), made + 2, "one for each session");
    wire.close().await;
}

// H12
#[tokio::test]
async fn each_session_works_in_its_own_directory() {
    let state = folder();
    let (one, two) = (folder(), folder());
    let mut wire = Wire::simple(remembering(), state.path()).await;
    let (first, second) = (wire.session(one.path()).await, wire.session(two.path()).await);
    let (_, updates) = wire.prompt(&first, "in one").await;
    wire.prompt(&second, "in two").await;
    let read =
        |folder: &tempfile::TempDir| std::fs::read_to_string(folder.path().join("a.txt")).expect("a file");
    assert_eq!((read(&one), read(&two)), ("in one".to_owned(), "in two".to_owned()));
    let place = one.path().canonicalize().expect("it is there").join("a.txt");
    assert_eq!(of(&updates, "tool_call")[0]["locations"][0]["path"].as_str(), place.to_str());
    wire.close().await;
}

// H4, H2
#[tokio::test]
async fn a_panic_leaves_the_store_as_the_last_turn_left_it() {
    let state = folder();
    let agent = || {
        Puppet::new(|strings, prompt, callbacks| {
            if prompt.text() == "panic" {
                strings.history.push(json!("half of something"));
                callbacks.text("half");
                panic!("on purpose");
            }
            Ok(Reply::text(strings.history.len().to_string()))
        })
    };
    let mut wire = Wire::simple(agent(), state.path()).await;
    let session = wire.session(state.path()).await;
    wire.prompt(&session, "one").await;
    let turn = wire.start(&session, "panic").await;
    assert!(wire.response(turn).await.get("error").is_some());
    wire.close().await;
    let mut wire = Wire::simple(agent(), state.path()).await;
    let open = json!({ "sessionId": session, "cwd": state.path(), "mcpServers": [] });
    wire.call("session/load", open).await;
    let (stop, updates) = wire.prompt(&session, "two").await;
    assert_eq!((stop.as_str(), said(&updates).as_str()), ("end_turn", "3"));
    wire.close().await;
}
