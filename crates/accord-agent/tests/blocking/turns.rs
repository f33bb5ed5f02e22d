//! A turn from prompt to answer: order, content, ends that are no good ends.

use std::sync::{Arc, Mutex, mpsc};

use accord_agent::{
    blocking::{Callbacks, Failure, Part, Reply, Step, Usage},
    protocol::v1::StopReason,
};
use serde_json::{Value, json};

use super::harness::{Puppet, Wire, folder, of, said};

// H2
#[tokio::test]
async fn callbacks_arrive_in_the_order_of_the_calls_and_before_the_answer() {
    let state = folder();
    let agent = Puppet::new(|_, _, callbacks| {
        for number in 0..2_000 {
            callbacks.text(&format!("{number};"));
            if number % 100 == 0 {
                callbacks.tool_started("read_file", json!({ "path": number.to_string() }));
                callbacks.tool_finished("read_file", "x");
            }
        }
        Ok(Reply::done())
    });
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    let (stop, updates) = wire.prompt(&session, "go").await;
    assert_eq!(stop, "end_turn");
    let expected = (0..2_000).map(|number| format!("{number};")).collect::<Vec<_>>().concat();
    assert_eq!(said(&updates), expected);
    let calls = of(&updates, "tool_call");
    assert_eq!(calls.len(), 20);
    for (index, call) in calls.iter().enumerate() {
        assert_eq!(call["title"], format!("Read {}", index * 100));
    }
    wire.close().await;
}

// H8
#[tokio::test]
async fn the_agent_knows_where_it_is_and_what_was_said() {
    let state = folder();
    std::fs::write(state.path().join("notes.txt"), "remember").expect("a file");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let keep = seen.clone();
    let mut agent = Puppet::new(move |strings, prompt, _| {
        keep.lock().expect("no panic while held").push((strings.setup.clone(), prompt.parts.clone()));
        Ok(Reply::text("final"))
    });
    agent.images = true;
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    let prompt = json!([
        { "type": "text", "text": "look at" },
        { "type": "resource_link", "name": "notes", "uri": format!("file://{}/notes.txt", state.path().display()) },
        { "type": "image", "data": "aWNv", "mimeType": "image/png" },
        { "type": "resource", "resource": { "uri": "x:y", "text": "embedded" } },
    ]);
    let result = wire.call("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
    assert_eq!(result["stopReason"], "end_turn");
    assert_eq!(said(&wire.updates(&session)), "final", "nothing was streamed, so the final text is sent");
    let seen = seen.lock().expect("no panic while held");
    let (setup, parts) = &seen[0];
    assert_eq!((setup.front_end, setup.session_id.as_str()), ("acp", &*session));
    assert_eq!(setup.cwd, state.path().canonicalize().expect("it is there"));
    let [Part::Text(text), Part::Image { data, .. }, Part::Text(embedded)] = parts.as_slice() else {
        panic!("{parts:?}")
    };
    assert!(text.starts_with("look at\n\n[Attached: notes]") && text.ends_with("remember"), "{text}");
    assert_eq!((data.as_str(), embedded.ends_with("embedded")), ("aWNv", true));
}

// H5, H8
#[tokio::test]
async fn thoughts_steps_usage_plans_and_titles_have_their_updates() {
    let state = folder();
    let agent = Puppet::new(|strings, _, callbacks| {
        callbacks.thinking("hm");
        callbacks.tool_started("todo", json!({ "todos": [{ "content": "look", "status": "pending" }] }));
        callbacks.step(&Step::new().reasoning("hm, so").tool("todo", json!({}), "ok"));
        callbacks.title("A fine title");
        strings.usage = Some(Usage::new(70, 100));
        Ok(Reply::text("done").stopped(StopReason::MaxTokens))
    });
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    let (stop, updates) = wire.prompt(&session, "first line\nsecond").await;
    assert_eq!(stop, "max_tokens");
    let thoughts: Vec<_> =
        of(&updates, "agent_thought_chunk").iter().map(|t| t["content"]["text"].clone()).collect();
    assert_eq!(thoughts, ["hm", ", so"]);
    assert_eq!(of(&updates, "plan")[0]["entries"][0]["content"], "look");
    let usage = of(&updates, "usage_update")[0];
    assert_eq!((usage["used"].as_u64(), usage["size"].as_u64()), (Some(70), Some(100)));
    let titles: Vec<_> = of(&updates, "session_info_update").iter().map(|t| t["title"].clone()).collect();
    assert_eq!(titles, ["first line second", "A fine title"]);
    wire.close().await;
}

// H2, H13, B113
#[tokio::test]
async fn a_panic_ends_the_turn_and_nothing_else() {
    let state = folder();
    let agent = Puppet::new(|strings, prompt, callbacks| match prompt.text().as_str() {
        "panic" => {
            callbacks.text("so far");
            callbacks.tool_started("shell", json!({ "command": "x" }));
            panic!("on purpose");
        }
        _ => Ok(Reply::text(format!("{} entries", strings.history.len()))),
    });
    let asked = Arc::new(Mutex::new(0));
    let count = asked.clone();
    let slot = accord_agent::blocking::ApprovalSlot::with(move |_| {
        *count.lock().expect("no panic while held") += 1;
        accord_agent::blocking::Approval::Once
    });
    let agent = Puppet { approvals: slot.clone(), ..agent };
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    wire.prompt(&session, "one").await;
    let id = wire.start(&session, "panic").await;
    let response = wire.response(id).await;
    assert_eq!(response["error"]["code"], -32603);
    let message = response["error"]["message"].as_str().expect("a message");
    assert!(message.contains("panicked") && !message.contains("on purpose"), "{message}");
    let updates = wire.updates(&session);
    assert_eq!(said(&updates), "so far");
    let ended = of(&updates, "tool_call_update");
    assert_eq!(ended.last().expect("an end")["status"], "failed");

    let request = accord_agent::blocking::ApprovalRequest::new("shell", "x");
    assert!(slot.ask(&request).is_granted());
    assert_eq!(*asked.lock().expect("no panic while held"), 1, "the former callback is back");

    let (stop, updates) = wire.prompt(&session, "two").await;
    assert_eq!(stop, "end_turn");
    assert_eq!(
        said(&updates),
        "3 entries",
        "two of the first turn, none of the one that panicked, and this prompt"
    );
    wire.close().await;
}

#[tokio::test]
async fn failures_tell_whose_they_are() {
    let state = folder();
    let agent = Puppet::new(|_, prompt, _| {
        Err(match prompt.text().as_str() {
            "login" => Failure::Login("the key has expired".into()),
            "invalid" => Failure::Invalid("too long for this model".into()),
            _ => Failure::failed("the server is gone"),
        })
    });
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    for (text, code, message) in [
        ("login", -32000, "the key has expired"),
        ("invalid", -32602, "too long for this model"),
        ("other", -32603, "the server is gone"),
    ] {
        let id = wire.start(&session, text).await;
        let error = wire.response(id).await["error"].clone();
        assert_eq!((error["code"].as_i64(), error["message"].as_str()), (Some(code), Some(message)));
    }
    wire.close().await;
}

// H2
#[tokio::test]
async fn a_callback_after_the_end_changes_nothing() {
    let state = folder();
    let (give, given) = mpsc::channel::<Callbacks>();
    let give = Mutex::new(give);
    let agent = Puppet::new(move |_, _, callbacks| {
        callbacks.tool_started("shell", json!({ "command": "x" }));
        give.lock().expect("no panic while held").send(callbacks.clone()).expect("the test listens");
        Ok(Reply::text("done"))
    });
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    let (_, updates) = wire.prompt(&session, "go").await;
    assert_eq!(of(&updates, "tool_call_update").len(), 1, "the open call has ended with the turn");
    let late = given.recv().expect("the callbacks");
    let approval = tokio::task::spawn_blocking(move || {
        late.text("late");
        late.thinking("late");
        late.tool_started("shell", json!({ "command": "late" }));
        late.tool_progress("shell", "late");
        late.tool_finished("shell", "late");
        late.step(&Step::new().reasoning("late"));
        late.title("late");
        late.usage(Usage::new(1, 2));
        late.approve(&accord_agent::blocking::ApprovalRequest::new("shell", "late"))
    });
    assert!(!approval.await.expect("no panic").is_granted());
    let (_, updates) = wire.prompt(&session, "again").await;
    assert!(!json!(updates).to_string().contains("late"), "{updates:?}");
    assert!(!wire.come.iter().any(|frame| frame.to_string().contains("late")));
    wire.close().await;
}

// H8
#[tokio::test]
async fn a_second_prompt_during_a_turn_is_refused() {
    let state = folder();
    let (go, gone) = mpsc::channel::<()>();
    let gone = Mutex::new(gone);
    let agent = Puppet::new(move |_, prompt, _| {
        if prompt.text() == "first" {
            gone.lock().expect("no panic while held").recv().expect("the test says go");
        }
        Ok(Reply::text(prompt.text()))
    });
    let mut wire = Wire::simple(agent, state.path()).await;
    let session = wire.session(state.path()).await;
    let first = wire.start(&session, "first").await;
    let second = wire.start(&session, "second").await;
    let error = wire.response(second).await["error"].clone();
    assert_eq!(error["code"], -32600, "{error}");
    go.send(()).expect("the turn waits");
    let response: Value = wire.response(first).await;
    assert_eq!(response["result"]["stopReason"], "end_turn");
    assert_eq!(said(&wire.updates(&session)), "first");
    let (_, updates) = wire.prompt(&session, "third").await;
    assert_eq!(said(&updates), "third");
    wire.close().await;
}
