//! Sessions over restarts, in SQLite.

use serde_json::{Value, json};

use super::harness::{Agent, folder, of, said};

// H4, H16, B116
#[test]
fn sessions_come_back_from_sqlite_with_history_title_and_model() {
    let (state, project) = (folder(), folder());
    let mut agent = Agent::scripted(state.path());
    let session = agent.session(project.path());
    agent.prompt(&session, "write a.txt one");
    agent.prompt(&session, "title Important work");
    let params = json!({ "sessionId": session, "configId": "model", "value": "scripted/thorough" });
    agent.call("session/set_config_option", params);
    agent.turn(&session, "run true", "always");
    agent.end();

    let mut agent = Agent::scripted(state.path());
    let listed = agent.call("session/list", json!({ "cwd": project.path() }));
    let entry = &listed["sessions"][0];
    assert_eq!((&entry["sessionId"], &entry["title"]), (&json!(session), &json!("Important work")));
    let open = json!({ "sessionId": session, "cwd": project.path(), "mcpServers": [] });
    let loaded = agent.call("session/load", open);
    let replay = agent.updates(&session);
    let titles: Vec<_> = of(&replay, "tool_call").iter().map(|call| call["title"].clone()).collect();
    assert_eq!(titles, ["Write a.txt", "set_title", "Run true"]);
    let users: Vec<_> =
        of(&replay, "user_message_chunk").iter().map(|chunk| chunk["content"]["text"].clone()).collect();
    assert_eq!(users, ["write a.txt one", "title Important work", "run true"]);
    let options = loaded["configOptions"].as_array().expect("options");
    let model: &Value = options.iter().find(|option| option["id"] == "model").expect("a model");
    assert_eq!(model["currentValue"], "scripted/thorough");
    assert_eq!(
        said(&agent.prompt(&session, "history")),
        "3 turns: write a.txt one; title Important work; run true"
    );
    assert_eq!(said(&agent.prompt(&session, "whoami")), "scripted/thorough, effort as the provider sees fit");
    let id = agent.start_text(&session, "run true");
    assert_eq!(
        agent.response(id)["result"]["stopReason"],
        "end_turn",
        "what was allowed for good is not asked again"
    );
    agent.end();
}
