//! Frames that were reported from the field, and the limits of what JSON can hold.

use std::{fs, path::Path};

use accord_protocol::{
    open::{Json, Maybe},
    rpc::{self, Message},
    v1::{
        AgentRequest, AuthMethod, ClientRequest, InitializeResponse, LoadSessionResponse,
        RequestPermissionRequest, SessionNotification, SessionUpdate,
    },
};
use serde_json::{Value, json};

// B145
#[test]
fn a_null_answer_is_an_empty_one_where_nothing_is_required() {
    assert_eq!(rpc::typed::<LoadSessionResponse>("null"), Ok(LoadSessionResponse::new()));
    assert_eq!(
        serde_json::from_str::<LoadSessionResponse>("null").expect("it reads"),
        LoadSessionResponse::new()
    );
    assert!(serde_json::from_str::<InitializeResponse>("null").is_err());
}

// B146
#[test]
fn a_sloppy_handshake_succeeds() {
    let answer: InitializeResponse = serde_json::from_value(json!({
        "protocolVersion": 1,
        "agentInfo": { "name": "x", "version": null },
        "agentCapabilities": { "promptCapabilities": null, "loadSession": "yes" },
        "authMethods": [{ "id": "ok", "name": "OK", "description": null }, { "id": 7 }],
    }))
    .expect("it reads");
    assert_eq!(answer.agent_info, Maybe::Absent);
    let capabilities = answer.agent_capabilities.expect("there are some");
    assert_eq!((capabilities.load_session, capabilities.prompt_capabilities), (None, None));
    let methods = answer.auth_methods.expect("there are some");
    assert!(matches!(&*methods, [AuthMethod::Agent(method)] if method.id == "ok"));
}

// B148
#[test]
fn a_tool_call_with_a_tag_too_many_is_a_tool_call() {
    let ask: RequestPermissionRequest = serde_json::from_value(json!({
        "sessionId": "s",
        "toolCall": { "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Run", "status": "pending" },
        "options": [{ "optionId": "a", "name": "Allow once", "kind": "allow_once" }],
    }))
    .expect("it reads");
    assert_eq!(ask.tool_call.title.get().map(String::as_str), Some("Run"));
}

// B149
#[test]
fn every_meta_is_kept() {
    let note = json!({ "sessionId": "s", "_meta": { "v": 0 }, "update": {
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "_meta": { "v": 1 },
        "content": [{ "type": "content", "_meta": { "v": 3 },
                      "content": { "type": "text", "text": "x", "_meta": { "v": 2 } } }],
        "locations": [{ "path": "/a", "line": 1, "_meta": { "v": 4 } }],
    } });
    let read: SessionNotification = serde_json::from_value(note.clone()).expect("it reads");
    assert_eq!(serde_json::to_value(read).expect("it writes"), note);
}

/// The frames of the kinds TYP and RPC: each is read or refused, and nothing panics.
#[test]
fn frames_from_the_field_are_read_or_refused() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/spec/field-cases.jsonl");
    let Ok(text) = fs::read_to_string(&file) else {
        println!("skipped: the cases from the field are not beside this checkout");
        return;
    };
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut frames = 0;
    for case in cases.filter(|case| case["class"] == "TYP" || case["class"] == "RPC") {
        for frame in case["send"].as_array().expect("frames").iter().filter(|frame| frame["jsonrpc"] == "2.0")
        {
            frames += 1;
            match rpc::decode(frame.to_string().as_bytes()) {
                Ok(Message::Request { method, params, .. }) => {
                    let client = ClientRequest::decode(&method, params.as_deref());
                    let agent = AgentRequest::decode(&method, params.as_deref());
                    let read = client.is_ok() && agent.is_ok();
                    assert!(read || case["valid_frames"] == false, "{}: {frame}", case["id"]);
                }
                Ok(_) => {}
                Err(malformed) => assert_eq!(case["valid_frames"], false, "{}: {malformed}", case["id"]),
            }
        }
    }
    assert!(frames > 20, "{frames}");
}

#[test]
fn depth_and_size_of_numbers_give_errors() {
    for depth in [100, 127, 128, 129, 10_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"deep":{deep},"sessionUpdate":"new"}}}}}}"#
        );
        assert_eq!(rpc::decode(line.as_bytes()).is_ok(), depth < 125, "{depth}");
    }
    let usage = |used: &str| {
        let text = format!(r#"{{"sessionUpdate":"usage_update","used":{used},"size":1}}"#);
        serde_json::from_str::<SessionUpdate>(&text)
    };
    assert!(usage("18446744073709551615").is_ok());
    for number in ["18446744073709551616", "-1", "1.5", "1e999", "-1e999"] {
        assert!(usage(number).is_err(), "{number}");
    }
    let call = r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","locations":[{"path":"/","line":1e999}],"rawInput":1e999}"#;
    let SessionUpdate::ToolCall(call) = serde_json::from_str(call).expect("lenient numbers may be anything")
    else {
        panic!("it is a tool call")
    };
    assert_eq!(call.locations.map(|locations| locations[0].line), Some(Maybe::Absent));
    assert_eq!(call.raw_input.get().map(Json::get), Some("1e999"));
}
