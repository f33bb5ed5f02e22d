//! What stands inside messages: paths, options, their values, encodings.

use serde_json::Value;

use super::Witness;
use crate::wire::frame::Direction;

/// Whether a JSON value is an absolute path, of either family of systems.
pub(super) fn is_absolute(path: &Value) -> bool {
    path.as_str().is_some_and(|path| {
        let drive = path.as_bytes().get(1) == Some(&b':');
        path.starts_with('/') || path.starts_with("\\\\") || drive
    })
}

impl Witness {
    /// A tool call's report: where it happens, and what it shows.
    pub(super) fn tool_content(&mut self, report: &Value) {
        let locations = report["locations"].as_array().into_iter().flatten();
        for path in locations.map(|location| &location["path"]) {
            self.absolute(path);
        }
        for content in report["content"].as_array().into_iter().flatten() {
            match content["type"].as_str() {
                Some("diff") => self.absolute(&content["path"]),
                Some("terminal") => self.terminal_shown(content),
                Some("content") => self.encoded(Direction::ToClient, &content["content"]),
                _ => {}
            }
        }
    }

    /// A content block: what is said to be base64 is.
    pub(super) fn encoded(&mut self, direction: Direction, block: &Value) {
        let data = match block["type"].as_str() {
            Some("image" | "audio") => &block["data"],
            Some("resource") => &block["resource"]["blob"],
            _ => return,
        };
        if let Some(data) = data.as_str() {
            self.rule(direction, ("ACPX-CONTENT-002", "ACPX-CONTENT-002"), is_base64(data), || {
                "the data is not base64".into()
            });
        }
    }

    pub(super) fn absolute(&mut self, path: &Value) {
        self.agent_rule("ACPX-TOOL-009", is_absolute(path), || format!("the path {path} is not absolute"));
    }

    /// The options of a permission request.
    pub(super) fn permission_options(&mut self, params: &Value) {
        let options = params["options"].as_array().cloned().unwrap_or_default();
        let mut ids: Vec<&str> = options.iter().filter_map(|option| option["optionId"].as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let sound = !options.is_empty() && ids.len() == options.len();
        self.agent_rule("ACPX-PERM-013", sound, || "the options are empty or share an optionId".into());
    }

    /// A complete list of config options, wherever it stands.
    pub(super) fn config_options(&mut self, options: &Value) {
        let Some(options) = options.as_array() else { return };
        let boolean = self.offered.as_ref().is_some_and(|offer| {
            !offer["clientCapabilities"]["session"]["configOptions"]["boolean"].is_null()
        });
        let mut ids: Vec<&str> = Vec::new();
        for option in options {
            let id = option["id"].as_str().unwrap_or_default();
            let value = &option["currentValue"];
            let fits = match option["type"].as_str() {
                Some("boolean") => {
                    self.agent_rule("ACP-CONFIG-003", boolean, || {
                        format!("the boolean option {id} for a client that did not offer them")
                    });
                    value.is_boolean()
                }
                Some("select") => choices(&option["options"]).any(|choice| choice == value),
                _ => true,
            };
            self.agent_rule("ACP-CONFIG-001", fits, || {
                format!("option {id}: {value} is not among its values")
            });
            self.agent_rule("ACPX-CONFIG-001", !ids.contains(&id), || format!("option id {id} stands twice"));
            let category = option["category"].as_str().unwrap_or("_");
            let known = ["mode", "model", "model_config", "thought_level"];
            let sound = category.starts_with('_') || known.contains(&category);
            self.agent_rule("ACPX-CONFIG-015", sound, || {
                format!("option {id}: own categories start with `_`, not {category}")
            });
            ids.push(id);
        }
        self.agent_rule("ACP-CONFIG-003", true, String::new);
    }

    /// A session's modes, as new, load and resume give them.
    pub(super) fn modes(&mut self, modes: &Value) {
        let Some(available) = modes["availableModes"].as_array() else { return };
        let current = &modes["currentModeId"];
        let known = available.iter().any(|mode| &mode["id"] == current);
        self.agent_rule("ACP-MODES-001", known, || format!("the current mode {current} is not available"));
    }
}

/// The values of a select option, flat or grouped.
pub(super) fn choices(options: &Value) -> impl Iterator<Item = &Value> {
    options.as_array().into_iter().flatten().flat_map(|entry| {
        let group = entry["options"].as_array().into_iter().flatten();
        group.chain(std::iter::once(entry)).map(|choice| &choice["value"])
    })
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let letters = body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/');
    letters && text.len() - body.len() <= 2 && text.len().is_multiple_of(4)
}
