//! Cancelling, in a turn and beside one.

use serde_json::json;

use crate::line::Line;
use crate::table::When::{Answer, Any, FromClient, Notify, Request};
use crate::table::{Defect, wire};

const STRAY: &str = "what nobody asked for is an answer to nothing";

/// A turn of the slow kind, alone on its connection.
fn is_slow(l: &Line<'_>) -> bool {
    l.text().starts_with("slow")
}

fn late_output() -> serde_json::Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "late"}})
}

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACP-CANCEL-001", Any, |l| {
        if l.method == "session/new" || l.method == "$/cancel_request" || l.method == "session/close" {
            l.count("others");
        } else if l.at("/result/stopReason") == "cancelled" && is_slow(l) && l.count("others") == 3 {
            // One session was made, which has a request and an answer, and nothing but session/cancel has cancelled.
            l.set("/result/stopReason", "end_turn");
        }
    }),
    wire("ACP-CANCEL-002", Any, |l| {
        if l.method == "session/cancel" {
            l.note("cancelled", true);
        } else if l.at("/result/stopReason") == "cancelled" && l.has("cancelled") {
            l.update(&late_output());
        }
    }),
    wire("ACPX-CANCEL-001", Answer("session/prompt"), |l| {
        if l.at("/result/stopReason") == "cancelled" {
            // More than a busy machine's slow start allows for.
            l.late(12_000);
        }
    })
    .with(&["--timeout=20"], &[]),
    wire("ACPX-CANCEL-002", Answer("session/prompt"), |l| {
        if l.text().starts_with("run sleep") {
            l.set("/result/stopReason", "end_turn");
        }
    }),
    wire("ACPX-CANCEL-003", Notify("session/cancel"), |l| {
        if l.says("accord-made-up") {
            l.exit();
        }
    }),
    wire("ACPX-CANCEL-004", FromClient, |l| {
        if l.at("/id") == "both" {
            l.note("both", true);
        } else if l.method == "session/cancel" && l.has("both") {
            l.lose();
        }
    })
    .with(&["--timeout=3"], &[]),
    wire("ACPX-CANCEL-005", FromClient, |l| {
        if l.method == "session/prompt" {
            let (session, earlier) = (l.session(), l.noted("last"));
            l.note("earlier", earlier);
            l.note("last", session);
        } else if l.method == "session/cancel" && l.has("earlier") {
            let other = if l.session() == l.noted("last") { l.noted("earlier") } else { l.noted("last") };
            l.after(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": other}}));
        }
    }),
    wire("ACPX-CANCEL-007", Answer("session/prompt"), |l| {
        if l.at("/result/stopReason") == "cancelled" {
            l.note("cancelled", true);
        } else if l.has("cancelled") {
            l.set("/result/stopReason", "refusal");
        }
    }),
    wire("ACPX-CANCEL-012", Notify("session/cancel"), |l| {
        if l.count("cancels") == 1 {
            let turn = l.memory.pending.iter().find(|(_, _, method, _)| method == "session/prompt");
            let id = turn.map(|(_, id, _, _)| id.clone()).unwrap_or_default();
            l.note("turn", id);
        } else {
            let id = l.noted("turn");
            l.back(&json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "cancelled"}}));
        }
    })
    .implying(&["ACPX-RPC-005"], "a second answer is one too many by either requirement"),
    wire("ACPX-RPC-025", Request("session/list"), |l| {
        if l.waits("session/prompt") {
            l.lose();
        }
    })
    .with(&["--timeout=3"], &[]),
    wire("ACPX-CREQ-001", Notify("$/cancel_request"), |l| {
        if l.says("never-used") {
            l.back(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32602, "message": "no such request"}}));
        }
    })
    .implying(&["ACPX-RPC-005"], STRAY),
    wire("ACPX-CREQ-002", Any, |l| {
        if l.method == "$/cancel_request" {
            l.note("cancelled", true);
        } else if l.method == "session/cancel" {
            l.note("cancelled", json!(null));
        } else if l.at("/result/stopReason").is_string() && l.has("cancelled") && is_slow(l) {
            l.fail(-32603);
        }
    })
    .implying(&["ACPX-CREQ-006"], "an answer that no cancelled request may have is none that a cancelled prompt may have"),
    wire("ACPX-CREQ-004", Notify("$/cancel_request"), |l| {
        if l.at("/params/requestId").is_object() {
            l.exit();
        }
    }),
    wire("ACPX-CREQ-006", Any, |l| {
        if l.method == "$/cancel_request" {
            l.note("cancelled", true);
        } else if l.method == "session/prompt" && l.at("/result/stopReason").is_string() && l.has("cancelled") && is_slow(l) {
            l.update(&late_output());
        }
    })
    .implying(&["ACP-CANCEL-002"], "a turn that was cancelled either way may be silent"),
];
