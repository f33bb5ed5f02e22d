//! What a client has to live through, and how it ends.

use crate::line::{Line, leave_child, spoil_end};
use crate::table::When::{Answer, Any, FromAgent, Update};
use crate::table::{Act, Defect, acts, wire};

/// The connection breaks at the first line that says this.
fn breaks_at(l: &mut Line<'_>, text: &str) {
    if l.says(text) {
        l.exit();
    }
}

const ONE_SCRIPT: &str = "both are seen in the same exchange";

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACPX-TR-007", FromAgent, |l| breaks_at(l, "one byte at a time")),
    wire("ACPX-TR-010", FromAgent, |l| breaks_at(l, "}\r")),
    wire("ACPX-TR-011", FromAgent, |l| {
        if l.raw.is_empty() {
            l.exit();
        }
    }),
    wire("ACPX-TR-012", FromAgent, |l| {
        if l.raw.len() > 10_000_000 {
            l.exit();
        }
    }),
    wire("ACPX-TR-014", FromAgent, |l| {
        if l.raw == b"42" {
            l.exit();
        }
    }),
    wire("ACPX-TR-016", FromAgent, |l| {
        if l.method == "initialize" {
            leave_child("forgotten");
        }
    }),
    acts("ACPX-TR-017", Act::Status(0)),
    wire("ACPX-TR-018", FromAgent, |l| breaks_at(l, "Once upon a time"))
        .implying(&["*"], "an ordinary session is what all others are measured by"),
    wire("ACPX-RPC-015", FromAgent, |l| breaks_at(l, r#""x/y""#)),
    wire("ACPX-EXT-005", FromAgent, |l| breaks_at(l, "_accord/news")),
    wire("ACPX-RPC-017", FromAgent, |l| {
        if l.at("/id") == 99_999 {
            l.exit();
        }
    }),
    wire("ACPX-RPC-018", FromAgent, |l| {
        if l.at("/error/code") == 4242 {
            l.lose();
        }
    })
    .with(&["--timeout=8"], &[]),
    wire("ACPX-RPC-019", FromAgent, |l| {
        if l.at("/error/data").is_array() {
            l.lose();
        }
    })
    .with(&["--timeout=8"], &[]),
    wire("ACPX-RPC-022", FromAgent, |l| breaks_at(l, "nowhere")),
    wire("ACPX-RPC-023", FromAgent, |l| breaks_at(l, "\"future\""))
        .implying(&["ACPX-PERM-007"], "an unknown option kind is of the future, too"),
    wire("ACPX-CREQ-004", FromAgent, |l| {
        if l.method == "$/cancel_request" && l.at("/params/requestId").is_object() {
            l.exit();
        }
    })
    .implying(&["ACPX-CREQ-001"], ONE_SCRIPT),
    wire("ACPX-EXT-008", FromAgent, |l| breaks_at(l, "with meta")).implying(&["ACPX-SESS-015"], ONE_SCRIPT),
    wire("ACPX-SESS-015", FromAgent, |l| breaks_at(l, "with meta")).implying(&["ACPX-EXT-008"], ONE_SCRIPT),
    wire("ACPX-INIT-007", Answer("initialize"), |l| breaks_at(l, "\"embeddedContext\"")),
    wire("ACPX-INIT-011", Answer("initialize"), |l| breaks_at(l, "teleport")),
    wire("ACPX-INIT-012", Answer("initialize"), |l| breaks_at(l, "perhaps")),
    wire("ACPX-SESS-017", Answer("session/new"), |l| {
        if l.says("availableModes") && l.says("configOptions") {
            l.exit();
        }
    }),
    wire("ACPX-CONFIG-009", Answer("session/new"), |l| breaks_at(l, "future_category")),
    wire("ACPX-CONFIG-010", Answer("session/new"), |l| breaks_at(l, "slider")),
    wire("ACPX-CONFIG-014", Update("config_option_update"), |l| l.exit()),
    wire("ACPX-MODE-005", Update("current_mode_update"), |l| l.exit()),
    wire("ACPX-LIST-012", Update("session_info_update"), |l| l.exit()),
    wire("ACPX-PROMPT-007", Update("agent_message_chunk"), |l| {
        if l.text() == "second-" {
            l.hold();
        } else if l.text() == "third-" {
            l.release();
        }
    }),
    // The client has ended by then, or is about to: it tells of a failure.
    wire("ACPX-PROMPT-015", FromAgent, |l| {
        if l.says("and one more thing") {
            spoil_end(Some(3));
        }
    }),
    wire("ACPX-PROMPT-016", Answer("session/prompt"), |l| {
        if l.says("refusal") {
            l.lose();
        }
    })
    .with(&["--timeout=8"], &[]),
    wire("ACPX-PROMPT-017", Answer("session/prompt"), |l| {
        if l.says("_accord_exploded") {
            l.lose();
        }
    })
    .with(&["--timeout=8"], &[]),
    wire("ACPX-CANCEL-010", Any, |l| {
        if l.method == "session/cancel" {
            spoil_end(None);
        }
    }),
    wire("ACPX-CANCEL-011", Any, |l| {
        if l.method == "session/cancel" {
            spoil_end(None);
        }
    }),
    wire("ACPX-TOOL-005", FromAgent, |l| breaks_at(l, "never-announced")),
    wire("ACPX-TOOL-011", FromAgent, |l| breaks_at(l, "Work again")),
    wire("ACPX-TOOL-013", Update("tool_call"), |l| breaks_at(l, "teleport")),
    wire("ACPX-TOOL-014", FromAgent, |l| breaks_at(l, "raw-3")),
    wire("ACPX-PLAN-003", Update("plan"), |l| breaks_at(l, "\"one\"")),
    wire("ACPX-CMD-003", Update("available_commands_update"), |l| breaks_at(l, "\"stop\"")),
    wire("ACPX-CONTENT-004", Update("agent_thought_chunk"), |l| breaks_at(l, "\"image\"")),
    wire("ACPX-CONTENT-005", FromAgent, |l| breaks_at(l, "annotated")),
    wire("ACPX-CONTENT-006", Update("hologram"), |l| l.exit()),
    wire("ACPX-NOTICE-003", Update("notice"), |l| breaks_at(l, "apocalyptic")),
    wire("ACPX-COMPACT-003", Update("compaction_update"), |l| breaks_at(l, "half_way_there")),
];
