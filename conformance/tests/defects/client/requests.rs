//! What a client asks for, and when.

use serde_json::{Value, json};

use crate::line::Line;
use crate::table::When::{Answer, Request};
use crate::table::{Defect, FORM, wire};

/// The params of what only names the session.
fn session() -> Value {
    json!({"sessionId": "session-1"})
}

/// Whether the agent has just refused a session for want of a login.
fn is_locked(l: &Line<'_>) -> bool {
    l.at("/error/code") == -32000
}

/// Adds a picture to a prompt.
fn picture(l: &mut Line<'_>, data: &str) {
    l.push("/params/prompt", json!({"type": "image", "data": data, "mimeType": "image/png"}));
}

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACPX-AUTH-004", Answer("session/new"), |l| {
        if is_locked(l) {
            l.ask_back("authenticate", &json!({"methodId": "made-up"}));
        }
    })
    .implying(&["ACPX-AUTH-005"], "a method that is not there is none of the advertised kind"),
    wire("ACPX-AUTH-005", Answer("session/new"), |l| {
        if is_locked(l) {
            l.ask_back("authenticate", &json!({"methodId": "accord-terminal"}));
        }
    })
    .implying(&["ACPX-AUTH-004"], "where another method is advertised, this one is not"),
    wire("ACPX-AUTH-010", Answer("session/new"), |l| l.ask_back("logout", &json!({}))),
    wire("ACPX-AUTH-013", Answer("session/new"), |l| {
        if is_locked(l) {
            for _ in 0..8 {
                l.ask_back("session/new", &json!({"cwd": "/", "mcpServers": []}));
            }
        }
    }),
    wire("ACPX-SESS-001", Request("session/new"), |l| l.set("/params/cwd", "here"))
        .implying(&["ACPX-FS-006"], "the paths of its files begin with the folder"),
    wire("ACPX-SESS-002", Request("session/new"), |l| l.remove("/params/mcpServers"))
        .implying(&["ACPX-TR-002"], FORM),
    wire("ACPX-SESS-016", Request("session/prompt"), |l| {
        if l.at("/params/sessionId").as_str().is_some_and(|id| id.starts_with("a b/")) {
            l.set("/params/sessionId", "a b");
        }
    }),
    wire("ACPX-MCP-007", Request("session/new"), |l| {
        l.push(
            "/params/mcpServers",
            json!({"type": "http", "name": "web", "url": "http://localhost/", "headers": []}),
        );
    }),
    wire("ACPX-MCP-008", Request("session/new"), |l| {
        l.push("/params/mcpServers", json!({"name": "near", "command": "near", "args": [], "env": []}));
    }),
    wire("ACPX-ADDDIRS-001", Request("session/new"), |l| {
        l.set("/params/additionalDirectories", json!(["/elsewhere"]));
    }),
    wire("ACPX-ADDDIRS-002", Request("session/new"), |l| {
        if l.is_welcome_to_all() {
            l.set("/params/additionalDirectories", json!(["elsewhere"]));
        }
    })
    .seen_in(&["ACPX-INIT-007"]),
    wire("ACPX-PROMPT-001", Request("session/new"), |l| {
        l.ask("session/prompt", &json!({"sessionId": "session-1", "prompt": []}));
    })
    .implying(
        &["ACPX-SESS-016", "ACPX-CMD-004"],
        "an empty prompt of a made-up session comes before the real one",
    ),
    wire("ACPX-PROMPT-002", Request("session/prompt"), |l| picture(l, "aGVsbG8=")),
    wire("ACPX-CONTENT-002", Request("session/prompt"), |l| {
        if l.is_welcome_to_all() {
            picture(l, "***");
        }
    })
    .seen_in(&["ACPX-INIT-007"]),
    wire("ACPX-PROMPT-012", Request("session/prompt"), |l| {
        let params = l.at("/params");
        l.ask("session/prompt", &params);
    }),
    wire("ACPX-CMD-004", Request("session/prompt"), |l| l.replace("/accord", "accord")),
    wire("ACPX-LIST-001", Answer("session/new"), |l| l.ask_back("session/list", &json!({}))),
    wire("ACPX-LIST-007", Answer("session/new"), |l| {
        for _ in 0..3 {
            l.ask_back("session/list", &json!({}));
        }
    })
    .implying(&["ACPX-LIST-001"], "other agents advertise no list"),
    wire("ACPX-LIST-008", Answer("session/new"), |l| {
        l.ask_back("session/list", &json!({}));
        l.ask_back("session/list", &json!({"cursor": "next"}));
    })
    .implying(&["ACPX-LIST-001"], "other agents advertise no list"),
    wire("ACPX-LIST-009", Answer("session/new"), |l| l.ask_back("session/list", &json!({"cwd": "here"})))
        .implying(
            &["ACPX-LIST-001", "ACPX-SESS-001"],
            "other agents advertise no list, and the filter is a cwd",
        ),
    wire("ACPX-LOAD-001", Answer("session/new"), |l| {
        l.ask_back("session/load", &json!({"sessionId": "session-1", "cwd": "/", "mcpServers": []}));
    }),
    wire("ACPX-LOAD-002", Answer("session/new"), |l| l.ask_back("session/load", &session())).implying(
        &["ACPX-LOAD-001", "ACPX-TR-002"],
        "other agents advertise no load, and the schema asks for the same",
    ),
    wire("ACPX-LOAD-008", Answer("session/new"), |l| {
        l.ask_back("session/load", &json!({"sessionId": "another", "cwd": "/", "mcpServers": []}));
    })
    .implying(&["ACPX-LOAD-001"], "other agents advertise no load"),
    wire("ACPX-RESUME-001", Answer("session/new"), |l| {
        l.ask_back("session/resume", &json!({"sessionId": "session-1", "cwd": "/"}));
    }),
    wire("ACPX-CLOSE-001", Answer("session/new"), |l| l.ask_back("session/close", &session())),
    wire("ACPX-DELETE-001", Answer("session/new"), |l| l.ask_back("session/delete", &session())),
    wire("ACPX-CONFIG-012", Answer("session/new"), |l| {
        if l.says("\"loud\"") {
            let params = json!({"sessionId": "session-1", "configId": "loud", "value": "true"});
            l.ask_back("session/set_config_option", &params);
        }
    })
    .seen_in(&["ACPX-SESS-017"]),
    wire("ACPX-CONFIG-013", Answer("session/new"), |l| {
        if l.says("\"grouped\"") || l.says("\"model\"") {
            let params = json!({"sessionId": "session-1", "configId": "model", "value": "nonsense"});
            l.ask_back("session/set_config_option", &params);
        }
    })
    .seen_in(&["ACPX-SESS-017"]),
    wire("ACPX-MODE-001", Answer("session/new"), |l| {
        if l.says("availableModes") {
            l.ask_back("session/set_mode", &json!({"sessionId": "session-1", "modeId": "nonsense"}));
        }
    })
    .seen_in(&["ACPX-SESS-017"]),
];
