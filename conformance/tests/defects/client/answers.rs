//! What a client answers: permissions, files, terminals, forms.

use serde_json::{Value, json};

use crate::line::Line;
use crate::table::When::{Any, Ask, FromAgent, Reply};
use crate::table::{Defect, wire};

const ONE_FACT: &str = "one fact under two ids";

fn chosen(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

/// A yes to a question that a cancel has withdrawn.
fn yes_after_cancel(l: &mut Line<'_>) {
    if l.method == "session/cancel" {
        l.note("cancelled", true);
    } else if l.method == "session/request_permission" && l.at("/result").is_object() && l.has("cancelled") {
        l.result(&chosen("yes"));
    }
}

/// An answer that a withdrawn question may not have.
fn odd_withdrawal(l: &mut Line<'_>) {
    if l.asked["toolCall"]["toolCallId"] == "withdrawn" {
        l.fail(-32603);
    }
}

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACPX-PERM-001", Reply("session/request_permission"), |l| {
        if l.asked["toolCall"]["toolCallId"] == "one" {
            l.fail(-32603);
        }
    }),
    wire("ACPX-PERM-007", Reply("session/request_permission"), |l| {
        if l.asked["toolCall"]["toolCallId"] == "odd" {
            l.result(&chosen("made-up"));
        }
    }),
    wire("ACPX-PERM-009", Any, yes_after_cancel).implying(&["ACPX-CANCEL-008"], ONE_FACT),
    wire("ACPX-CANCEL-008", Any, yes_after_cancel).implying(&["ACPX-PERM-009"], ONE_FACT),
    wire("ACPX-PERM-011", Reply("session/request_permission"), |l| {
        if l.asked["toolCall"]["toolCallId"] == "parallel-1" {
            l.lose();
        }
    }),
    wire("ACPX-SESS-014", Reply("session/request_permission"), |l| {
        if l.asked["sessionId"] == "somebody-elses" {
            l.result(&chosen("yes"));
        }
    }),
    wire("ACPX-CREQ-002", Reply("session/request_permission"), odd_withdrawal)
        .implying(&["ACPX-CREQ-008"], ONE_FACT),
    wire("ACPX-CREQ-008", Reply("session/request_permission"), odd_withdrawal)
        .implying(&["ACPX-CREQ-002"], ONE_FACT),
    wire("ACPX-FS-003", Reply("fs/read_text_file"), |l| {
        if l.at("/result/content").is_string() {
            l.set("/result/content", "");
        }
    }),
    wire("ACPX-FS-005", Ask("fs/write_text_file"), |l| l.answer(&json!({}))),
    wire("ACPX-FS-006", Reply("fs/write_text_file"), |l| {
        if !l.is_error() {
            l.set("/result", json!(null));
        }
    }),
    wire("ACPX-FS-007", Ask("fs/read_text_file"), |l| {
        if l.says("accord-missing") {
            l.answer(&json!({"content": ""}));
        }
    }),
    wire("ACPX-FS-008", Ask("fs/read_text_file"), |l| {
        if l.says("accord-outside") {
            l.answer(&json!({"content": "secret"}));
        }
    }),
    wire("ACPX-FS-009", Ask("fs/read_text_file"), |l| {
        if l.at("/params/path").as_str().is_some_and(|path| !path.starts_with('/')) {
            l.answer(&json!({"content": ""}));
        }
    }),
    wire("ACPX-TERM-002", Reply("terminal/create"), |l| l.late(4500)),
    wire("ACPX-TERM-003", Ask("terminal/create"), |l| l.replace("\"a b\"", "\"a\"")),
    wire("ACPX-TERM-004", Reply("terminal/output"), |l| {
        if l.at("/result/truncated") == true {
            l.set("/result/truncated", false);
        }
    }),
    wire("ACPX-TERM-005", Reply("terminal/output"), |l| l.set("/result/exitStatus", json!({"exitCode": 0}))),
    wire("ACPX-TERM-012", Reply("terminal/output"), |l| l.set("/result/exitStatus", json!({"exitCode": 0}))),
    wire("ACPX-TERM-006", Reply("terminal/wait_for_exit"), |l| {
        if l.at("/result/exitCode") == 7 {
            l.set("/result/exitCode", 1);
        }
    }),
    wire("ACPX-TERM-007", FromAgent, |l| {
        if l.method == "terminal/kill" {
            l.note("killed", true);
        } else if l.method == "terminal/output" && l.has("killed") {
            l.refuse(-32002);
        }
    }),
    wire("ACPX-TERM-008", FromAgent, |l| {
        if l.method == "terminal/release" && !l.has("released") {
            l.note("released", true);
        } else if l.method.starts_with("terminal/") && l.has("released") {
            let output = l.method == "terminal/output";
            l.answer(&if output { json!({"output": "", "truncated": false}) } else { json!({}) });
        }
    }),
    wire("ACPX-ELIC-008", Reply("elicitation/create"), |l| {
        l.result(&json!({"action": "accept", "content": {"name": "Ada"}}));
    })
    .implying(&["ACPX-ELIC-011", "ACPX-ELIC-018"], "every question is accepted"),
    wire("ACPX-ELIC-011", Reply("elicitation/create"), |l| {
        if l.at("/error/code") == -32602 {
            l.fail(-32603);
        }
    }),
    wire("ACPX-ELIC-012", Reply("elicitation/create"), |l| {
        if l.at("/result/action").is_string() {
            l.set("/result/action", "perhaps");
        }
    }),
    wire("ACPX-ELIC-017", Any, |l| {
        if l.method == "initialize" {
            l.set("/params/clientCapabilities/elicitation/url", json!({}));
        } else if l.method == "elicitation/complete" {
            l.exit();
        }
    }),
    wire("ACPX-ELIC-018", Reply("elicitation/create"), |l| {
        if l.asked["mode"] == "_accord/telepathy" {
            l.result(&json!({"action": "accept", "content": {}}));
        }
    }),
];
