//! Prints the JSON Schema of every type, with the marks of leniency, in the layout of the official schema file.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use accord_protocol::v1::{
    AgentNotification, AgentRequest, CancelNotification, CancelRequestNotification, ClientNotification,
    ClientRequest, CompleteElicitationNotification, Error, ExtNotification, ExtRequest, ExtResponse,
    RequestId, SessionNotification,
};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

fn main() {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut definitions = messages(&mut generator);
    for (name, schema) in generator.take_definitions(true) {
        definitions.insert(name, schema);
    }
    for (side, method, name) in sides() {
        let definition = &mut definitions[name];
        definition["x-side"] = side.into();
        definition["x-method"] = method.into();
    }
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Agent Client Protocol",
        "$defs": definitions,
    });
    println!("{schema:#}");
}

/// Which side serves a method, its name, and a type that belongs to it.
fn sides() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut sides = Vec::new();
    for (side, methods) in [("agent", ClientRequest::METHODS), ("client", AgentRequest::METHODS)] {
        for (method, params, answer) in methods {
            sides.extend([(side, *method, *params), (side, *method, *answer)]);
        }
    }
    for (side, methods) in [("agent", ClientNotification::METHODS), ("client", AgentNotification::METHODS)] {
        for (method, params) in methods {
            sides.push((if method.starts_with("$/") { "protocol" } else { side }, *method, *params));
        }
    }
    sides
}

/// The messages around params and answers. Each type is named once here, so that its definition is made.
fn messages(generator: &mut SchemaGenerator) -> Map<String, Value> {
    let (client, client_answers) = client_calls(generator);
    let (agent, agent_answers) = agent_calls(generator);
    let client_notes = refs(generator, &[reference::<CancelNotification>, reference::<ExtNotification>]);
    let agent_notes = refs(
        generator,
        &[
            reference::<SessionNotification>,
            reference::<CompleteElicitationNotification>,
            reference::<ExtNotification>,
        ],
    );
    reference::<CancelRequestNotification>(generator);
    let mut messages = Map::new();
    messages.insert("ClientRequest".into(), request(generator, &client));
    messages.insert("AgentRequest".into(), request(generator, &agent));
    messages.insert("AgentResponse".into(), response(generator, &client_answers));
    messages.insert("ClientResponse".into(), response(generator, &agent_answers));
    messages.insert("ClientNotification".into(), notification(&client_notes));
    messages.insert("AgentNotification".into(), notification(&agent_notes));
    messages
}

type Reference = fn(&mut SchemaGenerator) -> Value;

fn reference<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().into()
}

fn refs(generator: &mut SchemaGenerator, types: &[Reference]) -> Vec<Value> {
    types.iter().map(|reference| reference(generator)).collect()
}

macro_rules! calls {
    ($name:ident: $($params:ident => $answer:ident,)+) => {
        fn $name(generator: &mut SchemaGenerator) -> (Vec<Value>, Vec<Value>) {
            (
                refs(generator, &[$(reference::<accord_protocol::v1::$params>,)+ reference::<ExtRequest>]),
                refs(generator, &[$(reference::<accord_protocol::v1::$answer>,)+ reference::<ExtResponse>]),
            )
        }
    };
}

calls! { client_calls:
    InitializeRequest => InitializeResponse,
    AuthenticateRequest => AuthenticateResponse,
    LogoutRequest => LogoutResponse,
    NewSessionRequest => NewSessionResponse,
    LoadSessionRequest => LoadSessionResponse,
    ResumeSessionRequest => ResumeSessionResponse,
    ListSessionsRequest => ListSessionsResponse,
    CloseSessionRequest => CloseSessionResponse,
    DeleteSessionRequest => DeleteSessionResponse,
    SetSessionModeRequest => SetSessionModeResponse,
    SetSessionConfigOptionRequest => SetSessionConfigOptionResponse,
    PromptRequest => PromptResponse,
}

calls! { agent_calls:
    RequestPermissionRequest => RequestPermissionResponse,
    ReadTextFileRequest => ReadTextFileResponse,
    WriteTextFileRequest => WriteTextFileResponse,
    CreateTerminalRequest => CreateTerminalResponse,
    TerminalOutputRequest => TerminalOutputResponse,
    WaitForTerminalExitRequest => WaitForTerminalExitResponse,
    KillTerminalRequest => KillTerminalResponse,
    ReleaseTerminalRequest => ReleaseTerminalResponse,
    CreateElicitationRequest => CreateElicitationResponse,
}

fn request(generator: &mut SchemaGenerator, params: &[Value]) -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": reference::<RequestId>(generator),
            "method": { "type": "string" },
            "params": { "anyOf": [{ "anyOf": params }, { "type": "null" }] },
        },
        "required": ["id", "method"],
    })
}

fn response(generator: &mut SchemaGenerator, answers: &[Value]) -> Value {
    json!({
        "anyOf": [
            {
                "title": "Result", "type": "object",
                "properties": { "id": reference::<RequestId>(generator), "result": { "anyOf": answers } },
                "required": ["id", "result"],
            },
            {
                "title": "Error", "type": "object",
                "properties": { "id": reference::<RequestId>(generator), "error": reference::<Error>(generator) },
                "required": ["id", "error"],
            },
        ],
    })
}

fn notification(params: &[Value]) -> Value {
    json!({
        "type": "object",
        "properties": {
            "method": { "type": "string" },
            "params": { "anyOf": [{ "anyOf": params }, { "type": "null" }] },
        },
        "required": ["method"],
    })
}
