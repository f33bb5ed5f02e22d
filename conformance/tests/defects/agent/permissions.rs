//! Permissions and the tools behind them.

use serde_json::json;

use crate::line::Line;
use crate::table::When::{Any, Ask, FromAgent, FromClient, Reply, Update};
use crate::table::{Defect, wire};

/// Remembers what was asked, and turns the client's answer into a yes.
fn taken_for_yes(l: &mut Line<'_>, file: &'static str) {
    if l.method == "session/prompt" && l.says(file) {
        l.note("prompted", true);
    }
    if l.method != "session/request_permission" || !l.has("prompted") {
        return;
    }
    if l.at("/params/options").is_array() {
        let options = l.at("/params/options");
        let yes =
            options.as_array().into_iter().flatten().find(|option| option["kind"] == "allow_once").cloned();
        l.note("yes", yes.unwrap_or_default()["optionId"].clone());
    } else {
        let yes = l.noted("yes");
        l.result(&json!({"outcome": {"outcome": "selected", "optionId": yes}}));
    }
}

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACPX-PERM-005", Any, |l| taken_for_yes(l, "rejected.txt")),
    wire("ACPX-PERM-006", Any, |l| taken_for_yes(l, "never.txt")),
    wire("ACPX-PERM-012", Any, |l| {
        if l.method == "session/request_permission" && l.says("always") {
            l.note("prompted", true);
            taken_for_yes(l, "always.txt");
        }
    }),
    wire("ACPX-RPC-019", Reply("session/request_permission"), |l| {
        if l.at("/error/data").is_array() {
            l.exit();
        }
    }),
    wire("ACPX-TOOL-001", FromAgent, |l| {
        if l.says("\"tool_call\"") {
            l.lose();
        }
    }),
    wire("ACPX-TOOL-006", Update(""), |l| {
        if l.at("/params/update/status") == "in_progress" {
            l.lose();
        }
    }),
    wire("ACPX-TOOL-007", Update("tool_call_update"), |l| {
        if l.says("\"completed\"") || l.says("\"failed\"") {
            l.lose();
        }
    }),
    wire("ACPX-TOOL-010", Update("tool_call_update"), |l| l.set("/params/update/name", "other")),
    wire("ACPX-TOOL-002", FromAgent, |l| {
        for place in ["/params/update/toolCallId", "/params/toolCall/toolCallId"] {
            if l.at(place).is_string() {
                l.set(place, "the-same");
            }
        }
    })
    .seen_in(&["ACPX-PERM-012"]),
    wire("ACPX-TOOL-005", Update("agent_message_chunk"), |l| {
        l.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "never", "title": "Stray"}));
    }),
    wire("ACPX-TOOL-008", Update("tool_call"), |l| {
        l.set("/params/update/content", json!([{"type": "terminal", "terminalId": "never-made"}]));
    })
    .seen_in(&["ACPX-PERM-002"]),
    wire("ACPX-TOOL-009", Update("tool_call"), |l| {
        l.set("/params/update/locations", json!([{"path": "relative.txt"}]));
    })
    .seen_in(&["ACPX-PERM-002"]),
    wire("ACPX-PERM-013", Ask("session/request_permission"), |l| {
        let options = l.at("/params/options");
        let last = options.as_array().and_then(|options| options.last().cloned()).unwrap_or_default();
        l.push("/params/options", last);
    })
    .seen_in(&["ACPX-PERM-002"]),
    wire("ACPX-CANCEL-006", FromClient, |l| {
        if l.says(" late.txt") {
            l.note("late", true);
        } else if l.method == "session/cancel" && l.has("late") {
            l.lose();
        }
    }),
    wire("ACPX-RPC-024", FromClient, |l| {
        if l.method == "_accord/alive" && l.waits("session/request_permission") && !l.has("cancelled") {
            l.lose();
        } else if l.method == "session/cancel" {
            l.note("cancelled", true);
        }
    }),
];
