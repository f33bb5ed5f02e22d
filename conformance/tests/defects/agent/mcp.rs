//! MCP servers: how they are started, and how they end.

use serde_json::json;

use crate::line::leave_child;
use crate::table::When::{Answer, Request, Update};
use crate::table::{Defect, wire};

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACPX-MCP-001", Update(""), |l| {
        if l.says("1913401") {
            l.replace("1913401", "1");
        }
    }),
    wire("ACPX-MCP-002", Request("session/new"), |l| {
        if l.says("$HOME") {
            l.replace("$HOME", "/home/somebody");
        }
    }),
    wire("ACPX-MCP-003", Request("session/new"), |l| {
        if l.at("/params/mcpServers/1").is_object() {
            l.remove("/params/mcpServers/1");
        }
    }),
    wire("ACPX-MCP-004", Answer("initialize"), |l| l.remove("/result/agentCapabilities/mcpCapabilities")),
    wire("ACPX-MCP-005", Request("session/new"), |l| {
        if l.at("/params/mcpServers/0/headers").is_array() {
            l.set("/params/mcpServers/0/headers", json!([]));
        }
    }),
    // The subject takes none of these, and now says that it does.
    wire("ACPX-MCP-006", Answer("initialize"), |l| {
        l.set("/result/agentCapabilities/mcpCapabilities/sse", true);
    }),
    wire("ACPX-MCP-009", Request("session/new"), |l| {
        let typed = l.at("/params/mcpServers/0/type").is_string();
        if l.at("/params/mcpServers/0").is_object() && !typed {
            l.refuse(-32602);
        }
    })
    .implying(&["ACPX-MCP-001"], "who takes no such entry mounts no server"),
    wire("ACPX-MCP-010", Request("session/new"), |l| {
        if l.says("\"missing\"") {
            l.exit();
        }
    }),
    wire("ACPX-MCP-013", Request("session/new"), |l| {
        if l.says("--stubborn") {
            leave_child("--stubborn");
        }
    }),
];
