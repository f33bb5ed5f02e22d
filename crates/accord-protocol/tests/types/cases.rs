//! Frames that were reported from the field, and the limits of what JSON can hold.

use std::{fs, path::Path};

use accord_protocol::{
    open::{Json, Maybe},
    rpc::{self, Message},
    v1::{
        AgentRequest, AuthMethod, ClientRequest, InitializeResponse, LoadSessionResponse, McpServer,
        NewSessionRequest, RequestPermissionRequest, SessionConfigKind, SessionConfigSelectOptions,
        SessionNotification, SessionUpdate,
    },
};
use serde_json::{Value, json};

// B124
#[test]
fn a_grouped_select_reads_and_is_written_back() {
    let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": { "sessionId": "sess_1", "update": {
        "sessionUpdate": "config_option_update",
        "configOptions": [{
            "id": "model", "name": "Model", "type": "select", "currentValue": "b",
            "options": [{ "group": "g1", "name": "Group 1", "options": [
                { "value": "a", "name": "A" }, { "value": "b", "name": "B" },
            ] }],
        }],
    } } });
    let Ok(Message::Update(note)) = rpc::decode(line.to_string().as_bytes()) else {
        panic!("it is an update")
    };
    let SessionUpdate::ConfigOptionUpdate(update) = &note.update else { panic!("{note:?}") };
    let [option] = &*update.config_options else { panic!("{update:?}") };
    let SessionConfigKind::Select(select) = &option.kind else { panic!("{option:?}") };
    let SessionConfigSelectOptions::Grouped(groups) = &select.options else { panic!("{select:?}") };
    let [group] = &**groups else { panic!("{groups:?}") };
    assert_eq!((group.group.as_str(), group.options.len()), ("g1", 2));
    assert_eq!(serde_json::to_value(&note).expect("it writes"), line["params"]);
}

// B131
#[test]
fn a_server_that_is_a_command_reads_with_and_without_its_type() {
    let new = |server: Value| {
        let params = json!({ "cwd": "/workspace/proj", "mcpServers": [server] });
        rpc::typed::<NewSessionRequest>(&params.to_string()).map(|new| new.mcp_servers)
    };
    for server in [
        json!({ "name": "fs", "command": "/bin/mcp", "args": null, "env": null }),
        json!({ "type": "stdio", "name": "fs", "command": "/bin/mcp", "args": [], "env": [] }),
    ] {
        let servers = new(server).expect("it reads");
        let [McpServer::Stdio(stdio)] = &*servers else { panic!("{servers:?}") };
        assert_eq!((&*stdio.name, stdio.args.len(), stdio.env.len()), ("fs", 0, 0));
    }
    let without = new(json!({ "name": "fs", "command": "/bin/mcp" })).expect_err("it has no arguments");
    assert_eq!(without.to_string(), "mcpServers[0].args: expected a value");
}

// B133
#[test]
fn headers_of_one_name_keep_their_order() {
    let new = |headers: Value| {
        let server =
            json!({ "type": "http", "name": "api", "url": "http://127.0.0.1:9/mcp", "headers": headers });
        let params = json!({ "cwd": "/workspace/proj", "mcpServers": [server] });
        let new: NewSessionRequest = rpc::typed(&params.to_string()).expect("it reads");
        assert_eq!(serde_json::to_value(&new).expect("it writes"), params);
        new.mcp_servers
    };
    assert!(matches!(&*new(json!([])), [McpServer::Http(http)] if http.headers.is_empty()));
    let twice = json!([{ "name": "X-A", "value": "1" }, { "name": "X-A", "value": "2" }]);
    assert!(matches!(&*new(twice), [McpServer::Http(http)] if http.headers.len() == 2));
}

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
        println!("skipped: there are no cases from the field here");
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
                    let client = ClientRequest::decode(&method, params.raw());
                    let agent = AgentRequest::decode(&method, params.raw());
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
