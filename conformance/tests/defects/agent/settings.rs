//! Config options and modes.

use serde_json::{Value, json};

use crate::line::Line;
use crate::table::When::{Answer, Request, Update};
use crate::table::{Defect, wire};

/// Where lists of options stand.
const LISTS: [&str; 2] = ["/result/configOptions", "/params/update/configOptions"];

/// Leaves only the first option of a list.
fn cut(l: &mut Line<'_>) {
    for list in LISTS {
        if let Value::Array(options) = l.at(list) {
            l.set(list, json!([options[0]]));
        }
    }
}

pub(super) const DEFECTS: &[Defect] = &[
    wire("ACP-CONFIG-001", Answer("session/new"), |l| {
        l.set("/result/configOptions/0/currentValue", "nonsense");
    }),
    wire("ACP-CONFIG-002", Answer("session/set_config_option"), cut),
    wire("ACPX-CONFIG-001", Answer("session/new"), |l| {
        let first = l.at("/result/configOptions/0");
        l.push("/result/configOptions", first);
    }),
    wire("ACPX-CONFIG-003", Update("config_option_update"), cut),
    wire("ACPX-CONFIG-004", Request("session/set_config_option"), |l| {
        if l.at("/params/configId") == "accord-made-up" {
            l.answer(&json!({"configOptions": []}));
        }
    }),
    wire("ACPX-CONFIG-005", Request("session/set_config_option"), |l| {
        if l.waits("session/prompt") {
            l.refuse(-32603);
        }
    }),
    wire("ACPX-CONFIG-007", Answer("session/new"), |l| {
        let options = l.at("/result/configOptions");
        let others = options.as_array().into_iter().flatten().filter(|option| option["category"] != "mode");
        let others: Vec<Value> = others.cloned().collect();
        l.set("/result/configOptions", others);
    }),
    wire("ACPX-CONFIG-012", Answer("session/set_config_option"), |l| {
        if let Some(set) = l.asked["value"].as_bool() {
            let options = l.at("/result/configOptions");
            let place =
                options.as_array().and_then(|all| all.iter().position(|option| option["type"] == "boolean"));
            l.set(&format!("/result/configOptions/{}/currentValue", place.unwrap_or_default()), !set);
        }
    }),
    wire("ACP-CONFIG-003", Answer("session/new"), |l| {
        l.push(
            "/result/configOptions",
            json!({"id": "b", "name": "B", "type": "boolean", "currentValue": true}),
        );
    }),
    wire("ACPX-CONFIG-015", Answer("session/new"), |l| l.set("/result/configOptions/0/category", "own")),
    wire("ACP-MODES-001", Answer("session/new"), |l| l.set("/result/modes/currentModeId", "nonsense")),
    wire("ACP-MODES-002", Request("session/set_mode"), |l| {
        if !l.says("accord-made-up") && !l.waits("session/prompt") {
            l.refuse(-32603);
        }
    })
    .implying(&["ACPX-CONFIG-003"], "its check sets a mode"),
    wire("ACPX-MODE-002", Request("session/set_mode"), |l| {
        if l.waits("session/prompt") {
            l.refuse(-32603);
        }
    }),
    wire("ACPX-MODE-003", Update("current_mode_update"), |l| l.lose()),
    wire("ACPX-MODE-004", Request("session/set_mode"), |l| {
        if l.says("accord-made-up") {
            l.answer(&json!({}));
        }
    }),
];
