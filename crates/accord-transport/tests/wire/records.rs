//! What is recorded and logged, and what must not be.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use accord_transport::{CallError, Options, Tap, TraceContext, pair};
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

use crate::support::{Echo, Raw, Recorder, Told, within};

const SECRET: &str = "sentinel-51c9e7";

/// A buffer that somebody else writes to.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().expect("no panic").clone()).expect("UTF-8")
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Shared {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

// Rule 6
#[tokio::test]
async fn a_tap_records_both_directions_without_secrets() {
    let record = Shared::default();
    let (handle, mut raw) = Raw::connected(Options::client().tap(Tap::new(record.clone())), Echo);
    let params =
        json!({"mcpServers": [{"env": [{"name": "KEY", "value": SECRET}]}], "text": "kept as it is"});
    let answer = async {
        raw.line().await.expect("the request");
        raw.send(format!("{SECRET}\n{{\"jsonrpc\":\"2.0\", \"id\":1,\"result\":{{}}}}\n")).await;
    };
    let (outcome, ()) = within(async { tokio::join!(handle.call_raw("session/new", &params), answer) }).await;
    outcome.expect("answered");
    let text = record.text();
    assert!(!text.contains(SECRET), "{text}");
    let entries: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let directions: Vec<&Value> = entries.iter().map(|entry| &entry["direction"]).collect();
    assert_eq!(directions, ["out", "in", "in"]);
    assert_eq!(entries[0]["frame"]["params"]["text"], "kept as it is");
    assert_eq!(
        entries[0]["frame"]["params"]["mcpServers"][0]["env"][0],
        json!({"name": "KEY", "value": "[redacted]"})
    );
    assert_eq!(entries[1]["malformed"], SECRET.len());
    assert!(text.contains(r#"{"jsonrpc":"2.0", "id":1,"result":{}}"#), "byte for byte: {text}");
    assert!(entries.iter().all(|entry| entry["at"].as_f64().is_some_and(|at| at > 1.7e9)));
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct New {
    #[expect(dead_code, reason = "only its type matters")]
    cwd: u64,
}

// T15
#[tokio::test]
async fn secrets_are_in_no_log_and_no_error() {
    let log = Shared::default();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let (recorder, mut told) = Recorder::new();
    let (handle, mut raw) = Raw::connected(Options::agent(), recorder);
    let secrets = json!({
        "env": [{"name": "KEY", "value": SECRET}], "headers": {"Authorization": SECRET}, "cwd": SECRET, SECRET: 1
    });
    for line in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": secrets}).to_string(),
        json!({"jsonrpc": "2.0", "id": 1, "method": "session/new", "params": secrets}).to_string(),
        json!({"jsonrpc": "1.0", "id": 2, "method": "session/new", "params": secrets}).to_string(),
        json!({"jsonrpc": "2.0", "method": "session/update", "params": secrets}).to_string(),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": SECRET, "data": secrets}})
            .to_string(),
        json!({"jsonrpc": "2.0", "id": 77, "result": secrets}).to_string(),
        SECRET.to_owned(),
        format!("{{\"env\":\"{SECRET}"),
    ] {
        raw.send(line + "\n").await;
    }
    match within(told.recv()).await {
        Some(Told::Call(mut call)) => {
            let error = call.params::<New>().expect_err("the cwd is no number");
            assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
            call.answer(Err::<(), _>(error));
        }
        other => panic!("a call was expected, not {other:?}"),
    }
    // An answer that does not fit: the error says where, not what.
    let answer = async {
        loop {
            let line = raw.line().await.expect("the connection lives");
            if line["method"] == "_ask" {
                let id = &line["id"];
                raw.send_json(json!({"jsonrpc": "2.0", "id": id, "result": {"cwd": SECRET}})).await;
                break;
            }
            assert!(!line.to_string().contains(SECRET), "{line}");
        }
    };
    let (outcome, ()) = within(async { tokio::join!(handle.call_raw("_ask", &secrets), answer) }).await;
    assert!(outcome.expect("answered").get().contains(SECRET), "what was asked for is given");
    let text = log.text();
    assert!(text.contains("session/new") && text.contains("_ask"), "methods are logged: {text}");
    assert!(!text.contains(SECRET), "{text}");
}

#[tokio::test]
async fn a_trace_goes_along_in_meta() {
    let (recorder, mut told) = Recorder::new();
    let options = Options::client().trace_context(|| Some(TraceContext::new("00-aa-bb-01")));
    let (_agent, client) = pair((Options::agent(), recorder), (options, Echo));
    for (params, expected) in [
        (json!({"a": 1}), json!({"a": 1, "_meta": {"traceparent": "00-aa-bb-01"}})),
        (json!({"_meta": null}), json!({"_meta": {"traceparent": "00-aa-bb-01"}})),
        (
            json!({"_meta": {"traceparent": "mine", "b": 2}}),
            json!({"_meta": {"traceparent": "mine", "b": 2}}),
        ),
        (json!([1]), json!([1])),
    ] {
        let served = async {
            match told.recv().await {
                Some(Told::Call(call)) => {
                    let raw = call.raw_params().map(ToOwned::to_owned);
                    let context = call.trace_context().map(|context| context.traceparent);
                    call.answer(Ok(()));
                    (raw.map(|raw| serde_json::from_str::<Value>(raw.get()).expect("JSON")), context)
                }
                other => panic!("a call was expected, not {other:?}"),
            }
        };
        let (outcome, (came, context)) =
            within(async { tokio::join!(client.call_raw("_x", &params), served) }).await;
        outcome.expect("answered");
        assert_eq!(context.as_deref(), expected["_meta"]["traceparent"].as_str());
        assert_eq!(came, Some(expected));
    }
}

// Whose fault it was
#[tokio::test]
async fn a_misfit_answer_names_method_and_place() {
    use accord_protocol::v1::NewSessionRequest;
    let (_agent, client) = pair((Options::agent(), Echo), (Options::client(), Echo));
    let error = client.call(&NewSessionRequest::new("/", [])).await.expect_err("an echo is no session");
    assert!(matches!(&error, CallError::Undecodable { method, misfit }
        if method == "session/new" && misfit.path == "sessionId"));
    assert_eq!(
        error.to_string(),
        "the answer to session/new is not of its type: sessionId: expected a value"
    );
}
