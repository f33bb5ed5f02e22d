//! session/new: ids, directories, bad params, independence.

use serde_json::json;

use crate::table::When::{Answer, FromAgent, FromClient, Request, Update};
use crate::table::{Defect, FORM, wire};

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACP-SESSION-001", Answer("session/new"), |l| l.set("/result/_meta", 5))
        .implying(&["ACP-SCHEMA-001"], FORM),
    wire("ACP-SESSION-002", Answer("session/new"), |l| match l.count("sessions") {
        1 => {
            let id = l.at("/result/sessionId");
            l.note("first", id);
        }
        4 => {
            let id = l.noted("first");
            l.set("/result/sessionId", id);
        }
        _ => {}
    }),
    wire("ACP-ADDDIRS-001", Request("session/new"), |l| {
        if l.at("/params/additionalDirectories/0").is_string() {
            l.refuse(-32602);
        }
    })
    .implying(&["ACPX-ADDDIRS-006"], "what is listed was opened first"),
    wire("ACPX-ADDDIRS-005", Request("session/new"), |l| {
        if l.at("/params/additionalDirectories/0") == "relative/dir" {
            l.remove("/params/additionalDirectories");
        }
    }),
    wire("ACPX-ADDDIRS-007", Request("session/new"), |l| {
        let (cwd, root) = (l.at("/params/cwd"), l.at("/params/additionalDirectories/0"));
        if root.is_string() {
            l.set("/params/cwd", root);
            l.set("/params/additionalDirectories/0", cwd);
        }
    }),
    wire("ACPX-SESS-003", Request("session/new"), |l| {
        if l.at("/params/cwd") == "relative/dir" {
            l.refuse(-32603);
        }
    }),
    wire("ACPX-SESS-004", Request("session/new"), |l| {
        if l.json["params"].get("mcpServers").is_some_and(serde_json::Value::is_null) {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-SESS-005", Request("session/new"), |l| {
        if l.says("not/there") {
            l.exit();
        }
    }),
    wire("ACPX-SESS-006", Request("session/prompt"), |l| l.replace(" here.txt", " below/here.txt")),
    wire("ACPX-SESS-007", Request("session/prompt"), |l| l.replace(" three.txt", " below/three.txt")),
    wire("ACPX-SESS-008", FromAgent, |l| {
        if l.asked["cwd"].is_string() {
            let cwd = l.asked["cwd"].clone();
            l.note("cwd", cwd);
        } else if l.asked["prompt"].is_array() {
            l.remove_file("mine.txt");
        }
    }),
    wire("ACPX-SESS-009", Request("session/prompt"), |l| {
        if l.says("outside.txt") {
            l.write_file();
        }
    }),
    wire("ACPX-SESS-010", Answer("session/new"), |l| {
        let shelf = l.memory.shelf.join("first-session");
        match std::fs::read_to_string(&shelf) {
            Ok(first) if l.is_later() => l.set("/result/sessionId", first),
            Ok(_) => {}
            Err(_) => {
                let id = l.at("/result/sessionId");
                std::fs::write(shelf, id.as_str().unwrap_or_default())
                    .expect("the check's folder takes files");
            }
        }
    })
    .implying(&["*"], "an id that was given before names no session of this connection"),
    wire("ACPX-SESS-011", Update("agent_message_chunk"), |l| {
        if l.text().starts_with("0 turns") {
            l.set("/params/update/content/text", "1 turns\n1. echo xylophone");
        }
    }),
    wire("ACPX-SESS-012", Request("session/prompt"), |l| {
        if l.at("/params/sessionId") == "accord-made-up" {
            l.answer(&json!({"stopReason": "end_turn"}));
        }
    }),
    wire("ACPX-SESS-013", Answer("session/new"), |l| {
        if l.at("/result/sessionId").is_string() {
            l.update_first(&json!({"sessionUpdate": "session_info_update", "title": "Early"}));
        }
    }),
    wire("ACP-LIST-001", Answer("session/list"), |l| l.set("/result/sessions", json!(null)))
        .implying(&["ACP-SCHEMA-001"], FORM),
    wire("ACP-LIST-002", Answer("session/list"), |l| {
        if l.at("/result/sessions") == json!([]) {
            l.set("/result/sessions", json!(null));
        }
    })
    .implying(&["ACP-SCHEMA-001"], FORM),
    wire("ACPX-LIST-002", Answer("session/list"), |l| l.set("/result/sessions/0/updatedAt", "yesterday")),
    wire("ACPX-LIST-003", Answer("session/list"), |l| {
        if l.asked["cwd"].is_string() && l.at("/result/sessions/2").is_object() {
            l.remove("/result/sessions/0");
        }
    }),
    wire("ACPX-LIST-004", Answer("session/list"), |l| {
        if l.asked["cursor"].is_null() {
            let first = l.at("/result/sessions/0");
            l.note("first", first);
        } else {
            let first = l.noted("first");
            l.push("/result/sessions", first);
        }
    }),
    wire("ACPX-LIST-005", Request("session/list"), |l| {
        if l.at("/params/cursor") == "accord made up" {
            l.answer(&json!({"sessions": []}));
        }
    }),
    wire("ACPX-LIST-006", Answer("session/list"), |l| l.remove("/result/nextCursor")),
    wire("ACPX-LIST-009", Request("session/list"), |l| {
        if l.at("/params/cwd") == "work" {
            l.remove("/params/cwd");
        }
    }),
    wire("ACPX-LIST-010", Answer("session/list"), |l| {
        let title = format!("listed {} times", l.count("lists"));
        l.set("/result/sessions/0/title", title);
    }),
    wire("ACPX-LIST-014", Answer("session/list"), |l| {
        if l.is_later() {
            l.set("/result/sessions", json!([]));
        }
    }),
    wire("ACPX-LIST-015", Answer("session/list"), |l| {
        if l.memory.generation > 1 {
            l.set("/result/sessions/0/cwd", "/elsewhere");
        }
    }),
    wire("ACPX-LIST-016", Request("session/list"), |l| {
        if l.json["params"].get("cursor").is_some_and(serde_json::Value::is_null) {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-ADDDIRS-006", Answer("session/list"), |l| {
        l.set("/result/sessions/0/additionalDirectories", json!(["/elsewhere"]));
    }),
    wire("ACP-CLOSE-001", Answer("session/close"), |l| {
        if l.at("/result").is_object() {
            l.set("/result", json!(null));
        }
    }),
    wire("ACP-CLOSE-002", Answer("session/prompt"), |l| {
        if l.waits("session/close") && l.text().starts_with("slow") {
            l.set("/result/stopReason", "end_turn");
        }
    }),
    wire("ACPX-CLOSE-002", FromClient, |l| {
        let session = l.session();
        if l.method == "session/close" {
            l.note("closed", session);
        } else if l.method == "session/prompt" && l.noted("closed") == session {
            l.answer(&json!({"stopReason": "end_turn"}));
        }
    }),
    wire("ACPX-CLOSE-003", Request("session/close"), |l| {
        if l.says("accord-made-up") {
            l.exit();
        }
    }),
    wire("ACPX-CLOSE-004", FromClient, |l| {
        if l.method == "session/new" {
            let cwd = l.at("/params/cwd");
            l.note("cwd", cwd);
        } else if l.says("closed.txt") {
            l.write_file();
        }
    }),
    wire("ACP-DELETE-001", Answer("session/delete"), |l| l.set("/result", json!(null))),
    wire("ACP-DELETE-002", Request("session/delete"), |l| {
        if l.says("accord-made-up") {
            l.refuse(-32002);
        }
    }),
    wire("ACPX-DELETE-002", Request("session/delete"), |l| l.answer(&json!({}))),
    wire("ACPX-DELETE-003", FromClient, |l| {
        if l.method == "session/delete" {
            l.note("deleted", true);
        } else if l.method == "session/resume" && l.has("deleted") {
            l.exit();
        }
    }),
    wire("ACPX-DELETE-004", Request("session/delete"), |l| {
        if l.waits("session/prompt") {
            l.lose();
        }
    }),
];
