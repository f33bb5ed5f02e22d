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
            let params = params.as_deref();
            if let Ok(request) = ClientRequest::decode(&method, params) {
                let written = raw(&request);
                assert_eq!(ClientRequest::decode(&method, Some(&written)).as_ref(), Ok(&request));
            }
            if let Ok(request) = AgentRequest::decode(&method, params) {
                let written = raw(&request);
                assert_eq!(AgentRequest::decode(&method, Some(&written)).as_ref(), Ok(&request));
            }
        }
        Message::Notification { method, params } => {
            let params = params.as_deref();
            if let Ok(note) = ClientNotification::decode(&method, params) {
                let written = raw(&note);
                assert_eq!(ClientNotification::decode(&method, Some(&written)).as_ref(), Ok(&note));
            }
            if let Ok(note) = AgentNotification::decode(&method, params) {
                let written = raw(&note);
                assert_eq!(AgentNotification::decode(&method, Some(&written)).as_ref(), Ok(&note));
            }
        }
        Message::Update(update) => again::<SessionNotification>(&update),
        Message::Response { outcome: Ok(result), .. } => {
            answers(&result);
        }
        _ => {}
    }
});

fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("what was read can be written")
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
