//! Tool calls: announced before they are updated or need permission, ended before their turn ends.

use serde_json::Value;

use super::{Asked, Witness};

/// A tool call that was announced.
#[derive(Debug)]
pub(super) struct Tool {
    turn: usize,
    ended: bool,
}

impl Witness {
    /// A `tool_call` or `tool_call_update`; other kinds of update are left alone.
    pub(super) fn tool_reported(&mut self, params: &Value, kind: &str) {
        let update = &params["update"];
        let id = update["toolCallId"].as_str().unwrap_or_default().to_owned();
        let ended = matches!(update["status"].as_str(), Some("completed" | "failed"));
        let Some(session) = self.session(params) else { return };
        match kind {
            "tool_call" => {
                let turn = session.turns;
                let reused = session.tools.get(&id).is_some_and(|tool| tool.turn != turn);
                session.tools.insert(id.clone(), Tool { turn, ended });
                self.agent_rule("ACPX-TOOL-002", !reused, || {
                    format!("tool call id {id} was used in an earlier turn")
                });
            }
            "tool_call_update" => {
                let excused = session.restored;
                let tool = session.tools.get_mut(&id);
                let announced = tool.is_some() || excused;
                if let Some(tool) = tool {
                    tool.ended |= ended;
                }
                self.agent_rule("ACPX-TOOL-005", announced, || format!("tool call {id} was not announced"));
            }
            _ => return,
        }
        self.tool_content(update);
    }

    /// The agent asks the client for something.
    pub(super) fn agent_asked(&mut self, method: &str, params: &Value) {
        match method {
            "session/request_permission" => {
                self.permission_options(params);
                self.tool_content(&params["toolCall"]);
                let id = params["toolCall"]["toolCallId"].as_str().unwrap_or_default().to_owned();
                let Some(session) = self.session(params) else { return };
                let announced = session.tools.contains_key(&id);
                self.agent_rule("ACPX-PERM-003", announced, || {
                    format!("permission for tool call {id} before the call was announced")
                });
            }
            "fs/read_text_file" | "fs/write_text_file" => self.absolute(&params["path"]),
            "terminal/create" if !params["cwd"].is_null() => self.absolute(&params["cwd"]),
            "terminal/create" => {}
            _ if method.starts_with("terminal/") => self.terminal_used(method, params),
            "elicitation/create" if params["mode"] == "url" => self.url_asked(params),
            _ => {}
        }
    }

    /// The turn that `asked` began is over: what it started must have ended.
    pub(super) fn tools_ended(&mut self, asked: &Asked) {
        let Some(session) = self.session(&asked.params) else { return };
        let turn = session.turns;
        let of_turn = session.tools.iter().filter(|(_, tool)| tool.turn == turn);
        let open: Vec<String> = of_turn.filter(|(_, tool)| !tool.ended).map(|(id, _)| id.clone()).collect();
        let any = session.tools.values().any(|tool| tool.turn == turn);
        if any {
            self.agent_rule("ACPX-TOOL-007", open.is_empty(), || {
                format!("the turn was answered while tool calls were open: {}", open.join(", "))
            });
        }
    }
}
