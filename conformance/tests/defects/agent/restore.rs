//! session/load and session/resume.

use serde_json::json;

use crate::table::When::{Answer, FromClient, Request, Update};
use crate::table::{Defect, FORM, wire};

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACP-LOAD-001", Answer("session/load"), |l| l.set("/result/_meta", 5))
        .implying(&["ACP-SCHEMA-001"], FORM),
    wire("ACP-LOAD-002", Answer("session/load"), |l| {
        l.update(
            &json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": "late"}}),
        );
    }),
    wire("ACP-LOAD-003", Answer("session/load"), |l| {
        if l.at("/result").is_object() {
            l.set("/result", json!(null));
        }
    }),
    wire("ACPX-LOAD-003", Update("user_message_chunk"), |l| {
        if l.waits("session/load") && l.says("marmalade 1") {
            l.lose();
        }
    }),
    wire("ACPX-LOAD-004", Update(""), |l| {
        if l.waits("session/load") && l.at("/params/update/content/type") == "text" {
            l.set("/params/update/messageId", "the-same");
        }
    }),
    wire("ACPX-LOAD-005", Update("agent_message_chunk"), |l| {
        if l.is_later() && l.says(" turns") {
            l.replace("marmalade", "something");
        }
    }),
    wire("ACPX-LOAD-006", Request("session/load"), |l| {
        if l.says("accord-made-up") {
            l.answer(&json!({}));
        }
    }),
    wire("ACPX-LOAD-007", Request("session/load"), |l| {
        if l.at("/params/cwd").as_str().is_some_and(|cwd| cwd.ends_with("other")) {
            l.exit();
        }
    }),
    wire("ACPX-LOAD-009", Update("agent_message_chunk"), |l| {
        if l.waits("session/load") {
            l.update_first(&json!({"sessionUpdate": "notice", "severity": "info", "title": "Old news"}));
        }
    }),
    wire("ACPX-ADDDIRS-003", Request("session/prompt"), |l| {
        if l.says("old-root.txt") && l.is_later() {
            l.write_file();
        }
    }),
    wire("ACP-RESUME-001", Answer("session/resume"), |l| l.set("/result/_meta", 5))
        .implying(&["ACP-SCHEMA-001"], FORM),
    wire("ACP-RESUME-002", Answer("session/resume"), |l| {
        l.update_first(
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "old"}}),
        );
    }),
    wire("ACPX-RESUME-002", Answer("session/resume"), |l| {
        l.update_first(&json!({"sessionUpdate": "tool_call", "toolCallId": "old", "title": "Old", "status": "completed"}));
    }),
    wire("ACPX-RESUME-003", FromClient, |l| {
        if l.method == "session/resume" {
            l.note("resumed", true);
        } else if l.method == "session/prompt" && l.has("resumed") {
            l.refuse(-32603);
        }
    }),
    wire("ACPX-RESUME-004", Request("session/resume"), |l| l.refuse(-32603)),
    wire("ACPX-MCP-011", Request("session/"), |l| {
        if l.at("/params/sessionId").is_string() && l.at("/params/mcpServers").is_array() {
            l.set("/params/mcpServers", json!([]));
        }
    }),
];
