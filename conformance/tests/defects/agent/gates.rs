//! What the client did not offer, and what it did: files, terminals, forms.

use std::io::Write as _;

use serde_json::{Value, json};

use crate::line::Line;
use crate::table::When::{Ask, Reply, Request};
use crate::table::{Defect, FORM, wire};

const ONE_FACT: &str = "one fact under two ids";

/// Whether a turn begins, for a client that offers what is wanted.
fn turn_with(l: &Line<'_>, wanted: fn(&Value) -> bool) -> bool {
    wanted(&l.memory.offer)
}

/// The agent asks the client for something, once its turn has begun.
fn ask(l: &mut Line<'_>, method: &str, mut params: Value) {
    params["sessionId"] = l.session();
    l.ask_back(method, &params);
}

fn form() -> Value {
    json!({"mode": "form", "message": "Why?", "requestedSchema": {"type": "object", "properties": {}}})
}

fn url(address: &str) -> Value {
    json!({"mode": "url", "message": "Look", "elicitationId": "e", "url": address})
}

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACP-CLIENTCAP-001", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer == &json!({})) {
            ask(l, "fs/read_text_file", json!({"path": "/tmp/x"}));
        }
    }),
    wire("ACP-CLIENTCAP-002", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer == &json!({})) {
            ask(l, "terminal/create", json!({"command": "true"}));
        }
    }),
    wire("ACP-CLIENTCAP-003", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer == &json!({"elicitation": {}})) {
            ask(l, "elicitation/create", form());
        }
    })
    .implying(&["ACPX-ELIC-001"], ONE_FACT),
    wire("ACPX-ELIC-001", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer == &json!({"elicitation": {"form": {}}})) {
            ask(l, "elicitation/create", url("https://example.com/"));
        }
    })
    .implying(&["ACP-CLIENTCAP-003"], ONE_FACT),
    wire("ACPX-ELIC-016", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer["elicitation"]["url"].is_object()) {
            ask(l, "elicitation/create", url("https://example.com/"));
            ask(l, "elicitation/create", url("https://example.com/"));
        }
    })
    .seen_in(&["ACPX-ELIC-003"]),
    wire("ACPX-ELIC-020", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer["elicitation"]["url"].is_object()) {
            ask(l, "elicitation/create", url("https://ada:secret@example.com/"));
        }
    })
    .seen_in(&["ACPX-ELIC-003"]),
    wire("ACPX-FS-001", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer["fs"] == json!({"readTextFile": true, "writeTextFile": false})) {
            ask(l, "fs/write_text_file", json!({"path": "/nonexistent/x", "content": ""}));
        }
    }),
    wire("ACPX-FS-002", Ask("fs/read_text_file"), |l| l.set("/params/line", 0)),
    wire("ACPX-FS-006", Reply("fs/write_text_file"), |l| {
        if l.at("/result").is_null() && !l.is_error() {
            l.fail(-32603);
        }
    }),
    wire("ACPX-FS-010", Reply("fs/"), |l| {
        if l.says("on fire") {
            l.exit();
        }
    }),
    wire("ACPX-INIT-006", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer == &json!({"session": null, "elicitation": null})) {
            ask(l, "terminal/create", json!({"command": "true"}));
        }
    })
    .implying(&["ACP-CLIENTCAP-002"], ONE_FACT),
    wire("ACPX-INIT-007", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer == &json!({"fs": {"writeTextFile": true}})) {
            l.exit();
        }
    })
    .implying(&["ACPX-FS-001", "ACPX-FS-006"], "their checks offer the same"),
    wire("ACPX-ELIC-002", Request("session/prompt"), |l| {
        if turn_with(l, |offer| offer["elicitation"].is_null()) && l.text() == "ask" {
            l.refuse(-32603);
        }
    })
    .implying(&["*"], "all checks with a busy turn ask without the offer"),
    wire("ACPX-ELIC-003", Ask("elicitation/create"), |l| l.set("/params/requestId", 1)),
    wire("ACPX-ELIC-005", Ask("elicitation/create"), |l| {
        l.set("/params/requestedSchema/type", "list");
    })
    .implying(&["ACP-SCHEMA-001", "ACPX-ELIC-003"], FORM),
    wire("ACPX-ELIC-010", Reply("elicitation/create"), |l| {
        if l.at("/result/content") == json!({}) {
            l.exit();
        }
    }),
    wire("ACPX-ELIC-019", Reply("elicitation/create"), |l| {
        if l.says("_accord/unknown") {
            l.exit();
        }
    }),
    wire("ACPX-ELIC-027", Reply("elicitation/create"), |l| {
        if l.at("/result/action") == "accept" && l.at("/result/content").is_null() {
            l.exit();
        }
    }),
    wire("ACPX-TERM-009", Ask("terminal/release"), |l| l.answer(&json!({}))),
    wire("ACPX-TERM-011", Ask("terminal/release"), |l| {
        let params = l.at("/params");
        l.ask("terminal/output", &params);
    })
    .seen_in(&["ACPX-TERM-009"]),
    wire("ACPX-AUTH-014", Request("session/new"), |l| {
        if l.says("hunter2") {
            writeln!(std::io::stderr(), "starting {}", l.at("/params/mcpServers")).expect("stderr is read");
        }
    }),
];
