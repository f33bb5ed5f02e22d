//! Lines, ids and the envelope, as a client may get them wrong.

use serde_json::json;

use crate::table::When::{Answer, Ask, FromAgent, Notify, Reply, Request, Update};
use crate::table::{Act, Defect, FORM, acts, wire};

const STRAY: &str = "what nobody asked for is an answer to nothing";

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACPX-TR-001", Request("session/prompt"), |l| {
        l.after_raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"$/x\",\"params\":\"\xff\"}\n");
    })
    .implying(&["ACPX-TR-002"], "JSON is UTF-8"),
    wire("ACPX-TR-002", Request("session/prompt"), |l| l.after_raw(b"hello\n")),
    acts("ACPX-TR-003", Act::Unfinished),
    wire("ACPX-TR-004", Request("session/prompt"), |l| l.after_raw(b"[]\n")),
    wire("ACPX-TR-005", Request("session/prompt"), |l| {
        l.after(&json!({"jsonrpc": "2.0", "id": "on-stderr", "result": {}}));
    })
    .implying(&["ACPX-RPC-003"], STRAY),
    acts("ACPX-TR-006", Act::Deaf).with(&["--timeout=10"], &[]),
    wire("ACPX-TR-008", Update("agent_message_chunk"), |l| l.replace("\u{6f22}", "\u{fffd}")),
    wire("ACPX-TR-009", Ask("_accord/ask"), |l| {
        if l.at("/id") == "many-7" {
            l.lose();
        }
    }),
    wire("ACPX-TR-013", Reply("_accord/ask"), |l| {
        if l.at("/id") == "flood-7" {
            l.lose();
        }
    }),
    wire("ACPX-RPC-001", Request("session/prompt"), |l| l.set("/jsonrpc", "1.0")),
    wire("ACPX-RPC-002", Reply("session/request_permission"), |l| {
        if l.at("/id") == "" {
            l.remove("/id");
        }
    }),
    wire("ACPX-RPC-003", Reply("fs/read_text_file"), |l| l.twice()),
    wire("ACPX-RPC-004", FromAgent, |l| {
        if l.method == "_accord/news" {
            l.back(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "unknown"}}));
        }
    })
    .implying(&["ACPX-RPC-003"], STRAY),
    wire("ACPX-RPC-006", Request("session/prompt"), |l| l.ask_as(&json!(1.5), "_spoiler/ask", &json!({}))),
    wire("ACPX-RPC-009", Request("session/prompt"), |l| {
        l.ask_as(&json!(77), "_spoiler/ask", &json!({}));
        l.ask_as(&json!(77), "_spoiler/ask", &json!({}));
    }),
    wire("ACPX-RPC-013", Reply("session/request_permission"), |l| {
        if l.at("/error/code") == -32602 {
            l.fail(-32603);
        }
    }),
    wire("ACPX-RPC-014", Ask("x/ask"), |l| l.refuse(-32603)),
    // The first question may be answered before the second comes; this client takes no second one all the same.
    wire("ACPX-RPC-024", FromAgent, |l| {
        if l.says("\"first\"") {
            l.note("asked", true);
        } else if l.method == "_accord/ask" && l.has("asked") {
            l.lose();
        }
    }),
    wire("ACPX-RPC-026", Ask("_accord/ask"), |l| {
        if l.at("/id") == 1.5 {
            l.lose();
        }
    }),
    wire("ACPX-CREQ-001", FromAgent, |l| {
        if l.method == "$/cancel_request" && l.says("99999") {
            l.back(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32602, "message": "no such request"}}));
        }
    })
    .implying(&["ACPX-RPC-003"], STRAY),
    wire("ACPX-EXT-001", Request("session/prompt"), |l| l.set("/params/custom", 1)),
    wire("ACPX-EXT-002", Request("session/prompt"), |l| l.tell("custom/news", &json!({}))),
    wire("ACPX-EXT-003", Ask("_accord/ask"), |l| {
        if l.says("\"deep\"") {
            l.lose();
        }
    }),
    wire("ACPX-EXT-004", Ask("_accord/ask"), |l| l.refuse(-32603)),
    wire("ACPX-EXT-006", Request("session/prompt"), |l| l.tell("_custom/news", &json!({}))),
    wire("ACPX-EXT-007", Request("session/prompt"), |l| l.set("/params/_meta", json!({"traceparent": "today"}))),
    wire("ACPX-EXT-009", Request("initialize"), |l| l.set("/params/clientCapabilities/teleport", json!({}))),
    wire("ACPX-INIT-001", Request("initialize"), |l| l.tell("$/early", &json!({}))),
    wire("ACPX-INIT-002", Request("initialize"), |l| l.set("/params/protocolVersion", "1"))
        .implying(&["ACPX-TR-002"], FORM),
    wire("ACPX-INIT-003", Request("initialize"), |l| l.set("/params/clientCapabilities", "none"))
        .implying(&["ACPX-TR-002", "ACPX-INIT-006", "ACPX-INIT-014", "ACPX-ELIC-011"], FORM),
    wire("ACPX-INIT-004", Request("initialize"), |l| l.remove("/params/clientInfo")),
    wire("ACPX-INIT-005", Answer("initialize"), |l| {
        if l.at("/result/protocolVersion") == 99 {
            l.set("/result/protocolVersion", 1);
        }
    }),
    wire("ACPX-INIT-006", Request("initialize"), |l| l.remove("/params/clientCapabilities/terminal")),
    wire("ACPX-INIT-014", Request("initialize"), |l| l.set("/params/clientCapabilities/terminal", "yes"))
        .implying(&["ACPX-TR-002"], FORM),
    wire("ACPX-INIT-015", Request("initialize"), |l| l.remove("/params/clientInfo/version"))
        .implying(&["ACPX-TR-002"], FORM),
    wire("ACPX-CANCEL-013", Notify("session/cancel"), |l| l.set("/params/sessionId", "other")),
];
