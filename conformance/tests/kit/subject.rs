//! What the subject agent does beyond any agent: its login, its log, and the rare things it is asked for.

use std::fs;

use serde_json::{Value, json};

use crate::process::{Home, said, updates};

// ACPX-AUTH-003, ACPX-AUTH-011: nothing about sessions before a login
#[test]
fn a_login_comes_before_everything_about_sessions() {
    let home = Home::new();
    let mut agent = home.start(&["--auth", "--fork"], &json!({}));
    let place = json!({"sessionId": "s", "cwd": home.cwd(), "mcpServers": []});
    let calls =
        ["session/new", "session/list", "session/load", "session/resume", "session/fork", "session/delete"];
    for method in calls {
        assert_eq!(agent.call(method, &place)["error"]["code"], -32000, "{method}");
    }
    assert_eq!(agent.call("authenticate", &json!({"methodId": "token"}))["result"], json!({}));
    let session = home.session(&mut agent);
    agent.call("logout", &json!({}));
    assert_eq!(agent.call("session/delete", &json!({"sessionId": session}))["error"]["code"], -32000);
    agent.call("authenticate", &json!({"methodId": "token"}));
    let (updates, _) = agent.turn(&session, "echo still there", "allow");
    assert_eq!(said(&updates), "still there");
    assert_eq!(agent.call("session/delete", &json!({"sessionId": session}))["result"], json!({}));
}

// ACPX-RESTART-005: one damaged session hides no other, and somebody is told
#[test]
fn a_session_without_a_readable_header_is_told_on_stderr() {
    let home = Home::new();
    let mut agent = home.start(&[], &json!({}));
    let sessions = [home.session(&mut agent), home.session(&mut agent)];
    agent.hang_up();
    let files = fs::read_dir(home.state()).expect("a folder").map(|file| file.expect("a file").path());
    let damaged = files
        .filter(|file| fs::read_to_string(file).is_ok_and(|text| text.contains(&sessions[0])))
        .inspect(|file| fs::write(file, "{\"version\":1,\"head\n").expect("it is writable"))
        .count();
    assert_eq!(damaged, 1);
    let mut agent = home.start(&[], &json!({}));
    let listed = agent.call("session/list", &json!({}));
    assert_eq!(listed["result"]["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed["result"]["sessions"][0]["sessionId"], json!(sessions[1]));
    let told = agent.hang_up();
    assert!(told.contains("has no readable header"), "{told:?}");
}

// ACPX-CONTENT-002, ACPX-NOTICE-002, ACPX-COMPACT-002
#[test]
fn rare_updates_come_when_they_are_asked_for() {
    let home = Home::new();
    let mut agent = home.start(&[], &json!({"session": {"notices": {}, "compaction": {}}}));
    let session = home.session(&mut agent);
    let (updates, _) = agent.turn(&session, "image", "allow");
    let image = updates.iter().find(|update| update["content"]["type"] == "image").expect("an image");
    assert_eq!(image["content"]["mimeType"], "image/png");
    let (updates, _) = agent.turn(&session, "notice Mind the gap", "allow");
    assert_eq!(
        (&updates[0]["sessionUpdate"], &updates[0]["title"]),
        (&json!("notice"), &json!("Mind the gap"))
    );
    let (updates, _) = agent.turn(&session, "compact", "allow");
    let kinds: Vec<_> =
        updates.iter().map(|update| update["sessionUpdate"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, ["compaction_update", "compaction_summary_chunk", "compaction_update"]);
    assert_eq!(updates[2]["status"], "completed");
}

// ACPX-ELIC-016, ACPX-ELIC-020
#[test]
fn an_address_is_asked_about_and_told_when_it_is_done() {
    let home = Home::new();
    let mut agent = home.start(&[], &json!({"elicitation": {"url": {}}}));
    let session = home.session(&mut agent);
    let prompt = agent.prompt(&session, "visit");
    let asked = |frame: &Value| frame["method"] == "elicitation/create";
    let (before, _) = agent
        .answer(prompt, |_, frame| asked(frame).then(|| json!({"result": {"action": "accept"}})))
        .expect("an answer");
    let question = before.iter().find(|frame| asked(frame)).expect("a question");
    assert!(question["params"]["url"].as_str().is_some_and(|url| url.starts_with("https://")), "{question}");
    let done = before.iter().find(|frame| frame["method"] == "elicitation/complete").expect("it is done");
    assert_eq!(done["params"]["elicitationId"], question["params"]["elicitationId"]);
    assert_eq!(said(&updates(&before)), "opened");
}
