//! What is left after a process has ended.

use serde_json::json;

use crate::table::When::{Answer, Request};
use crate::table::{Act, Defect, acts, wire};

pub(super) const DEFECTS: &[Defect] = &[
    acts("ACPX-RESTART-001", Act::Forget),
    wire("ACPX-RESTART-002", Answer("session/list"), |l| {
        if l.memory.generation > 1 {
            l.set("/result/sessions", json!([]));
        }
    }),
    wire("ACPX-RESTART-003", Request("session/load"), |l| {
        if l.is_later() {
            l.refuse(-32002);
        }
    }),
    wire("ACPX-RESTART-004", Request("session/resume"), |l| {
        if l.is_later() {
            l.refuse(-32002);
        }
    }),
    wire("ACPX-RESTART-005", Answer("session/resume"), |l| {
        let options = l.at("/result/configOptions");
        for (place, option) in options.as_array().into_iter().flatten().enumerate() {
            let choices = option["options"].as_array().into_iter().flatten();
            let values = choices.flat_map(|choice| match choice["options"].as_array() {
                Some(group) => group.iter().map(|choice| choice["value"].clone()).collect(),
                None => vec![choice["value"].clone()],
            });
            if let Some(other) = values.into_iter().find(|value| *value != option["currentValue"]) {
                l.set(&format!("/result/configOptions/{place}/currentValue"), other);
            }
        }
    }),
    acts("ACPX-RESTART-006", Act::Forget),
    wire("ACPX-RESTART-007", Answer("session/list"), |l| {
        if l.memory.generation > 1 {
            l.remove("/result/sessions/0");
        }
    }),
    wire("ACPX-RESTART-008", Answer("session/list"), |l| {
        if l.memory.generation > 2 {
            l.set("/result/sessions", json!([]));
        }
    }),
];
