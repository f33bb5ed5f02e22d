//! The MCP server that agents mount, spoken to in raw lines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_accord-mcp-server"))
            .args(args)
            .env("ACCORD_TEST_MARK", "seen")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server is built with its tests");
        let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let input = child.stdin.take();
        Self { child, input, output }
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("stdin is open");
        writeln!(input, "{message}").expect("the server reads");
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the server answers");
        serde_json::from_str(&line).expect("JSON")
    }

    fn introduce(&mut self) {
        let me = json!({"name": "test", "version": "0"});
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me});
        let answer = self.ask(0, "initialize", &params);
        assert_eq!(answer["result"]["serverInfo"]["name"], "accord-mcp-server", "{answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn call(&mut self, id: u64, tool: &str, arguments: &Value) -> (bool, String) {
        let answer = self.ask(id, "tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().expect("a text block");
        (result["isError"] == json!(true), text.to_owned())
    }

    fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().expect("the server ends with its stdin").code()
    }
}

#[test]
fn tools_answer_and_the_trace_tells_what_happened() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.jsonl");
    let mut server = Server::start(&["--trace", trace.to_str().unwrap(), "odd argument"]);
    server.introduce();
    let tools = server.ask(1, "tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"].as_array().map(Vec::len), Some(6), "{tools}");
    assert_eq!(server.call(2, "echo", &json!({"text": "hé"})), (false, "hé".into()));
    assert_eq!(server.call(3, "add", &json!({"a": 40, "b": 2})), (false, "42".into()));
    assert_eq!(server.call(4, "env", &json!({"name": "ACCORD_TEST_MARK"})), (false, "seen".into()));
    assert_eq!(server.call(5, "fail", &json!({"message": "no"})), (true, "no".into()));
    assert_eq!(server.call(6, "add", &json!({"a": "x"})), (true, "a must be an integer".into()));
    assert_eq!(server.end(), Some(0));

    let text = std::fs::read_to_string(&trace).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["args"][3], "odd argument");
    assert_eq!(lines[0]["env"]["ACCORD_TEST_MARK"], "seen");
    let events: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(events[..4], ["start", "initialize", "list tools", "call"]);
    assert_eq!(events[events.len() - 2..], ["stdin ended", "end"]);
}

#[test]
fn it_misbehaves_on_demand() {
    assert_eq!(Server::start(&["--crash"]).end(), Some(3));
    let mut mute = Server::start(&["--mute"]);
    mute.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize"}));
    drop(mute.input.take());
    let mut said = String::new();
    mute.output.read_line(&mut said).expect("stdout ends");
    assert_eq!(said, "");
    assert_eq!(mute.end(), Some(0));
}
