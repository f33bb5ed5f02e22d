//! What a newer peer sends is kept and written back; leniency is where the schema marks it, and nowhere else.

use accord_protocol::{
    open::{Json, Maybe, Meta},
    v1::{
        AgentCapabilities, ContentBlock, ContentChunk, CreateElicitationRequest, ElicitationMode, McpServer,
        NewSessionRequest, PermissionOption, PermissionOptionKind, PromptRequest, SessionConfigKind,
        SessionConfigOption, SessionNotification, SessionUpdate, SetSessionConfigOptionRequest, StopReason,
        ToolCall, ToolKind,
    },
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// Reads `value` as a `T` from text and from a `Value`, and checks that both write it back.
fn same<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &Value) -> T {
    let typed: T = serde_json::from_str(&value.to_string()).expect("decodes from text");
    let again: T = serde_json::from_value(value.clone()).expect("decodes from a Value");
    assert_eq!(typed, again);
    assert_eq!(serde_json::to_value(&typed).expect("encodes"), *value);
    let text = serde_json::to_string(&typed).expect("encodes");
    assert_eq!(serde_json::from_str::<Value>(&text).expect("is JSON"), *value);
    typed
}

// X2, T13
#[test]
fn unknown_variants_are_kept_wherever_the_tag_stands() {
    for text in [
        r#"{"sessionId":"s","update":{"sessionUpdate":"new_thing","n":1.50,"deep":{"a":[null]}}}"#,
        r#"{"sessionId":"s","update":{"n":1.50,"sessionUpdate":"new_thing","deep":{"a":[null]}}}"#,
    ] {
        let note: SessionNotification = serde_json::from_str(text).expect("decodes");
        let SessionUpdate::Unknown(unknown) = &note.update else { panic!("{note:?}") };
        assert_eq!(&*unknown.tag, "new_thing");
        assert_eq!(serde_json::to_string(&note).expect("encodes"), text, "byte for byte");
    }
    let reason: StopReason = same(&json!("tired"));
    assert_eq!(reason, StopReason::Unknown("tired".into()));
    let block: ContentBlock = same(&json!({"type": "video", "data": "AA=="}));
    assert!(matches!(block, ContentBlock::Unknown(_)));
    let option: PermissionOption =
        same(&json!({"optionId": "d", "name": "Today", "kind": "allow_for_a_day"}));
    assert_eq!(option.kind, PermissionOptionKind::Unknown("allow_for_a_day".into()));
}

/// Unknown members are in the line's bytes, not in the types; they are in nobody's way.
// T13
#[test]
fn unknown_capabilities_leave_the_known_ones_as_they_are() {
    let known = json!({"loadSession": true, "promptCapabilities": {"image": true}});
    let mut newer = known.clone();
    newer["telepathy"] = json!({"range": [1, {"unit": "m"}]});
    newer["promptCapabilities"]["smell"] = json!(true);
    let read: AgentCapabilities = serde_json::from_value(newer).expect("it reads");
    assert_eq!(read, same::<AgentCapabilities>(&known));
}

#[test]
fn a_late_tag_makes_no_difference() {
    let early: ContentBlock = serde_json::from_str(r#"{"type":"text","text":"hi"}"#).expect("decodes");
    let late: ContentBlock = serde_json::from_str(r#"{"text":"hi","type":"text"}"#).expect("decodes");
    assert_eq!(early, late);
    assert_eq!(early, ContentBlock::text("hi"));
}

#[test]
fn a_union_inside_its_object_round_trips() {
    let option: SessionConfigOption = same(&json!({
        "id": "model", "name": "Model", "type": "select", "currentValue": "a", "category": "model", "_meta": null,
        "options": [{"group": "p", "name": "P", "options": [{"value": "a", "name": "A"}]}],
    }));
    assert!(matches!(&option.kind, SessionConfigKind::Select(select) if select.options.iter().count() == 1));
    assert_eq!(option.meta, Maybe::Null);
    same::<SessionConfigOption>(
        &json!({"id": "x", "name": "X", "type": "slider", "currentValue": 3, "max": 9}),
    );
    same::<SetSessionConfigOptionRequest>(&json!({"sessionId": "s", "configId": "c", "value": "v"}));
    same::<SetSessionConfigOptionRequest>(
        &json!({"sessionId": "s", "configId": "c", "type": "boolean", "value": true}),
    );
    let ask: CreateElicitationRequest = same(&json!({
        "message": "Name?", "mode": "form", "sessionId": "s", "toolCallId": null,
        "requestedSchema": {"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]},
    }));
    assert!(matches!(ask.mode, ElicitationMode::Form(_)));
    same::<CreateElicitationRequest>(&json!({"message": "m", "mode": "telepathy", "requestId": 3, "x": 1}));
}

#[test]
fn a_server_without_a_type_is_a_command() {
    let server: McpServer = same(&json!({"name": "n", "command": "c", "args": [], "env": []}));
    assert!(matches!(server, McpServer::Stdio(_)));
    let server: McpServer = serde_json::from_value(
        json!({"type": "stdio", "name": "n", "command": "c", "args": [], "env": null}),
    )
    .expect("decodes");
    assert!(matches!(server, McpServer::Stdio(_)));
    same::<McpServer>(&json!({"type": "carrier-pigeon", "name": "n"}));
}

#[test]
fn strict_fields_fail_and_lenient_ones_do_not() {
    let bad = json!({"cwd": "/w", "mcpServers": [{"name": "n"}]});
    assert!(serde_json::from_value::<NewSessionRequest>(bad).is_err());
    let bad = json!({"sessionId": "s", "prompt": [{"type": "text"}]});
    assert!(serde_json::from_value::<PromptRequest>(bad).is_err());
    assert!(serde_json::from_value::<NewSessionRequest>(json!({"cwd": "/w"})).is_err());
    let none: NewSessionRequest =
        serde_json::from_value(json!({"cwd": "/w", "mcpServers": null})).expect("null is no servers");
    assert!(none.mcp_servers.is_empty());

    let call: ToolCall = serde_json::from_value(json!({
        "toolCallId": "t", "title": "T", "kind": 7, "status": {}, "name": [1], "_meta": 3, "rawInput": null,
        "locations": "here", "content": [{"type": "diff"}, {"type": "terminal", "terminalId": "x"}],
    }))
    .expect("decodes");
    assert_eq!((call.kind, call.status, call.name), (None, None, Maybe::Absent));
    assert_eq!((call.meta, call.raw_input, call.locations), (Maybe::Absent, Maybe::Null, None));
    assert_eq!(call.content.map(|content| content.len()), Some(1));
    let call: ToolCall =
        serde_json::from_value(json!({"toolCallId": "t", "title": "T", "kind": "dream"})).expect("decodes");
    assert_eq!(call.kind, Some(ToolKind::Unknown("dream".into())));
}

#[test]
fn meta_keeps_its_text_and_gives_its_members() {
    let meta = Meta::new().with("traceparent", json!("00-abc-def-01")).with("my.key", json!([1]));
    assert_eq!(meta.traceparent().as_deref(), Some("00-abc-def-01"));
    assert_eq!(meta.get("my.key"), Some(Json::from(json!([1]))));
    assert_eq!(meta.get("other"), None);
    let traced = Meta::new().with_traceparent("00-1-2-01").with_tracestate("a=b").with_baggage("c=d");
    let trace = [traced.traceparent(), traced.tracestate(), traced.baggage()];
    assert_eq!(trace.map(Option::unwrap_or_default), ["00-1-2-01", "a=b", "c=d"]);
    assert_eq!(traced.with_traceparent("00-3-4-01").traceparent().as_deref(), Some("00-3-4-01"));
    assert_eq!(meta.json().get(), r#"{"traceparent":"00-abc-def-01","my.key":[1]}"#);
}

#[test]
fn building_is_short() {
    let call =
        ToolCall::new("t1", "Write").kind(ToolKind::Edit).content(vec![ContentBlock::text("x").into()]);
    assert_eq!(
        serde_json::to_value(SessionUpdate::from(call)).expect("encodes"),
        json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Write", "kind": "edit",
               "content": [{"type": "content", "content": {"type": "text", "text": "x"}}]}),
    );
}

/// An update is moved from the wire to its consumer several times over.
#[test]
fn updates_are_small() {
    let sizes = (size_of::<ContentBlock>(), size_of::<ContentChunk>(), size_of::<SessionUpdate>());
    assert_eq!(sizes, (176, 224, 240));
}
