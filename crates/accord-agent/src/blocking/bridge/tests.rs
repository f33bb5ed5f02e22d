//! What callbacks come to on the wire, without a wire.

use serde_json::json;

use super::*;
use crate::blocking::tools::{Limits, ToolTable};

fn bridge() -> Bridge {
    Bridge::new(Renderer { table: ToolTable::standard(), limits: Limits::default(), cwd: "/w".into() })
}

fn wire(updates: impl IntoIterator<Item = SessionUpdate>) -> Vec<Value> {
    updates.into_iter().map(|update| serde_json::to_value(update).expect("JSON")).collect()
}

fn one(updates: impl IntoIterator<Item = SessionUpdate>) -> Value {
    let mut all = wire(updates);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn started(bridge: &mut Bridge, name: &str, arguments: &Value) -> String {
    let call = one([bridge.tool_started(name, arguments)]);
    assert_eq!(call["sessionUpdate"], "tool_call");
    call["toolCallId"].as_str().expect("an id").to_owned()
}

fn finished(bridge: &mut Bridge, name: &str, result: &str) -> String {
    let update = one(bridge.tool_finished(name, &ToolResult::ok(result)));
    assert_eq!(
        (update["sessionUpdate"].as_str(), update["status"].as_str()),
        (Some("tool_call_update"), Some("completed"))
    );
    assert_eq!(update["rawOutput"], result);
    update["toolCallId"].as_str().expect("an id").to_owned()
}

// H5
#[test]
fn ends_belong_to_the_oldest_open_call_of_their_name() {
    let mut bridge = bridge();
    let mut of_read = Vec::new();
    let mut of_search = Vec::new();
    for number in 0..50 {
        of_read.push(started(&mut bridge, "read_file", &json!({ "path": format!("f{number}") })));
        if number % 3 == 0 {
            of_search.push(started(&mut bridge, "search", &json!({ "pattern": number })));
        }
        if number % 2 == 1 {
            assert_eq!(finished(&mut bridge, "read_file", "x"), of_read.remove(0));
        }
        if number % 5 == 4 {
            assert_eq!(finished(&mut bridge, "search", "x"), of_search.remove(0));
        }
    }
    while !of_read.is_empty() {
        assert_eq!(finished(&mut bridge, "read_file", "x"), of_read.remove(0));
    }
    let left = wire(bridge.end(None, "over"));
    let ids: Vec<_> = left.iter().map(|update| update["toolCallId"].as_str().expect("an id")).collect();
    assert_eq!(ids, of_search, "what is left open ends as failed, oldest first");
    assert!(left.iter().all(|update| update["status"] == "failed"));
}

// H5
#[test]
fn a_step_ends_what_no_callback_has_ended() {
    let mut bridge = bridge();
    let first = started(&mut bridge, "read_file", &json!({ "path": "a" }));
    let second = started(&mut bridge, "read_file", &json!({ "path": "b" }));
    assert_eq!(finished(&mut bridge, "read_file", "1"), first);
    let step = Step::new()
        .tool("read_file", json!({ "path": "a" }), "1")
        .tool("read_file", json!({ "path": "b" }), "2")
        .tool("grep", json!({ "pattern": "x" }), "3");
    let updates = wire(bridge.step(&step));
    let told: Vec<_> = updates
        .iter()
        .map(|update| (update["sessionUpdate"].as_str().expect("a kind"), update["rawOutput"].as_str()))
        .collect();
    assert_eq!(told, [("tool_call_update", Some("2")), ("tool_call", None), ("tool_call_update", Some("3"))]);
    assert_eq!(updates[0]["toolCallId"], second);
    assert_eq!(
        updates[1]["title"], "Search x",
        "one that was never announced is announced with its arguments"
    );
    assert_eq!(updates[1]["toolCallId"], updates[2]["toolCallId"]);

    started(&mut bridge, "read_file", &json!({ "path": "c" }));
    let next = Step::new().tool("read_file", json!({ "path": "c" }), "4");
    assert_eq!(wire(bridge.step(&next)).len(), 1, "each step counts for itself");
}

// H5
#[test]
fn reasoning_reaches_the_wire_once() {
    let text = |update: &Value| {
        assert_eq!(update["sessionUpdate"], "agent_thought_chunk");
        update["content"]["text"].as_str().expect("text").to_owned()
    };
    let mut bridge = bridge();
    assert_eq!(text(&one(bridge.thinking("Let me "))), "Let me ");
    assert_eq!(text(&one(bridge.thinking("see"))), "see");
    assert!(bridge.step(&Step::new().reasoning("Let me see")).is_empty(), "all of it was streamed");
    assert_eq!(text(&one(bridge.step(&Step::new().reasoning("Hm")))), "Hm", "none of it was");
    assert!(bridge.thinking("Hm").is_none(), "the callback brings what the step has brought");
    assert_eq!(text(&one(bridge.thinking("Hm"))), "Hm", "thinking the same again is a thought");
    bridge.thinking("And");
    assert_eq!(text(&one(bridge.step(&Step::new().reasoning("HmAnd so")))), " so", "a part of it was");
    assert!(bridge.thinking("").is_none());
}

// H8
#[test]
fn the_final_text_is_sent_only_if_nothing_was_streamed() {
    let mut silent = bridge();
    silent.thinking("hm");
    assert_eq!(one(silent.end(Some("done"), ""))["content"]["text"], "done");
    assert!(silent.is_over() && silent.end(Some("again"), "").is_empty());

    let mut streaming = bridge();
    streaming.text("do");
    streaming.text("ne");
    assert!(streaming.end(Some("done"), "").is_empty());
}

// H6, D13
#[test]
fn a_call_waits_for_its_approval_as_pending() {
    let mut bridge = bridge();
    let arguments = json!({ "command": "rm x" });
    let request = ApprovalRequest::new("shell", arguments.clone()).reason("removes a file");
    let id = started(&mut bridge, "shell", &arguments);
    let question = bridge.ask(&request);
    assert!(question.before.is_none(), "it was announced, as pending");
    let shown = serde_json::to_value(&question.call).expect("JSON");
    assert_eq!((shown["toolCallId"].as_str(), shown["title"].as_str()), (Some(&*id), Some("Run rm x")));
    assert_eq!(shown["content"][0]["content"]["text"], "removes a file");
    assert_eq!(shown["content"][1]["content"]["text"], "```console\n$ rm x\n```");
    assert!(bridge.answered(&id.as_str().into(), false).is_none(), "a refused call does not run");
    assert_eq!(one(bridge.answered(&id.as_str().into(), true))["status"], "in_progress");
}

// H6
#[test]
fn an_approval_before_the_call_announces_it() {
    let mut bridge = bridge();
    let arguments = json!({ "command": "make" });
    let request = ApprovalRequest::new("shell", arguments.clone());
    let question = bridge.ask(&request);
    let announced = one(question.before);
    assert_eq!(
        (announced["sessionUpdate"].as_str(), announced["status"].as_str()),
        (Some("tool_call"), Some("pending"))
    );
    assert!(bridge.answered(&question.call.tool_call_id, true).is_none(), "it runs when the tool begins");
    let begun = one([bridge.tool_started("shell", &arguments)]);
    assert_eq!(
        (begun["sessionUpdate"].as_str(), begun["status"].as_str()),
        (Some("tool_call_update"), Some("in_progress"))
    );
    assert_eq!(begun["toolCallId"], announced["toolCallId"]);
    assert_eq!(finished(&mut bridge, "shell", "ok"), announced["toolCallId"].as_str().expect("an id"));
}

// H6
#[test]
fn two_approvals_of_one_name_go_to_the_calls_they_are_about() {
    let mut bridge = bridge();
    let call = |number: u32| json!({ "command": format!("rm {number}") });
    let first = started(&mut bridge, "shell", &call(1));
    let second = started(&mut bridge, "shell", &call(2));
    let about = |bridge: &mut Bridge, number| {
        bridge.ask(&ApprovalRequest::new("shell", call(number))).call.tool_call_id.to_string()
    };
    assert_eq!(about(&mut bridge, 2), second);
    assert_eq!(about(&mut bridge, 1), first);

    let reading = started(&mut bridge, "read_file", &json!({ "path": "secret" }));
    let question = bridge.ask(&ApprovalRequest::new("read_file", json!({ "path": "secret" })));
    let back = one(question.before);
    assert_eq!((back["toolCallId"].as_str(), back["status"].as_str()), (Some(&*reading), Some("pending")));
}

// H5
#[test]
fn a_todo_tool_sets_the_plan() {
    let mut bridge = bridge();
    let list = json!({ "todos": [{ "content": "look", "status": "in_progress" }] });
    started(&mut bridge, "todo", &list);
    let updates = wire(bridge.tool_finished("todo", &ToolResult::ok("noted")));
    assert_eq!(updates[1]["sessionUpdate"], "plan");
    assert_eq!(updates[1]["entries"][0]["content"], "look");
    started(&mut bridge, "todo", &json!({ "todos": [] }));
    assert_eq!(
        wire(bridge.tool_finished("todo", &ToolResult::failed("no"))).len(),
        1,
        "a failure sets nothing"
    );
}

#[test]
fn progress_shows_the_latest_and_makes_a_call_run() {
    let limits = Limits::default().progress(8);
    let mut bridge = Bridge::new(Renderer { table: ToolTable::standard(), limits, cwd: "/w".into() });
    assert!(bridge.tool_progress("shell", "nobody").is_none());
    started(&mut bridge, "shell", &json!({ "command": "make" }));
    let shown = one(bridge.tool_progress("shell", "0123456789"));
    assert_eq!(shown["status"], "in_progress");
    assert_eq!(shown["content"][1]["content"]["text"], "```\n23456789\n```");
    assert!(bridge.tool_progress("shell", "more").is_none(), "not with every piece");
}
