//! Any bytes as a line: nothing panics, and what could be read is written and read again as the same value.
#![no_main]

use std::fmt::Debug;

use accord_protocol::{
    rpc::{self, Message},
    v1::{AgentNotification, AgentRequest, ClientNotification, ClientRequest, SessionNotification},
};
use libfuzzer_sys::fuzz_target;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

fuzz_target!(|line: &[u8]| {
    let Ok(message) = rpc::decode(line) else { return };
    match message {
        Message::Request { method, params, .. } => {
            let params = params.raw();
            if let Ok(request) = ClientRequest::decode(&method, params) {
                stable(&request, |written| ClientRequest::decode(&method, Some(written)));
            }
            if let Ok(request) = AgentRequest::decode(&method, params) {
                stable(&request, |written| AgentRequest::decode(&method, Some(written)));
            }
        }
        Message::Notification { method, params } => {
            let params = params.as_deref();
            if let Ok(note) = ClientNotification::decode(&method, params) {
                stable(&note, |written| ClientNotification::decode(&method, Some(written)));
            }
            if let Ok(note) = AgentNotification::decode(&method, params) {
                stable(&note, |written| AgentNotification::decode(&method, Some(written)));
            }
        }
        Message::Update(update) => again::<SessionNotification>(&update),
        Message::Response { outcome: Ok(result), .. } => {
            answers(&result.into_raw());
        }
        _ => {}
    }
});

fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("what was read can be written")
}

/// What was written is read again and written the same. (Absent params of an extension are written as `null`.)
fn stable<T: Serialize>(value: &T, read: impl Fn(&RawValue) -> Result<T, rpc::Error>) {
    let written = raw(value);
    let again = read(&written).expect("what was written can be read");
    assert_eq!(raw(&again).get(), written.get());
}

fn again<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let written = raw(value);
    assert_eq!(&serde_json::from_str::<T>(written.get()).expect("what was written can be read"), value);
}

/// A result may answer any request.
fn answers(result: &RawValue) {
    macro_rules! each {
        ($($name:ident)+) => {$(
            if let Ok(answer) = serde_json::from_str::<accord_protocol::v1::$name>(result.get()) {
                again(&answer);
            }
        )+};
    }
    each! {
        InitializeResponse NewSessionResponse LoadSessionResponse ListSessionsResponse SetSessionConfigOptionResponse
        PromptResponse RequestPermissionResponse CreateElicitationResponse TerminalOutputResponse
    }
}
