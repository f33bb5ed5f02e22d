//! The client's terminals, as an agent uses them: of its own session, not after their release.

use serde_json::Value;

use super::{Asked, Witness};
use crate::wire::frame::Direction;

/// A terminal that the client made.
#[derive(Debug)]
pub(super) struct Terminal {
    session: Value,
    released: bool,
}

impl Witness {
    /// The client answered terminal/create.
    pub(super) fn terminal_made(&mut self, asked: &Asked, result: &Value) {
        if let Some(id) = result["terminalId"].as_str() {
            let session = asked.params["sessionId"].clone();
            self.terminals.insert(id.to_owned(), Terminal { session, released: false });
        }
    }

    /// The agent calls one of the other terminal methods.
    pub(super) fn terminal_used(&mut self, method: &str, params: &Value) {
        let id = params["terminalId"].as_str().unwrap_or_default();
        let terminal = self.terminals.get_mut(id);
        let own = terminal.as_ref().is_some_and(|terminal| terminal.session == params["sessionId"]);
        let usable = terminal.as_ref().is_some_and(|terminal| !terminal.released);
        if method == "terminal/release"
            && let Some(terminal) = terminal
        {
            terminal.released = true;
        }
        self.agent_rule("ACPX-TERM-011", own && usable, || {
            format!("{method} for terminal {id}, which is of another session, released, or was never made")
        });
    }

    /// A tool call shows a terminal.
    pub(super) fn terminal_shown(&mut self, content: &Value) {
        let id = content["terminalId"].as_str().unwrap_or_default();
        // A client with extensions may have agreed to be shown terminals of the agent's own.
        let known = self.terminals.contains_key(id) || self.extends(Direction::ToClient);
        self.agent_rule("ACPX-TOOL-008", known, || {
            format!("terminal {id} was not made with terminal/create")
        });
    }
}
