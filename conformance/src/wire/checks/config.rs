//! Config options and modes: complete states, changes at any time, values that are not offered.

use serde_json::{Value, json};

use super::prompts::turn;
use super::{Check, Gate, gated};
use crate::wire::case::{Case, new_session, prompt};
use crate::wire::client::Client;
use crate::wire::schema;
use crate::wire::verdict::{Judged, ensure, inconclusive};

const OPTIONS: Gate = Gate::Session("configOptions");
const MODES: Gate = Gate::Session("modes");

pub(super) const CHECKS: &[Check] = &[
    gated("ACP-CONFIG-001", OPTIONS, values_fit),
    gated("ACP-CONFIG-002", OPTIONS, complete_answer),
    gated("ACPX-CONFIG-001", OPTIONS, options_fit),
    gated("ACPX-CONFIG-002", OPTIONS, defaults_work),
    gated("ACPX-CONFIG-003", OPTIONS, complete_update),
    gated("ACPX-CONFIG-004", OPTIONS, not_offered),
    gated("ACPX-CONFIG-005", OPTIONS, in_a_turn),
    gated("ACPX-CONFIG-007", MODES, modes_as_option),
    gated("ACPX-CONFIG-012", OPTIONS, boolean),
    gated("ACP-MODES-001", MODES, modes_fit),
    gated("ACP-MODES-002", MODES, sets_mode),
    gated("ACPX-MODE-002", MODES, mode_in_a_turn),
    gated("ACPX-MODE-003", MODES, own_change),
    gated("ACPX-MODE-004", MODES, unknown_mode),
];

/// The values that a select option offers, flat or grouped.
fn values(option: &Value) -> Vec<Value> {
    let entries = option["options"].as_array().into_iter().flatten();
    let flat = entries.flat_map(|entry| match entry["options"].as_array() {
        Some(group) => group.clone(),
        None => vec![entry.clone()],
    });
    flat.map(|choice| choice["value"].clone()).collect()
}

/// An option's id and a value that it does not have now.
pub(super) fn other_value(option: &Value) -> Option<(String, Value)> {
    let id = option["id"].as_str()?.to_owned();
    let other = values(option).into_iter().find(|value| *value != option["currentValue"])?;
    Some((id, other))
}

/// The current value of an option in a list.
pub(super) fn current(options: &Value, id: &str) -> Option<Value> {
    let mut options = options.as_array()?.iter();
    options.find(|option| option["id"] == id).map(|option| option["currentValue"].clone())
}

fn created(case: &mut Case<'_>) -> Judged<(Client, Value)> {
    let mut client = case.ready()?;
    let result = client.call("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}))?;
    Ok((client, result))
}

fn options(result: &Value) -> Vec<Value> {
    result["configOptions"].as_array().cloned().unwrap_or_default()
}

fn values_fit(case: &mut Case<'_>) -> Judged {
    let (_, result) = created(case)?;
    for option in options(&result) {
        let value = &option["currentValue"];
        let fits = match option["type"].as_str() {
            Some("select") => values(&option).contains(value),
            Some("boolean") => value.is_boolean(),
            _ => true,
        };
        ensure(fits, || format!("option {} has the value {value}", option["id"]))?;
    }
    Ok(())
}

fn options_fit(case: &mut Case<'_>) -> Judged {
    let (_, result) = created(case)?;
    let options = options(&result);
    for (place, option) in options.iter().enumerate() {
        let faults = schema::stable().faults("SessionConfigOption", option);
        ensure(faults.is_empty(), || faults.join("; "))?;
        let twice = options[..place].iter().any(|other| other["id"] == option["id"]);
        ensure(!twice, || format!("option {} stands twice", option["id"]))?;
    }
    Ok(())
}

fn complete_answer(case: &mut Case<'_>) -> Judged {
    let (mut client, result) = created(case)?;
    let before = options(&result);
    let Some((id, value)) = before.iter().find_map(other_value) else {
        return inconclusive("no option has a second value");
    };
    let params = json!({"sessionId": result["sessionId"], "configId": id, "value": value});
    let answer = client.call("session/set_config_option", &params)?;
    let now = current(&answer["configOptions"], &id);
    ensure(now.as_ref() == Some(&value), || {
        format!("{id} was set to {value}, the answer says {}", now.unwrap_or_default())
    })?;
    // Other options may come and go with the change; one alone is no complete list where there were several.
    let count = options(&answer).len();
    ensure(count > 1 || before.len() == 1, || {
        format!("{count} of {} options are in the answer", before.len())
    })
}

fn defaults_work(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    turn(&mut client, &prompt(&session, &case.plain())).map(drop)
}

fn complete_update(case: &mut Case<'_>) -> Judged {
    let (mut client, result) = created(case)?;
    let session = result["sessionId"].as_str().unwrap_or_default().to_owned();
    let before = options(&result);
    if let Some((id, value)) = before.iter().find_map(other_value) {
        let params = json!({"sessionId": session, "configId": id, "value": value});
        client.call("session/set_config_option", &params)?;
    }
    // Where modes are an option too, a change of one shows in the other.
    if let Ok(mode) = other_mode(&result["modes"]) {
        client.call("session/set_mode", &json!({"sessionId": session, "modeId": mode}))?;
    }
    // The model that was chosen may be out of reach, which is not the update's fault.
    client.ask("session/prompt", &prompt(&session, &case.plain()))?;
    let updates: Vec<Value> = client
        .heard
        .iter()
        .filter(|heard| heard.kind() == "config_option_update")
        .map(|heard| heard.params["update"].clone())
        .collect();
    for update in &updates {
        let count = options(update).len();
        ensure(count > 1 || before.len() == 1, || {
            format!("an update carries {count} of {} options", before.len())
        })?;
    }
    if updates.is_empty() { inconclusive("no config_option_update was sent") } else { Ok(()) }
}

fn not_offered(case: &mut Case<'_>) -> Judged {
    let (mut client, result) = created(case)?;
    let session = &result["sessionId"];
    let Some(option) = options(&result).into_iter().find(|option| option["type"] == "select") else {
        return inconclusive("there is no select option");
    };
    let id = option["id"].as_str().unwrap_or_default();
    for (config, value) in
        [("accord-made-up", option["currentValue"].clone()), (id, json!("accord-made-up")), (id, json!(5))]
    {
        let params = json!({"sessionId": session, "configId": config, "value": value});
        client.ask("session/set_config_option", &params)?.error()?;
    }
    let params = json!({"sessionId": session, "configId": id, "value": option["currentValue"]});
    let answer = client.call("session/set_config_option", &params)?;
    ensure(current(&answer["configOptions"], id).as_ref() == Some(&option["currentValue"]), || {
        "a refused value changed the option".into()
    })
}

fn in_a_turn(case: &mut Case<'_>) -> Judged {
    let words = case.words("slow")?;
    let (mut client, result) = created(case)?;
    let session = result["sessionId"].as_str().unwrap_or_default().to_owned();
    let Some((id, value)) = options(&result).iter().find_map(other_value) else {
        return inconclusive("no option has a second value");
    };
    let turn = client.send("session/prompt", &prompt(&session, words));
    let from = client.heard.len();
    client.listen_until(client.patience(), |client| client.heard.len() > from || client.has_answer(&turn));
    let params = json!({"sessionId": session, "configId": id, "value": value});
    client.call("session/set_config_option", &params)?;
    let ended = client.has_answer(&turn);
    client.notify("session/cancel", &json!({"sessionId": session}));
    client.answer(&turn)?;
    if ended { inconclusive("the turn ended before the option was changed") } else { Ok(()) }
}

fn modes_as_option(case: &mut Case<'_>) -> Judged {
    let (_, result) = created(case)?;
    let option = options(&result).into_iter().find(|option| option["category"] == "mode");
    let Some(option) = option else {
        return crate::wire::verdict::fail("modes are offered, and no option of the category mode");
    };
    let same = option["currentValue"] == result["modes"]["currentModeId"];
    ensure(same, || {
        format!(
            "the option says {}, the mode is {}",
            option["currentValue"], result["modes"]["currentModeId"]
        )
    })
}

fn boolean(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready_with(&json!({"session": {"configOptions": {"boolean": {}}}}))?;
    let result = client.call("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}))?;
    let Some(option) = options(&result).into_iter().find(|option| option["type"] == "boolean") else {
        return crate::wire::verdict::skip("no boolean option is offered");
    };
    let flipped = json!(option["currentValue"] != json!(true));
    let params = json!({
        "sessionId": result["sessionId"], "configId": option["id"], "type": "boolean", "value": flipped
    });
    let answer = client.call("session/set_config_option", &params)?;
    let now = current(&answer["configOptions"], option["id"].as_str().unwrap_or_default());
    ensure(now == Some(flipped), || format!("the option is {} after it was flipped", now.unwrap_or_default()))
}

fn modes_fit(case: &mut Case<'_>) -> Judged {
    let (_, result) = created(case)?;
    let modes = &result["modes"];
    let faults = schema::stable().faults("SessionModeState", modes);
    ensure(faults.is_empty(), || faults.join("; "))?;
    let known = mode_ids(modes).contains(&modes["currentModeId"]);
    ensure(known, || format!("the current mode {} is not available", modes["currentModeId"]))
}

fn mode_ids(modes: &Value) -> Vec<Value> {
    modes["availableModes"].as_array().into_iter().flatten().map(|mode| mode["id"].clone()).collect()
}

fn other_mode(modes: &Value) -> Judged<Value> {
    match mode_ids(modes).into_iter().find(|id| *id != modes["currentModeId"]) {
        Some(mode) => Ok(mode),
        None => inconclusive("there is only one mode"),
    }
}

fn sets_mode(case: &mut Case<'_>) -> Judged {
    let (mut client, result) = created(case)?;
    let mode = other_mode(&result["modes"])?;
    client.call("session/set_mode", &json!({"sessionId": result["sessionId"], "modeId": mode}))?;
    client.listen(case.subject.quiet);
    for heard in client.heard.iter().filter(|heard| heard.kind() == "current_mode_update") {
        let named = heard.params["update"]["currentModeId"].is_string();
        ensure(named, || "current_mode_update has no currentModeId".into())?;
    }
    Ok(())
}

fn mode_in_a_turn(case: &mut Case<'_>) -> Judged {
    let words = case.words("slow")?;
    let mut client = case.ready()?;
    let mode = other_mode(&case.subject.facts.session["modes"])?;
    let session = new_session(&mut client, &json!({"cwd": case.cwd(), "mcpServers": []}))?;
    let turn = client.send("session/prompt", &prompt(&session, words));
    let from = client.heard.len();
    client.listen_until(client.patience(), |client| client.heard.len() > from || client.has_answer(&turn));
    client.call("session/set_mode", &json!({"sessionId": session, "modeId": mode}))?;
    client.notify("session/cancel", &json!({"sessionId": session}));
    client.answer(&turn).map(drop)
}

/// The agent changes its mode in the turn: where that shows as an option, it is told as a mode, too.
fn own_change(case: &mut Case<'_>) -> Judged {
    let words = case.words("mode")?;
    let (mut client, result) = created(case)?;
    let session = result["sessionId"].as_str().unwrap_or_default().to_owned();
    let before = result["modes"]["currentModeId"].clone();
    turn(&mut client, &prompt(&session, words))?;
    client.listen(case.subject.quiet);
    let updates = || client.heard.iter().map(|heard| &heard.params["update"]);
    if let Some(told) = updates().find(|update| update["sessionUpdate"] == "current_mode_update") {
        let known = mode_ids(&result["modes"]).contains(&told["currentModeId"]);
        return ensure(known, || format!("the mode {} is not available", told["currentModeId"]));
    }
    let option = |update: &Value| options(update).into_iter().find(|option| option["category"] == "mode");
    let changed = updates().filter_map(option).any(|option| option["currentValue"] != before);
    ensure(!changed, || "the mode has changed, and no current_mode_update was sent".into())?;
    inconclusive("the agent did not change its mode")
}

fn unknown_mode(case: &mut Case<'_>) -> Judged {
    let (mut client, result) = created(case)?;
    let params = json!({"sessionId": result["sessionId"], "modeId": "accord-made-up"});
    client.ask("session/set_mode", &params)?.error()?;
    client.alive()
}
