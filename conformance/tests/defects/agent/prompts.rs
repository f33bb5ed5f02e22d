//! Turns: content, stop reasons, updates and their order.

use serde_json::json;

use crate::table::When::{Answer, Ask, FromAgent, FromClient, Request, Update};
use crate::table::{Defect, FORM, wire};

const CHUNK: &str = "late";
const NO_TURNS: &str = "an agent without ordinary turns can show nothing else either";

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACP-PROMPT-001", Answer("session/prompt"), |l| l.set("/result/stopReason", "_exploded"))
        .implying(&["*"], NO_TURNS),
    wire("ACPX-CONTENT-003", Request("session/prompt"), |l| l.refuse(-32602)).implying(&["*"], NO_TURNS),
    wire("ACPX-CONFIG-002", Request("session/prompt"), |l| l.refuse(-32603)).implying(&["*"], NO_TURNS),
    wire("ACP-PROMPT-002", Update("agent_message_chunk"), |l| {
        let update = json!({"sessionUpdate": "session_info_update", "title": "Elsewhere"});
        l.after(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "other", "update": update}}));
    }),
    wire("ACP-PROMPT-003", Request("session/prompt"), |l| {
        if l.says("resource_link") {
            l.refuse(-32602);
        }
    })
    .implying(&["ACPX-PROMPT-003"], "the same, as the specification words it"),
    wire("ACPX-PROMPT-003", Request("session/prompt"), |l| {
        if l.says("resource_link") {
            l.refuse(-32602);
        }
    }),
    wire("ACP-PROMPTCAP-001", Request("session/prompt"), |l| {
        if l.says("\"image\"") {
            l.refuse(-32602);
        }
    }),
    wire("ACP-PROMPTCAP-002", Request("session/prompt"), |l| {
        if l.says("\"audio\"") {
            l.refuse(-32602);
        }
    }),
    wire("ACP-PROMPTCAP-003", Request("session/prompt"), |l| {
        if l.says("\"blob\"") {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-CONTENT-005", Request("session/prompt"), |l| {
        if l.at("/params/prompt/0/annotations/audience").is_array() {
            l.refuse(-32602);
        }
    }),
    wire("ACPX-PROMPT-004", Answer("session/prompt"), |l| {
        if l.at("/result/stopReason") == "refusal" {
            l.set("/result/stopReason", "end_turn");
        }
    }),
    wire("ACPX-PROMPT-005", Answer("session/prompt"), |l| {
        l.update(
            &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": CHUNK}}),
        );
    })
    .implying(
        &["ACP-CANCEL-002", "ACPX-CREQ-006", "ACPX-TR-013"],
        "what follows every answer follows that of a cancelled turn, and is one chunk more",
    ),
    wire("ACPX-PROMPT-006", Update("agent_message_chunk"), |l| {
        l.set("/params/update/messageId", "first");
        for id in ["second", "first"] {
            let content = json!({"type": "text", "text": "x"});
            l.update(&json!({"sessionUpdate": "agent_message_chunk", "content": content, "messageId": id}));
        }
    }),
    wire("ACPX-PROMPT-008", Update("usage_update"), |l| l.set("/params/update/used", -1))
        .implying(&["ACP-SCHEMA-001"], FORM),
    wire("ACPX-PROMPT-009", FromAgent, |l| {
        if l.json["params"]["update"]["sessionUpdate"] == "tool_call" {
            l.hold();
        } else if l.method == "session/request_permission" {
            l.release();
        }
    }),
    wire("ACPX-PERM-003", Update("tool_call"), |l| l.lose()),
    wire("ACPX-PROMPT-010", Update("agent_message_chunk"), |l| {
        if l.says(" turns") {
            l.replace("marmalade", "something");
        }
    }),
    wire("ACPX-PROMPT-011", Request("session/prompt"), |l| {
        if l.count("prompts") > 1 {
            l.lose();
        }
    })
    .implying(&["*"], "all second prompts of a process are meant")
    .with(&["--timeout=3"], &[]),
    wire("ACPX-PROMPT-013", Request("session/prompt"), |l| {
        if l.count("prompts") > 1 {
            l.hold();
        }
    })
    .implying(&["*"], "all second prompts of a process are meant")
    .with(&["--timeout=3"], &[]),
    wire("ACPX-PROMPT-014", Answer("session/prompt"), |l| {
        l.update(&json!({"sessionUpdate": "plan", "entries": []}));
    })
    .implying(
        &["ACP-CANCEL-002", "ACPX-CREQ-006"],
        "what follows every answer follows that of a cancelled turn, too",
    ),
    wire("ACPX-PLAN-001", Update("plan"), |l| {
        if l.count("plans") > 1 {
            l.lose();
        }
    }),
    wire("ACPX-PLAN-004", Update("plan"), |l| l.remove("/params/update/entries/0/priority"))
        .implying(&["ACP-SCHEMA-001"], FORM),
    wire("ACPX-CMD-002", Update("available_commands_update"), |l| {
        l.remove("/params/update/availableCommands/0/description");
    })
    .implying(&["ACP-SCHEMA-001", "ACP-PROMPT-002"], FORM),
    wire("ACPX-LIST-011", Update("session_info_update"), |l| l.set("/params/update/title", 5))
        .implying(&["ACP-SCHEMA-001", "ACP-PROMPT-002"], FORM),
    wire("ACPX-PROMPT-019", Request("session/prompt"), |l| {
        if !l.at("/params/prompt").is_array() {
            l.refuse(-32603);
        }
    }),
    wire("ACPX-PROMPT-020", Request("session/prompt"), |l| {
        if l.says("_accord/hologram") {
            l.exit();
        }
    }),
    wire("ACPX-PROMPT-022", Request("session/prompt"), |l| {
        if l.at("/params/prompt") == json!([]) {
            l.exit();
        }
    }),
    // Files that are named in prompts are below the session's directory.
    wire("ACPX-PERM-004", FromClient, |l| {
        if l.method == "session/new" {
            let cwd = l.at("/params/cwd");
            l.note("cwd", cwd);
        } else if l.says(" waits.txt") {
            l.write_file();
        }
    }),
    wire("ACPX-PERM-002", Ask("session/request_permission"), |l| l.set("/params/sessionId", "other"))
        .implying(&["ACPX-RPC-016"], "a question of no session is not answered as the tool needs it"),
];
