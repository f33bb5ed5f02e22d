//! initialize, authentication, and what stands in their answers.

use serde_json::json;

use crate::table::When::{Answer, FromClient, Request};
use crate::table::{Defect, FORM, wire};

/// The subject asks for a login, and the kit logs in.
const LOGIN: (&[&str], &[&str]) = (&["--auth=token"], &["--auth"]);
const LOGOUT: (&[&str], &[&str]) = (&["--auth=token", "--logout"], &["--auth"]);
const ODD: &[&str] = &["ACP-SCHEMA-001", "ACP-INIT-001"];

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACP-INIT-001", Answer("initialize"), |l| l.set("/result/_meta", 5))
        .implying(&["ACP-SCHEMA-001"], FORM),
    wire("ACPX-TR-018", Answer("initialize"), |l| l.set("/result/_meta", 5)).implying(ODD, FORM),
    wire("ACP-INIT-002", Answer("initialize"), |l| l.set("/result/protocolVersion", 2)),
    wire("ACP-INIT-003", Answer("initialize"), |l| {
        if l.asked["protocolVersion"] == 65535 {
            l.set("/result/protocolVersion", 65535);
        }
    }),
    wire("ACP-INIT-004", Answer("initialize"), |l| l.remove("/result/agentInfo")),
    wire("ACPX-INIT-008", Answer("initialize"), |l| {
        if l.asked["protocolVersion"] == 0 {
            l.set("/result/protocolVersion", 0);
        }
    }),
    wire("ACPX-INIT-009", Answer("initialize"), |l| {
        if l.asked["protocolVersion"] == 2 {
            l.set("/result/protocolVersion", 3);
        }
    }),
    wire("ACPX-INIT-010", Request("initialize"), |l| {
        if l.at("/params/clientInfo").is_null() {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-INIT-011", Request("initialize"), |l| {
        if l.says("teleport") {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-INIT-012", Request("initialize"), |l| {
        if l.at("/params/clientCapabilities/fs").is_number() {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-INIT-013", Answer("initialize"), |l| l.remove("/result/agentCapabilities")),
    wire("ACPX-INIT-014", Answer("initialize"), |l| l.set("/result/agentCapabilities/loadSession", "yes"))
        .implying(ODD, FORM),
    wire("ACPX-INIT-015", Answer("initialize"), |l| l.remove("/result/agentInfo/version"))
        .implying(ODD, FORM),
    wire("ACPX-INIT-017", FromClient, |l| {
        if l.method == "initialize" {
            l.note("hello", true);
        } else if l.method == "session/new" && !l.has("hello") {
            l.lose();
        }
    }),
    wire("ACPX-INIT-018", Request("initialize"), |l| {
        if l.count("hello") > 1 {
            l.exit();
        }
    }),
    wire("ACPX-INIT-019", FromClient, |l| {
        let idle = !l.waits("session/prompt");
        if l.method == "session/prompt" {
            l.count("turns");
        } else if l.method == "session/cancel" && idle && l.count("turns") > 1 {
            l.exit();
        }
    }),
    wire("ACPX-INIT-020", Request("session/set_config_option"), |l| {
        if l.at("/params/sessionId") == "made-up" {
            l.refuse(-32601);
        }
    }),
    wire("ACPX-INIT-021", Request("logout"), |l| l.answer(&json!({}))),
    wire("ACP-AUTH-001", Answer("initialize"), |l| {
        let method = l.at("/result/authMethods/0");
        l.push("/result/authMethods", method);
    })
    .with(LOGIN.0, LOGIN.1),
    wire("ACP-AUTH-002", Answer("initialize"), |l| {
        l.push("/result/authMethods", json!({"id": "t", "name": "T", "type": "terminal"}));
    }),
    wire("ACP-AUTH-003", Request("session/new"), |l| l.refuse(-32000))
        .implying(&["ACP-PROMPT-001"], "without a session there is no turn")
        .with(LOGIN.0, LOGIN.1),
    wire("ACP-AUTH-005", Request("session/new"), |l| l.refuse(-32000)),
    wire("ACPX-AUTH-001", Answer("initialize"), |l| l.remove("/result/authMethods/0/name"))
        .implying(ODD, FORM)
        .with(LOGIN.0, LOGIN.1),
    wire("ACPX-AUTH-002", Answer("authenticate"), |l| l.set("/result", json!(null))).with(LOGIN.0, LOGIN.1),
    wire("ACPX-AUTH-003", Request("authenticate"), |l| {
        if l.says("accord-made-up") {
            l.answer(&json!({}));
        }
    })
    .with(LOGIN.0, LOGIN.1),
    wire("ACP-AUTH-004", Answer("logout"), |l| l.set("/result", json!(null))).with(LOGOUT.0, LOGOUT.1),
    wire("ACPX-AUTH-011", Request("logout"), |l| l.answer(&json!({}))).with(LOGOUT.0, LOGOUT.1),
];
