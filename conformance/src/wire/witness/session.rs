//! The order of things within a session: setup, turns, updates, restore, close.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Asked, Witness};
use crate::wire::frame::Direction;

/// The sessions of the connection, and updates that came before their session was known.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    known: BTreeMap<String, Session>,
    early: Vec<(usize, String)>,
}

/// What the witness remembers of a session.
#[derive(Debug, Default)]
pub(super) struct Session {
    phase: Phase,
    /// Prompts that were not answered yet, the running one first.
    prompts: Vec<Turn>,
    last: Last,
    pub(super) turns: usize,
    pub(super) tools: BTreeMap<String, super::tools::Tool>,
    /// Tool calls made before this connection are unknown to the witness.
    pub(super) restored: bool,
    config: Value,
    modes: Value,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    Loading,
    Resuming,
    Closed,
}

/// What ended last in a session without a turn; it decides which requirement a late update breaks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Last {
    #[default]
    Setup,
    Load,
    Turn,
    CancelledTurn,
}

#[derive(Debug)]
struct Turn {
    request: String,
    cancelled: bool,
}

const HISTORY: [&str; 6] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
];

impl Witness {
    pub(super) fn session(&mut self, params: &Value) -> Option<&mut Session> {
        self.sessions.known.get_mut(params["sessionId"].as_str()?)
    }

    /// A request went out.
    pub(super) fn asked(&mut self, direction: Direction, id: &Value, method: &str, params: &Value) {
        if direction == Direction::ToClient {
            return self.agent_asked(method, params);
        }
        if let Some(session) = self.session(params) {
            // What comes after the client's next word may be an answer to that.
            session.last = Last::Setup;
        }
        match method {
            "session/load" => self.restoring(params, Phase::Loading),
            "session/resume" => self.restoring(params, Phase::Resuming),
            "session/prompt" => self.prompted(id, params),
            "session/set_mode" => self.mode_chosen(params),
            "session/set_config_option" => self.option_chosen(params),
            _ => {}
        }
    }

    fn restoring(&mut self, params: &Value, phase: Phase) {
        let Some(id) = params["sessionId"].as_str() else { return };
        let session = self.sessions.known.entry(id.to_owned()).or_default();
        session.phase = phase;
        session.restored = true;
        session.tools.clear();
    }

    fn prompted(&mut self, id: &Value, params: &Value) {
        let request = id.to_string();
        let Some(session) = self.session(params) else { return };
        let busy = !session.prompts.is_empty();
        session.turns += usize::from(!busy);
        session.prompts.push(Turn { request, cancelled: false });
        self.client_rule("ACPX-PROMPT-012", !busy, || "a second prompt while one runs".into());
    }

    fn mode_chosen(&mut self, params: &Value) {
        let Some(modes) = self.session(params).map(|session| session.modes.clone()) else { return };
        let Some(available) = modes["availableModes"].as_array() else { return };
        let mode = &params["modeId"];
        let known = available.iter().any(|known| &known["id"] == mode);
        self.client_rule("ACPX-MODE-001", known, || format!("mode {mode} is not available"));
    }

    fn option_chosen(&mut self, params: &Value) {
        let Some(config) = self.session(params).map(|session| session.config.clone()) else { return };
        let mut options = config.as_array().into_iter().flatten();
        let Some(option) = options.find(|option| option["id"] == params["configId"]) else { return };
        if option["type"] == "boolean" {
            let fits = params["type"] == "boolean" && params["value"].is_boolean();
            self.client_rule("ACPX-CONFIG-012", fits, || "a boolean option is not set with a boolean".into());
        }
        if option["type"] == "select" {
            let value = &params["value"];
            let offered = super::content::choices(&option["options"]).any(|choice| choice == value);
            self.client_rule("ACPX-CONFIG-013", offered, || format!("value {value} is not offered"));
        }
    }

    /// A notification went out.
    pub(super) fn notified(&mut self, direction: Direction, method: &str, params: &Value) {
        match (direction, method) {
            (Direction::ToAgent, "session/cancel") => {
                if let Some(session) = self.session(params) {
                    session.prompts.iter_mut().for_each(|turn| turn.cancelled = true);
                }
            }
            (Direction::ToClient, "session/update") => self.updated(params),
            _ => {}
        }
    }

    fn updated(&mut self, params: &Value) {
        let update = &params["update"];
        let kind = update["sessionUpdate"].as_str().unwrap_or_default();
        let history = HISTORY.contains(&kind);
        let frame = self.frame;
        let Some(session) = self.session(params) else {
            if let Some(id) = params["sessionId"].as_str() {
                self.sessions.early.push((frame, id.to_owned()));
            }
            return;
        };
        let idle = session.prompts.is_empty() && history;
        match (session.phase, session.last) {
            (Phase::Resuming, _) => {
                let id = if kind.ends_with("chunk") { "ACP-RESUME-002" } else { "ACPX-RESUME-002" };
                self.agent_rule(id, !history, || format!("{kind} before the answer to session/resume"));
            }
            (Phase::Loading, _) | (Phase::Open, Last::Setup) => {}
            (Phase::Closed, _) => {
                self.agent_rule("ACPX-CLOSE-002", false, || format!("{kind} after the session was closed"));
            }
            (Phase::Open, Last::Load) => {
                self.agent_rule("ACP-LOAD-002", !idle, || format!("{kind} after the answer to session/load"));
            }
            (Phase::Open, Last::CancelledTurn) => {
                self.agent_rule("ACP-CANCEL-002", !idle, || {
                    format!("{kind} after the cancelled turn was answered")
                });
            }
            (Phase::Open, Last::Turn) => {
                self.agent_rule("ACPX-PROMPT-014", !idle, || format!("{kind} after the turn was answered"));
            }
        }
        self.tool_reported(params, kind);
        self.special_update(update);
        self.encoded(Direction::ToClient, &update["content"]);
        if kind == "config_option_update" {
            self.config_options(&update["configOptions"]);
            if let Some(session) = self.session(params) {
                session.config = update["configOptions"].clone();
            }
        }
    }

    /// An answer came.
    pub(super) fn replied(
        &mut self,
        direction: Direction,
        id: &Value,
        asked: &Asked,
        outcome: Result<&Value, &Value>,
    ) {
        if direction == Direction::ToAgent {
            return self.client_replied(asked, outcome);
        }
        match (asked.method.as_str(), outcome) {
            ("session/new", Ok(result)) => self.created(result),
            ("session/load" | "session/resume", _) => self.restored(asked, outcome),
            ("session/prompt", _) => self.turn_ended(id, asked, outcome),
            ("session/close", Ok(_)) => {
                if let Some(session) = self.session(&asked.params) {
                    session.phase = Phase::Closed;
                }
            }
            ("session/set_config_option", Ok(result)) => {
                self.config_options(&result["configOptions"]);
                if let Some(session) = self.session(&asked.params) {
                    session.config = result["configOptions"].clone();
                }
            }
            ("session/list", Ok(result)) => self.listed(result),
            _ => {}
        }
    }

    fn created(&mut self, result: &Value) {
        let Some(id) = result["sessionId"].as_str() else { return };
        let fresh = !self.sessions.known.contains_key(id);
        self.agent_rule("ACP-SESSION-002", fresh, || format!("session id {id} was given before"));
        let early = self.sessions.early.iter().any(|(_, other)| other == id);
        self.agent_rule("ACPX-SESS-013", !early, || {
            format!("session {id} had updates before the answer to session/new named it")
        });
        self.sessions.known.insert(id.to_owned(), Session::default());
        self.remember(id, result);
    }

    fn restored(&mut self, asked: &Asked, outcome: Result<&Value, &Value>) {
        let Some(id) = asked.params["sessionId"].as_str() else { return };
        let Some(session) = self.sessions.known.get_mut(id) else { return };
        let Ok(result) = outcome else {
            // Whether the session existed before is not for a refusal to say.
            session.phase = Phase::Open;
            return;
        };
        let resumed = session.phase == Phase::Resuming;
        session.last = if resumed { Last::Setup } else { Last::Load };
        session.phase = Phase::Open;
        session.prompts.clear();
        let id_kept = if resumed { "ACP-RESUME-002" } else { "ACP-LOAD-002" };
        self.agent_rule(id_kept, true, String::new);
        self.remember(id, result);
    }

    fn remember(&mut self, id: &str, result: &Value) {
        self.config_options(&result["configOptions"]);
        self.modes(&result["modes"]);
        if let Some(session) = self.sessions.known.get_mut(id) {
            session.config = result["configOptions"].clone();
            session.modes = result["modes"].clone();
        }
    }

    fn turn_ended(&mut self, id: &Value, asked: &Asked, outcome: Result<&Value, &Value>) {
        let request = id.to_string();
        let Some(session) = self.session(&asked.params) else { return };
        let Some(place) = session.prompts.iter().position(|turn| turn.request == request) else { return };
        let turn = session.prompts.remove(place);
        session.last = if turn.cancelled { Last::CancelledTurn } else { Last::Turn };
        if turn.cancelled {
            self.agent_rule("ACP-CANCEL-001", outcome.is_ok(), || {
                "the cancelled prompt is answered with an error".into()
            });
        }
        self.gates_held();
        self.agent_rule("ACPX-PROMPT-014", true, String::new);
        if self.session(&asked.params).is_some_and(|session| session.prompts.is_empty()) {
            self.tools_ended(asked);
        }
    }

    fn listed(&mut self, result: &Value) {
        for entry in result["sessions"].as_array().into_iter().flatten() {
            let absolute = super::content::is_absolute(&entry["cwd"]);
            self.agent_rule("ACPX-LIST-002", absolute, || format!("cwd {} is not absolute", entry["cwd"]));
        }
    }

    fn client_replied(&mut self, asked: &Asked, outcome: Result<&Value, &Value>) {
        let Ok(result) = outcome else { return };
        if asked.method == "terminal/create" {
            self.terminal_made(asked, result);
        }
        if asked.method != "session/request_permission" {
            return;
        }
        let outcome = &result["outcome"];
        let cancelled = self
            .session(&asked.params)
            .is_some_and(|session| session.prompts.iter().any(|turn| turn.cancelled));
        if cancelled {
            let fine = outcome["outcome"] == "cancelled";
            self.client_rule("ACPX-PERM-009", fine, || {
                "after a cancel the outcome must be `cancelled`".into()
            });
            self.client_rule("ACPX-CANCEL-008", fine, || {
                "after a cancel the outcome must be `cancelled`".into()
            });
        }
        if outcome["outcome"] == "selected" {
            let options = asked.params["options"].as_array().cloned().unwrap_or_default();
            let offered = options.iter().any(|option| option["optionId"] == outcome["optionId"]);
            self.client_rule("ACPX-PERM-007", offered, || {
                format!("option {} was not offered", outcome["optionId"])
            });
        }
    }
}
