//! The model behind a server of chat completions: the same turns as without one, and what servers get wrong.

use std::{io::Read, sync::mpsc, thread};

use serde_json::{Value, json};

use super::{
    harness::{Agent, folder, of, said},
    server,
};

/// What of a turn does not change from run to run.
fn gist(updates: &[Value]) -> Vec<Value> {
    let mut gist: Vec<Value> = Vec::new();
    for update in updates {
        let kind = update["sessionUpdate"].clone();
        let mut part = json!({ "kind": kind });
        for name in ["title", "status", "content", "rawInput", "rawOutput", "entries", "used"] {
            if let Some(value) = update.get(name) {
                part[name] = value.clone();
            }
        }
        match gist.last_mut() {
            Some(last)
                if last["kind"] == kind && kind.as_str().is_some_and(|kind| kind.ends_with("chunk")) =>
            {
                let text = |value: &Value| value["content"]["text"].as_str().unwrap_or_default().to_owned();
                last["content"]["text"] = (text(last) + &text(&part)).into();
            }
            _ => gist.push(part),
        }
    }
    // How much of a running command is seen depends on when one looks.
    gist.retain(|part| part["status"] != "in_progress" || part.get("content").is_none());
    gist
}

// H2, H5
#[test]
fn both_models_lead_to_the_same_turns() {
    let words = [
        "ping",
        "echo some words",
        "think about it",
        "stream 20 40",
        "write a/b.txt some text",
        "read a/b.txt",
        "search some",
        "run exec 2>&1; echo out; echo err >&2; exit 3",
        "mcp nothing {}",
        "tools 2",
        "permit 2",
        "plan",
        "title My work",
        "usage",
        "history",
        "refuse",
        "limit",
        "fail on purpose",
        "something else",
    ];
    let project = folder();
    let run = |mut agent: Agent| {
        let session = agent.session(project.path());
        let turns: Vec<_> = words
            .iter()
            .map(|words| {
                let (response, updates) = agent.turn(&session, words, "allow");
                let end = response.get("result").map(|result| result["stopReason"].clone());
                let end = end.unwrap_or_else(|| response["error"]["code"].clone());
                (*words, end, gist(&updates))
            })
            .collect();
        agent.end();
        turns
    };
    let (one, two) = (folder(), folder());
    let scripted = run(Agent::scripted(one.path()));
    std::fs::remove_dir_all(project.path().join("a")).expect("it was written");
    let chat = run(Agent::chat(two.path(), &server::scripted()));
    for (scripted, chat) in scripted.iter().zip(&chat) {
        assert_eq!(scripted, chat);
    }
    let ends: Vec<_> = scripted.iter().map(|(_, end, _)| end.clone()).collect();
    assert_eq!(ends[15..18], [json!("refusal"), json!("max_tokens"), json!(-32603)]);
}

#[test]
fn a_request_holds_the_conversation_the_tools_and_the_key() {
    let (url, requests) = server::telling(|number, stream| {
        server::head(stream);
        if number == 0 {
            server::event(stream, r#"{"choices":[{"delta":{"reasoning":"hm"}}]}"#);
            server::event(stream, r#"{"choices":[{"delta":{"content":"Looking."}}]}"#);
            server::event(
                stream,
                r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"x1","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}},{"index":1,"id":"x2","function":{"name":"read_file","arguments":"{\"path\":\"b\"}"}}]},"finish_reason":"tool_calls"}]}"#,
            );
        } else {
            server::event(stream, r#"{"choices":[{"delta":{"content":"Done."},"finish_reason":"stop"}]}"#);
            server::event(stream, r#"{"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":10}}"#);
        }
        server::end(stream);
    });
    let (state, project) = (folder(), folder());
    std::fs::write(project.path().join("a"), "text of a").expect("a file");
    let mut agent = Agent::chat(state.path(), &url);
    let session = agent.session(project.path());
    let updates = agent.prompt(&session, "look");
    assert_eq!(of(&updates, "agent_thought_chunk").len(), 1, "reasoning is told once");
    let ends: Vec<_> =
        of(&updates, "tool_call_update").iter().map(|update| update["status"].clone()).collect();
    assert_eq!(ends, ["completed", "failed"], "b is not there");
    assert_eq!(of(&updates, "usage_update")[0]["used"], 100);
    assert_eq!(said(&updates), "Looking.Done.");

    let first = requests.recv().expect("a request");
    assert!(
        first.headers.contains("authorization: bearer k-1")
            && first.headers.starts_with("post /v1/chat/completions ")
    );
    assert_eq!((&first.body["model"], &first.body["stream"]), (&json!("plain"), &json!(true)));
    let tools = first.body["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["function"]["name"] == "shell"));
    let second = requests.recv().expect("a request");
    let messages = second.body["messages"].as_array().expect("messages");
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().expect("a role")).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!((&messages[3]["tool_call_id"], &messages[3]["content"]), (&json!("x1"), &json!("text of a")));
    assert!(
        messages[0]["content"]
            .as_str()
            .expect("text")
            .contains(&*project.path().canonicalize().expect("it is there").to_string_lossy())
    );
    agent.end();
}

// H8
#[test]
fn an_image_goes_to_models_that_see() {
    let (url, requests) = server::telling(|_, stream| {
        server::head(stream);
        server::event(stream, r#"{"choices":[{"delta":{"content":"I see."},"finish_reason":"stop"}]}"#);
        server::end(stream);
    });
    let state = folder();
    let variables = [("ACCORD_BASE_URL", &*url), ("ACCORD_MODEL", "eyes"), ("ACCORD_IMAGES", "1")];
    let mut agent = Agent::start(&mut super::harness::program(state.path(), &variables));
    let session = agent.session(state.path());
    let prompt = json!([
        { "type": "text", "text": "what is it" },
        { "type": "image", "mimeType": "image/png", "data": "aWNv" },
    ]);
    let id = agent.start_prompt(&session, &prompt);
    assert_eq!(agent.response(id)["result"]["stopReason"], "end_turn");
    let request = requests.recv().expect("a request");
    assert_eq!(request.body["messages"][1]["content"][1]["image_url"]["url"], "data:image/png;base64,aWNv");
    assert!(!request.headers.contains("authorization"), "no key, no header");
    agent.end();
}

// B047, B161
#[test]
fn what_servers_get_wrong_is_an_error_that_says_so() {
    let (url, _requests) = server::telling(|number, stream| match number {
        0 => server::status(stream, "401 Unauthorized", r#"{"error":{"message":"bad key"}}"#),
        1 => server::status(stream, "500 Oops", "<html>broken</html>"),
        2 => {
            server::head(stream);
            server::event(stream, r#"{"choices":[{"delta":{"content":"half"}}]}"#);
        }
        3 => server::status(stream, "200 OK", "not json\n"),
        4 => {
            server::head(stream);
            server::event(stream, r#"{"error":{"message":"overloaded"}}"#);
            server::end(stream);
        }
        _ => {
            server::head(stream);
            server::event(stream, r#"{"choices":[{"delta":{"content":"fine"},"finish_reason":"stop"}]}"#);
            server::end(stream);
        }
    });
    let state = folder();
    let mut agent = Agent::chat(state.path(), &url);
    let session = agent.session(state.path());
    for (code, says) in [
        (-32000, "bad key"),
        (-32603, "500"),
        (-32603, "model server"),
        (-32603, "ended its answer"),
        (-32603, "overloaded"),
    ] {
        let (response, _) = agent.turn(&session, "hello", "allow");
        let error = &response["error"];
        assert_eq!(error["code"], code, "{response}");
        assert!(error["message"].as_str().expect("a message").contains(says), "{says} in {error}");
        assert!(!error.to_string().contains("k-1"), "the key stays here");
    }
    assert_eq!(said(&agent.prompt(&session, "hello")), "fine", "the session goes on");
    agent.end();
}

// H8
#[test]
fn without_a_summary_the_conversation_stays_as_it_was() {
    let (url, requests) = server::telling(|number, stream| {
        server::head(stream);
        let content = if number == 4 { "" } else { "fine" };
        let event = json!({ "choices": [{ "delta": { "content": content }, "finish_reason": "stop" }] });
        server::event(stream, &event.to_string());
        server::end(stream);
    });
    let state = folder();
    let mut agent = Agent::chat(state.path(), &url);
    let session = agent.session(state.path());
    for words in ["one", "two", "three", "four"] {
        assert_eq!(said(&agent.prompt(&session, words)), "fine");
    }
    let (response, _) = agent.turn(&session, "/compact", "allow");
    assert_eq!(response["error"]["code"], -32603, "{response}");
    agent.prompt(&session, "five");
    let last = requests.try_iter().last().expect("requests");
    assert_eq!(last.body["messages"].as_array().map(Vec::len), Some(1 + 8 + 1), "{}", last.body);
    agent.end();
}

// H9
#[test]
fn a_cancel_hangs_up_on_the_server() {
    let (gone, noticed) = mpsc::channel();
    let (url, _requests) = server::telling(move |_, stream| {
        server::head(stream);
        server::event(stream, r#"{"choices":[{"delta":{"content":"thinking"}}]}"#);
        let (mut stream, gone) = (stream.try_clone().expect("a socket"), gone.clone());
        thread::spawn(move || {
            // Blocks until the agent hangs up.
            let read = stream.read(&mut [0; 1]);
            gone.send(read.map_or(0, |read| read)).expect("the test listens");
        });
    });
    let state = folder();
    let mut agent = Agent::chat(state.path(), &url);
    let session = agent.session(state.path());
    let id = agent.start_text(&session, "hello");
    agent.take(|frame| frame["params"]["update"]["content"]["text"] == "thinking");
    agent.cancel(&session);
    assert_eq!(agent.response(id)["result"]["stopReason"], "cancelled");
    assert_eq!(noticed.recv().expect("the server notices"), 0);
    agent.end();
}
