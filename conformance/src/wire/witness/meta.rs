//! What is the same for every message: error texts, trace context, extensions.

use serde_json::Value;

use super::Witness;
use crate::wire::frame::Direction;

impl Witness {
    /// An error's message is for people: one line, and not empty.
    pub(super) fn error_message(&mut self, direction: Direction, error: &Value) {
        let message = error["message"].as_str().unwrap_or_default();
        let sound = !message.trim().is_empty() && !message.contains('\n');
        if direction == Direction::ToClient {
            self.agent_rule("ACP-ERROR-001", sound, || format!("the error message is {message:?}"));
        }
    }

    /// `traceparent`, `tracestate` and `baggage` hold W3C trace context, and nothing else.
    pub(super) fn trace_context(&mut self, direction: Direction, body: &Value) {
        let meta = &body["_meta"];
        let rule = ("ACPX-EXT-007", "ACPX-EXT-007");
        if let Some(parent) = meta.get("traceparent") {
            self.rule(direction, rule, is_traceparent(parent), || format!("traceparent is {parent}"));
        }
        for name in ["tracestate", "baggage"] {
            if let Some(value) = meta.get(name) {
                self.rule(direction, rule, value.is_string(), || format!("{name} is {value}"));
            }
        }
    }

    /// Whether the side that receives `direction` advertised extensions of any kind.
    pub(super) fn extends(&self, direction: Direction) -> bool {
        let advertised = match direction {
            Direction::ToClient => self.offered.as_ref().map(|offer| &offer["clientCapabilities"]),
            Direction::ToAgent => self.answered.as_ref().map(|answer| &answer["agentCapabilities"]),
        };
        advertised.is_some_and(|capabilities| capabilities.to_string().contains("\"_meta\":{\""))
    }
}

/// `version-trace-parent-flags` in lower-case hexadecimal.
fn is_traceparent(value: &Value) -> bool {
    let parts: Vec<&str> = value.as_str().unwrap_or_default().split('-').collect();
    let hex = |part: &str| part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lengths == [2, 32, 16, 2] && parts.iter().all(|part| hex(part))
}
