//! What the witness alone sees, in whatever is exchanged.

use serde_json::json;

use crate::line::Part;
use crate::table::When::{Answer, FromAgent, Update};
use crate::table::{Defect, wire};

const SEEN: &[&str] = &["ACP-PROMPT-001"];

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACP-TRANSPORT-001", Answer("initialize"), |l| l.after_raw(b"Welcome!\n")),
    wire("ACP-TRANSPORT-002", Answer("initialize"), |l| {
        l.after_raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"_x\",\"params\":\"\xff\"}\n");
    })
    .implying(&["ACP-TRANSPORT-001"], "JSON is UTF-8"),
    wire("ACP-JSONRPC-002", FromAgent, |l| {
        if l.part == Part::Answer && l.is_error() {
            l.set("/error/code", "-32601");
        }
    })
    .seen_in(&["ACP-EXT-001"]),
    wire("ACP-SCHEMA-001", Answer("session/close"), |l| l.set("/result/_meta", 5))
        .seen_in(&["ACP-CLOSE-001"]),
    wire("ACP-SCHEMA-002", Answer("session/prompt"), |l| {
        l.set("/result/usage", json!({"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}));
    }),
    wire("ACP-ERROR-001", FromAgent, |l| {
        if l.is_error() {
            l.set("/error/message", "");
        }
    })
    .seen_in(&["ACP-EXT-001"]),
    wire("ACPX-TR-004", Answer("initialize"), |l| l.after_raw(b"[]\n")),
    wire("ACPX-RPC-001", Update("available_commands_update"), |l| l.set("/jsonrpc", "1.0")).seen_in(SEEN),
    wire("ACPX-RPC-006", Answer("initialize"), |l| l.ask_as(&json!(1.5), "_spoiler/ask", &json!({}))),
    wire("ACPX-RPC-009", Answer("initialize"), |l| {
        l.ask_as(&json!(77), "_spoiler/ask", &json!({}));
        l.ask_as(&json!(77), "_spoiler/ask", &json!({}));
    }),
    wire("ACPX-CONTENT-002", Update("agent_message_chunk"), |l| {
        let picture = json!({"type": "image", "data": "***", "mimeType": "image/png"});
        l.update(&json!({"sessionUpdate": "agent_message_chunk", "content": picture}));
    }),
    wire("ACPX-NOTICE-001", Update("agent_message_chunk"), |l| {
        l.update(&json!({"sessionUpdate": "notice", "severity": "info", "title": "Uncalled for"}));
    }),
    wire("ACPX-NOTICE-002", Update("agent_message_chunk"), |l| {
        if l.memory.offer["session"]["notices"].is_object() {
            l.update(&json!({"sessionUpdate": "notice", "severity": "info", "title": " "}));
        }
    })
    .seen_in(&["ACPX-INIT-007"]),
    wire("ACPX-COMPACT-001", Update("agent_message_chunk"), |l| {
        l.update(
            &json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "in_progress"}),
        );
    }),
    wire("ACPX-COMPACT-002", Update("agent_message_chunk"), |l| {
        if l.memory.offer["session"]["compaction"].is_object() {
            for status in ["completed", "completed"] {
                l.update(
                    &json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": status}),
                );
            }
        }
    })
    .seen_in(&["ACPX-INIT-007"]),
    wire("ACPX-EXT-001", Update("agent_message_chunk"), |l| l.set("/params/custom", 1)),
    wire("ACPX-EXT-002", Answer("initialize"), |l| {
        l.after(&json!({"jsonrpc": "2.0", "method": "custom/news", "params": {}}));
    }),
    wire("ACPX-EXT-006", Answer("initialize"), |l| {
        l.after(&json!({"jsonrpc": "2.0", "method": "_custom/news", "params": {}}));
    }),
    wire("ACPX-EXT-007", Update("agent_message_chunk"), |l| {
        l.set("/params/_meta", json!({"traceparent": "today"}));
    }),
    wire("ACPX-EXT-009", Answer("initialize"), |l| l.set("/result/agentCapabilities/teleport", json!({}))),
];
