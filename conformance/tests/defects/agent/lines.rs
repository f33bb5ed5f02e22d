//! Lines, ids and the envelope; the end of input.

use serde_json::json;

use crate::line::{Part, leave_child};
use crate::table::When::{Answer, FromAgent, FromClient, Notify, Reply, Request, Update};
use crate::table::{Act, Defect, acts, wire};

const STRAY: &str = "what nobody asked for is an answer to nothing";

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACP-JSONRPC-001", Answer("_accord/id"), |l| {
        if l.at("/id") == "abc" {
            l.remove("/id");
        }
    }),
    wire("ACP-JSONRPC-003", Notify("_accord/unknown"), |l| {
        l.back(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": "unknown"}}));
    })
    .implying(&["ACPX-RPC-005"], STRAY),
    wire("ACP-JSONRPC-004", Request("_accord/unknown"), |l| l.answer(&json!({}))),
    wire("ACP-JSONRPC-005", Answer(""), |l| {
        if l.method == "_accord/unknown" {
            l.note("unknown", true);
        } else if l.method == "session/prompt" && l.is_error() && l.has("unknown") {
            l.exit();
        }
    }),
    wire("ACP-META-001", Request("session/prompt"), |l| {
        if l.at("/params/_meta/traceparent").is_string() {
            l.refuse(-32602);
        }
    }),
    wire("ACP-EXT-001", Request("_accord/unknown"), |l| {
        if l.says("\"any\"") {
            l.lose();
        }
    }),
    wire("ACPX-RPC-013", Request("session/new"), |l| {
        if l.at("/params/cwd").is_number() {
            l.refuse(-32603);
        }
    }),
    wire("ACPX-RPC-014", Request("session/does_not_exist"), |l| l.refuse(-32603)),
    wire("ACPX-RPC-015", Notify("x/y"), |l| l.exit()),
    wire("ACPX-RPC-018", Request("session/does_not_exist"), |l| l.refuse(-32700)),
    wire("ACPX-RPC-021", Request("session/list"), |l| {
        if l.at("/params").is_null() {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-RPC-022", Request("initialize"), |l| {
        if l.at("/params/clientInfo").is_number() {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-RPC-023", Request("session/prompt"), |l| {
        if l.says("\"future\"") {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-SESS-015", Request("session/prompt"), |l| {
        if l.says("accord/test") {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-EXT-008", Request("session/prompt"), |l| {
        if l.says("progressToken") {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-RPC-005", Answer("_accord/once"), |l| {
        if l.count("once") == 3 {
            l.twice();
        }
    }),
    wire("ACPX-RPC-007", Answer("_accord/id"), |l| {
        if l.at("/id") == i64::MAX {
            l.set("/id", 9.223_372_036_854_776e18);
        }
    })
    .implying(&["ACPX-RPC-005"], STRAY),
    wire("ACPX-RPC-008", Request("_accord/id"), |l| {
        if l.at("/id").is_null() {
            l.lose();
        }
    }),
    // Whoever takes the first answer for that to its first question mixes the two up.
    wire("ACPX-RPC-016", Reply("session/request_permission"), |l| {
        if l.has("first") {
            let (mut first, own) = (l.noted("first"), l.at("/id"));
            l.set("/id", first["id"].clone());
            first["id"] = own;
            l.after(&first);
            l.note("first", json!(null));
        } else if l.waits("session/request_permission") {
            let first = l.json.clone();
            l.note("first", first);
            l.lose();
        }
    }),
    wire("ACPX-RPC-017", FromClient, |l| {
        if l.part == Part::Noise && l.at("/id") == 99_999 {
            l.exit();
        }
    }),
    wire("ACPX-RPC-026", FromAgent, |l| {
        if l.part != Part::Notification && (l.at("/id") == 1.5 || l.is_error() && l.at("/id").is_null()) {
            l.lose();
        }
    }),
    wire("ACP-INFO-PARSE-001", FromClient, |l| {
        if l.says("{oops") {
            l.exit();
        }
    }),
    wire("ACP-INFO-INVALIDREQ-001", FromClient, |l| {
        if l.says("\"foo\":\"bar\"") {
            l.exit();
        }
    }),
    wire("ACP-INFO-UNKNOWNSESSION-001", Request("session/prompt"), |l| {
        if l.says("nobody hears this") {
            l.lose();
        }
    }),
    wire("ACPX-TR-007", Request("initialize"), |l| {
        if l.at("/id") == "slow" {
            l.lose();
        }
    }),
    wire("ACPX-TR-008", Update("agent_message_chunk"), |l| l.replace("\u{6f22}", "\u{fffd}")),
    wire("ACPX-TR-009", Request("_accord/x"), |l| {
        if l.at("/id") == "many-7" {
            l.lose();
        }
    }),
    wire("ACPX-TR-010", FromClient, |l| {
        if l.raw.ends_with(b"\r") && l.raw.len() > 1 {
            l.lose();
        }
    }),
    wire("ACPX-TR-011", FromClient, |l| {
        if l.raw.is_empty() {
            l.exit();
        }
    }),
    wire("ACPX-TR-012", FromClient, |l| {
        if l.raw.len() > 10_000_000 {
            l.exit();
        }
    }),
    wire("ACPX-TR-013", Update("agent_message_chunk"), |l| {
        // The first two turns are those with which the others are compared.
        if l.count("chunks") == 4050 {
            l.lose();
        }
    }),
    wire("ACPX-TR-014", FromClient, |l| {
        if l.raw == b"42" {
            l.exit();
        }
    }),
    wire("ACPX-TR-020", FromClient, |l| {
        if l.says("\"\\ud800\"") {
            l.exit();
        }
    }),
    wire("ACPX-RPC-010", FromAgent, |l| {
        if l.at("/error/code") == -32700 {
            l.lose();
        }
    }),
    wire("ACPX-RPC-011", FromAgent, |l| {
        if l.at("/error/code") == -32600 {
            l.lose();
        }
    }),
    wire("ACPX-RPC-012", FromClient, |l| {
        if l.raw == b"[]" {
            l.exit();
        }
    }),
    acts("ACP-SHUTDOWN-001", Act::Stay)
        .implying(&["ACPX-ADDDIRS-006"], "its check waits for a process to end"),
    acts("ACPX-TR-015", Act::Status(3)),
    wire("ACPX-TR-021", Request("session/new"), |_| leave_child("forgotten")),
];
