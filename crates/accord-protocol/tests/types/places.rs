//! What is not right is named by its place, however the object around it had to be read.

use accord_protocol::{
    rpc,
    v1::{
        AgentRequest, ClientRequest, NewSessionRequest, PromptRequest, ResumeSessionRequest,
        SessionConfigOption, SetSessionConfigOptionRequest,
    },
};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

fn misfit<T: DeserializeOwned + std::fmt::Debug>(text: &str) -> String {
    rpc::typed::<T>(text).expect_err("it does not fit").to_string()
}

// ACPX-RPC-013, B154, T15
#[test]
fn a_tag_may_stand_anywhere() {
    for text in [
        r#"{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"type":"text","text":7}]}"#,
        r#"{"sessionId":"s","prompt":[{"type":"text","text":"a"},{"text":7,"type":"text"}]}"#,
    ] {
        assert_eq!(misfit::<PromptRequest>(text), "prompt[1].text: expected a string");
    }
    let text = r#"{"sessionId":"s","prompt":[{"resource":{"uri":"u"},"type":"resource"}]}"#;
    assert_eq!(misfit::<PromptRequest>(text), "prompt[0].resource.text: expected a value");
    assert_eq!(
        misfit::<PromptRequest>(r#"{"sessionId":"s","prompt":[{"text":"a"}]}"#),
        "prompt[0].type: expected a value"
    );
    assert_eq!(
        misfit::<PromptRequest>(r#"{"sessionId":"s","prompt":[{"type":4}]}"#),
        "prompt[0].type: expected a string"
    );
    assert_eq!(
        misfit::<PromptRequest>(r#"{"sessionId":"s","prompt":[{"text":"a","type":4}]}"#),
        "prompt[0].type: expected a string"
    );
    assert_eq!(
        misfit::<PromptRequest>(r#"{"sessionId":"s","prompt":["a"]}"#),
        "prompt[0]: expected an object"
    );
}

#[test]
fn strict_lists_name_their_items() {
    let new =
        |server: &str| misfit::<NewSessionRequest>(&format!(r#"{{"cwd":"/","mcpServers":[{server}]}}"#));
    assert_eq!(
        new(r#"{"name":"n","command":"c","args":"s3cret","env":[]}"#),
        "mcpServers[0].args: expected an array"
    );
    assert_eq!(
        new(r#"{"name":"n","command":"c","args":[],"env":[{"name":"K","value":5}]}"#),
        "mcpServers[0].env[0].value: expected a string"
    );
    assert_eq!(new(r#"{"type":"http","name":"n","url":"u"}"#), "mcpServers[0].headers: expected a value");
    assert_eq!(
        misfit::<ResumeSessionRequest>(r#"{"sessionId":"s","cwd":"/","additionalDirectories":[3]}"#),
        "additionalDirectories[0]: expected a string"
    );
}

#[test]
fn unions_inside_their_object_name_their_members() {
    let option = r#"{"id":"m","name":"M","type":"select","currentValue":"a","options":[{"value":"a"}]}"#;
    assert_eq!(misfit::<SessionConfigOption>(option), "options[0].name: expected a value");
    let set = r#"{"sessionId":"s","configId":"c","type":"boolean","value":"on"}"#;
    assert_eq!(misfit::<SetSessionConfigOptionRequest>(set), "value: expected a boolean");
    let set = r#"{"sessionId":"s","configId":"c"}"#;
    assert_eq!(misfit::<SetSessionConfigOptionRequest>(set), "value: expected a value");
    let raw = |text: &str| RawValue::from_string(text.to_owned()).expect("JSON");
    let ask = raw(
        r#"{"message":"m","mode":"form","sessionId":"s","requestedSchema":{"properties":{"a":{"type":"string","minLength":-1}}}}"#,
    );
    let error = AgentRequest::decode("elicitation/create", Some(&ask)).expect_err("it does not fit");
    let data: serde_json::Value = serde_json::from_str(error.data.expect("data").get()).expect("JSON");
    assert_eq!(data["path"], "requestedSchema.properties.a.minLength");
    assert_eq!(data["expected"], "an integer");
}

#[test]
fn absent_params_are_an_empty_object() {
    let list = ClientRequest::decode("session/list", None).expect("nothing is required");
    assert!(matches!(list, ClientRequest::ListSessions(_)));
    let null = RawValue::from_string("null".to_owned()).expect("JSON");
    assert_eq!(ClientRequest::decode("session/list", Some(&null)).expect("nothing is required"), list);
    assert!(ClientRequest::decode("session/new", Some(&null)).is_err());
    let ext = ClientRequest::decode("_mine/do", Some(&null)).expect("any method");
    assert_eq!(
        (ext.method(), serde_json::to_string(&ext).expect("it writes")),
        ("_mine/do", "null".to_owned())
    );
}
