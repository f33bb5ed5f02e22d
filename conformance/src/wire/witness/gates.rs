//! Nothing is used that the other side did not offer.

use serde_json::Value;

use super::Witness;
use crate::wire::frame::Direction;

impl Witness {
    /// Judges a request or notification by what its receiver advertised.
    pub(super) fn gate(&mut self, direction: Direction, method: &str, params: &Value) {
        match direction {
            Direction::ToAgent => self.gate_client(method, params),
            Direction::ToClient => self.gate_agent(method, params),
        }
    }

    fn gate_agent(&mut self, method: &str, params: &Value) {
        let offer =
            self.offered.as_ref().map(|offer| offer["clientCapabilities"].clone()).unwrap_or_default();
        let (id, offered) = match method {
            "fs/read_text_file" | "fs/write_text_file" => {
                let member = if method.contains("read") { "readTextFile" } else { "writeTextFile" };
                let id = if offer["fs"].is_object() { "ACPX-FS-001" } else { "ACP-CLIENTCAP-001" };
                (id, offer["fs"][member] == true)
            }
            _ if method.starts_with("terminal/") => ("ACP-CLIENTCAP-002", offer["terminal"] == true),
            "elicitation/create" => {
                let mode = params["mode"].as_str().unwrap_or_default();
                let offered = !offer["elicitation"][mode].is_null();
                self.agent_rule("ACPX-ELIC-001", offered, || {
                    format!("elicitation mode {mode:?} was not offered")
                });
                ("ACP-CLIENTCAP-003", offered)
            }
            "session/update" => return self.gate_update(&offer["session"], &params["update"]),
            _ => return,
        };
        self.agent_rule(id, offered, || format!("the client did not offer what {method} needs"));
    }

    fn gate_update(&mut self, offer: &Value, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("notice") => self.agent_rule("ACPX-NOTICE-001", !offer["notices"].is_null(), || {
                "a notice for a client that did not offer session.notices".into()
            }),
            Some("compaction_update" | "compaction_summary_chunk") => {
                self.agent_rule("ACPX-COMPACT-001", !offer["compaction"].is_null(), || {
                    "a compaction update for a client that did not offer session.compaction".into()
                });
            }
            _ => {}
        }
    }

    fn gate_client(&mut self, method: &str, params: &Value) {
        let Some(answer) = &self.answered else { return };
        let offer = answer["agentCapabilities"].clone();
        let session = &offer["sessionCapabilities"];
        let (id, offered) = match method {
            "session/load" => ("ACPX-LOAD-001", offer["loadSession"] == true),
            "session/list" => ("ACPX-LIST-001", !session["list"].is_null()),
            "session/resume" => ("ACPX-RESUME-001", !session["resume"].is_null()),
            "session/close" => ("ACPX-CLOSE-001", !session["close"].is_null()),
            "session/delete" => ("ACPX-DELETE-001", !session["delete"].is_null()),
            "logout" => ("ACPX-AUTH-010", !offer["auth"]["logout"].is_null()),
            "authenticate" => return self.gate_authenticate(params),
            "session/prompt" => return self.gate_prompt(&offer["promptCapabilities"], params),
            _ => return self.gate_setup(&offer, params),
        };
        self.client_rule(id, offered, || format!("{method} was not advertised"));
        self.gate_setup(&offer, params);
    }

    fn gate_authenticate(&mut self, params: &Value) {
        let methods = self.answered.as_ref().map(|answer| answer["authMethods"].clone()).unwrap_or_default();
        let wanted = &params["methodId"];
        let chosen = methods.as_array().into_iter().flatten().find(|method| &method["id"] == wanted);
        self.client_rule("ACPX-AUTH-004", chosen.is_some(), || format!("{wanted} is no advertised method"));
        let terminal = chosen.is_some_and(|method| method["type"] == "terminal");
        self.client_rule("ACPX-AUTH-005", !terminal, || format!("{wanted} is a terminal method"));
    }

    fn gate_prompt(&mut self, offer: &Value, params: &Value) {
        for block in params["prompt"].as_array().into_iter().flatten() {
            let kind = block["type"].as_str().unwrap_or_default();
            let offered = match kind {
                "text" | "resource_link" => true,
                "resource" => offer["embeddedContext"] == true,
                other => offer[other] == true,
            };
            self.encoded(Direction::ToAgent, block);
            self.client_rule("ACPX-PROMPT-002", offered, || {
                format!("the agent does not take {kind:?} blocks")
            });
        }
    }

    /// What session/new, load, resume and list have in common.
    fn gate_setup(&mut self, offer: &Value, params: &Value) {
        for server in params["mcpServers"].as_array().into_iter().flatten() {
            if server["type"].is_null() {
                let absolute = super::content::is_absolute(&server["command"]);
                self.client_rule("ACPX-MCP-008", absolute, || {
                    format!("the command {} is not absolute", server["command"])
                });
            } else if server["type"] == "stdio" {
                self.client_rule("ACPX-MCP-008", false, || "an entry for stdio has no type".into());
            } else if let Some(kind @ ("http" | "sse")) = server["type"].as_str() {
                let offered = offer["mcpCapabilities"][kind] == true;
                self.client_rule("ACPX-MCP-007", offered, || {
                    format!("the agent does not take {kind} MCP servers")
                });
            }
        }
        if let Some(roots) = params["additionalDirectories"].as_array() {
            let offered = !offer["sessionCapabilities"]["additionalDirectories"].is_null();
            self.client_rule("ACPX-ADDDIRS-001", offered, || {
                "additionalDirectories were not advertised".into()
            });
            let absolute = roots.iter().all(super::content::is_absolute);
            self.client_rule("ACPX-ADDDIRS-002", absolute, || {
                "an additional directory is not absolute".into()
            });
        }
        if let Some(cwd) = params.get("cwd").filter(|cwd| !cwd.is_null()) {
            let absolute = super::content::is_absolute(cwd);
            self.client_rule("ACPX-SESS-001", absolute, || format!("cwd {cwd} is not absolute"));
        }
    }

    /// The agent's introduction: an authentication method for a terminal needs a client that has one.
    pub(super) fn introduced(&mut self, result: &Value) {
        let terminal = self
            .offered
            .as_ref()
            .is_some_and(|offer| offer["clientCapabilities"]["auth"]["terminal"] == true);
        let methods = result["authMethods"].as_array().cloned().unwrap_or_default();
        let fine = terminal || !methods.iter().any(|method| method["type"] == "terminal");
        self.agent_rule("ACP-AUTH-002", fine, || {
            "a terminal method for a client without auth.terminal".into()
        });
        let mut ids: Vec<&Value> = methods.iter().map(|method| &method["id"]).collect();
        ids.sort_by_key(ToString::to_string);
        ids.dedup();
        let unique = ids.len() == methods.len();
        self.agent_rule("ACP-AUTH-001", unique, || "two authMethods share an id".into());
    }

    /// A URL elicitation: its id is in use once, its address carries no credentials.
    pub(super) fn url_asked(&mut self, params: &Value) {
        let id = params["elicitationId"].as_str().unwrap_or_default().to_owned();
        let fresh = self.elicitations.insert(id.clone());
        self.agent_rule("ACPX-ELIC-016", fresh, || format!("elicitation id {id} is in use already"));
        let url = params["url"].as_str().unwrap_or_default();
        let authority =
            url.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or_default());
        self.agent_rule("ACPX-ELIC-020", !authority.contains('@'), || "the URL carries credentials".into());
    }

    /// A turn is over in which the agent could have used what the client did not offer.
    pub(super) fn gates_held(&mut self) {
        let offer =
            self.offered.as_ref().map(|offer| offer["clientCapabilities"].clone()).unwrap_or_default();
        let held = [
            ("ACP-CLIENTCAP-001", offer["fs"].is_null()),
            ("ACP-CLIENTCAP-002", offer["terminal"] != true),
            ("ACP-CLIENTCAP-003", offer["elicitation"].is_null()),
            ("ACPX-NOTICE-001", offer["session"]["notices"].is_null()),
            ("ACPX-COMPACT-001", offer["session"]["compaction"].is_null()),
        ];
        for (id, _) in held.into_iter().filter(|(_, closed)| *closed) {
            self.agent_rule(id, true, String::new);
        }
    }
}
