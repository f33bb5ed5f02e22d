//! initialize: versions, capabilities, who the agent says it is.

use serde_json::{Value, json};

use super::{Check, check, gated};
use crate::wire::case::{Case, hello, prompt};
use crate::wire::checks::Gate;
use crate::wire::schema;
use crate::wire::verdict::{Judged, ensure, fail, inconclusive, skip};

pub(super) const CHECKS: &[Check] = &[
    check("ACP-INIT-001", succeeds),
    check("ACP-INIT-002", answers_one),
    check("ACP-INIT-003", unsupported_version),
    check("ACP-INIT-004", names_itself),
    check("ACPX-INIT-008", version_zero),
    check("ACPX-INIT-009", version_two),
    check("ACPX-INIT-010", version_alone),
    check("ACPX-INIT-011", unknown_capabilities),
    check("ACPX-INIT-012", wrong_types),
    check("ACPX-INIT-013", states_features),
    check("ACPX-INIT-014", capability_types),
    check("ACPX-INIT-015", implementation_fits),
    check("ACPX-INIT-017", before_initialize),
    check("ACPX-INIT-018", twice),
    check("ACPX-INIT-019", baseline),
    check("ACPX-INIT-020", advertised_methods),
    check("ACPX-INIT-021", other_methods),
    check("ACPX-TR-018", succeeds),
    gated("ACP-AUTH-003", Gate::Always, authenticates),
    check("ACP-AUTH-005", no_method_no_demand),
    check("ACPX-AUTH-001", methods_fit),
    check("ACPX-AUTH-002", empty_result),
    check("ACPX-AUTH-003", unknown_method),
    gated("ACP-AUTH-004", Gate::Offers("auth/logout"), logs_out),
    gated("ACPX-AUTH-011", Gate::Offers("auth/logout"), locked_after_logout),
];

/// Methods that an agent may leave out, with the capability that announces them.
const OPTIONAL: [(&str, &str); 6] = [
    ("session/load", "loadSession"),
    ("session/list", "sessionCapabilities/list"),
    ("session/resume", "sessionCapabilities/resume"),
    ("session/close", "sessionCapabilities/close"),
    ("session/delete", "sessionCapabilities/delete"),
    ("logout", "auth/logout"),
];

fn succeeds(case: &mut Case<'_>) -> Judged {
    let (_, result) = case.introduce(&json!({}))?;
    let faults = schema::stable().faults("InitializeResponse", &result);
    ensure(faults.is_empty(), || faults.join("; "))?;
    ensure(result["protocolVersion"].is_u64(), || "protocolVersion is no integer".into())
}

fn answers_one(case: &mut Case<'_>) -> Judged {
    let (_, result) = case.introduce(&json!({}))?;
    ensure(result["protocolVersion"] == 1, || {
        format!("asked for 1, the answer is {}", result["protocolVersion"])
    })
}

/// initialize with a version of our choice and the members of both generations, so that none is missing.
fn versioned(case: &mut Case<'_>, version: u64) -> Judged<Value> {
    let mut client = case.start()?;
    let mut params = hello(&json!({}));
    params["protocolVersion"] = json!(version);
    params["info"] = params["clientInfo"].clone();
    params["capabilities"] = json!({});
    let result = client.call("initialize", &params)?;
    Ok(result["protocolVersion"].clone())
}

fn unsupported_version(case: &mut Case<'_>) -> Judged {
    let answered = versioned(case, 65535)?;
    let usual = case.subject.facts.hello["protocolVersion"].as_u64().unwrap_or(1);
    let number = answered.as_u64();
    ensure(number.is_some_and(|number| number != 65535 && number >= usual), || {
        format!("asked for 65535, the answer is {answered}")
    })
}

fn version_zero(case: &mut Case<'_>) -> Judged {
    let answered = versioned(case, 0)?;
    ensure(answered.as_u64().is_some_and(|number| number > 0), || {
        format!("asked for 0, the answer is {answered}")
    })
}

fn version_two(case: &mut Case<'_>) -> Judged {
    let answered = versioned(case, 2)?;
    match answered.as_u64() {
        Some(1) => Ok(()),
        Some(2) => inconclusive("the agent answers 2; whether it speaks v2 is not for this kit to see"),
        _ => fail(format!("asked for 2, the answer is {answered}")),
    }
}

fn names_itself(case: &mut Case<'_>) -> Judged {
    let (_, result) = case.introduce(&json!({}))?;
    let info = &result["agentInfo"];
    let named = |member: &str| info[member].as_str().is_some_and(|text| !text.is_empty());
    ensure(named("name") && named("version"), || "agentInfo has no name and version".into())
}

fn version_alone(case: &mut Case<'_>) -> Judged {
    let mut client = case.start()?;
    client.call("initialize", &json!({"protocolVersion": 1})).map(drop)
}

fn unknown_capabilities(case: &mut Case<'_>) -> Judged {
    let odd = json!({
        "fs": {"readTextFile": false, "renameFile": true},
        "terminal": false,
        "session": {"configOptions": {"slider": {}}, "weather": {}},
        "auth": {"retina": true},
        "elicitation": {"hologram": {}},
        "teleport": {"range": 5},
    });
    let (mut client, session) = case.with_session_and(&odd)?;
    client.call("session/prompt", &prompt(&session, &case.plain())).map(drop)
}

fn wrong_types(case: &mut Case<'_>) -> Judged {
    let odd = json!({"fs": 5, "terminal": "yes", "auth": null, "session": [], "elicitation": "form"});
    case.introduce(&odd)?;
    case.introduce(&json!({"fs": null})).map(drop)
}

fn states_features(case: &mut Case<'_>) -> Judged {
    let (_, result) = case.introduce(&json!({}))?;
    ensure(result["agentCapabilities"].is_object(), || "the answer has no agentCapabilities".into())
}

fn capability_types(case: &mut Case<'_>) -> Judged {
    let (_, result) = case.introduce(&json!({}))?;
    let capabilities = &result["agentCapabilities"];
    if capabilities.is_null() {
        return Ok(());
    }
    let faults = schema::stable().faults("AgentCapabilities", capabilities);
    ensure(faults.is_empty(), || faults.join("; "))
}

fn implementation_fits(case: &mut Case<'_>) -> Judged {
    let (_, result) = case.introduce(&json!({}))?;
    if result["agentInfo"].is_null() {
        return skip("the agent gives no agentInfo");
    }
    let faults = schema::stable().faults("Implementation", &result["agentInfo"]);
    ensure(faults.is_empty(), || faults.join("; "))
}

fn before_initialize(case: &mut Case<'_>) -> Judged {
    let mut client = case.start()?;
    let new = client.send("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}));
    let turn = client.send("session/prompt", &prompt("made-up", "too early"));
    let hello = client.send("initialize", &hello(&json!({})));
    client.answer(&new)?;
    client.answer(&turn)?;
    client.answer(&hello)?.result().map(drop)
}

fn twice(case: &mut Case<'_>) -> Judged {
    let (mut client, _) = case.introduce(&json!({}))?;
    client.ask("initialize", &hello(&json!({})))?;
    client.alive()
}

fn baseline(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.call("session/prompt", &prompt(&session, &case.plain()))?;
    let updated = client.heard.iter().any(|heard| heard.updates(&session));
    client.notify("session/cancel", &json!({"sessionId": session}));
    client.alive()?;
    if updated { Ok(()) } else { inconclusive("the turn sent no session/update") }
}

fn advertised_methods(case: &mut Case<'_>) -> Judged {
    let facts = &case.subject.facts;
    // logout is left alone: it would end the login of whoever runs the check.
    let mut methods: Vec<&str> = OPTIONAL
        .iter()
        .filter(|(method, path)| *method != "logout" && facts.offers(path))
        .map(|(method, _)| *method)
        .collect();
    if facts.session_has("modes") {
        methods.push("session/set_mode");
    }
    if facts.session_has("configOptions") {
        methods.push("session/set_config_option");
    }
    if methods.is_empty() {
        return skip("nothing optional is advertised");
    }
    let mut client = case.ready()?;
    for method in methods {
        let answer = client.ask(method, &made_up(case, method))?;
        ensure(answer.code() != Some(-32601), || format!("{method} is advertised and answers -32601"))?;
    }
    Ok(())
}

fn other_methods(case: &mut Case<'_>) -> Judged {
    let facts = &case.subject.facts;
    let methods: Vec<&str> =
        OPTIONAL.iter().filter(|(_, path)| !facts.offers(path)).map(|(method, _)| *method).collect();
    if methods.is_empty() {
        return skip("everything optional is advertised");
    }
    let mut client = case.ready()?;
    for method in methods {
        client.ask(method, &made_up(case, method))?.error()?;
    }
    client.alive()
}

/// Params that fit a method's schema and name a session nobody has.
fn made_up(case: &Case<'_>, method: &str) -> Value {
    match method {
        "session/list" | "logout" => json!({}),
        "session/load" | "session/resume" => {
            json!({"sessionId": "made-up", "cwd": case.cwd(), "mcpServers": []})
        }
        "session/set_mode" => json!({"sessionId": "made-up", "modeId": "made-up"}),
        "session/set_config_option" => {
            json!({"sessionId": "made-up", "configId": "made-up", "value": "made-up"})
        }
        _ => json!({"sessionId": "made-up"}),
    }
}

fn authenticates(case: &mut Case<'_>) -> Judged {
    if case.subject.auth.is_none() {
        return skip("no --auth METHOD was given");
    }
    let mut client = case.ready()?;
    let answer = client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}))?;
    ensure(answer.code() != Some(-32000), || {
        "authenticate succeeds, and session/new asks for it again".into()
    })
}

fn no_method_no_demand(case: &mut Case<'_>) -> Judged {
    let (mut client, result) = case.introduce(&json!({}))?;
    if result["authMethods"].as_array().is_some_and(|methods| !methods.is_empty()) {
        return skip("authentication methods are advertised");
    }
    let answer = client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}))?;
    ensure(answer.code() != Some(-32000), || {
        "session/new asks for authentication, and no method is advertised".into()
    })
}

fn methods_fit(case: &mut Case<'_>) -> Judged {
    let mut seen = 0;
    for capabilities in [json!({}), json!({"auth": {"terminal": true}})] {
        let (_, result) = case.introduce(&capabilities)?;
        if result["authMethods"].is_null() {
            continue;
        }
        let Some(methods) = result["authMethods"].as_array() else {
            return fail("authMethods is no array");
        };
        seen += methods.len();
        for method in methods {
            let faults = schema::stable().faults("AuthMethod", method);
            ensure(faults.is_empty(), || format!("{method}: {}", faults.join("; ")))?;
        }
    }
    if seen == 0 { skip("no authentication methods are advertised") } else { Ok(()) }
}

fn empty_result(case: &mut Case<'_>) -> Judged {
    let Some(method) = case.subject.auth.clone() else {
        return skip("no --auth METHOD was given");
    };
    let (mut client, _) = case.introduce(&json!({}))?;
    let result = client.call("authenticate", &json!({"methodId": method}))?;
    let empty = result.as_object().is_some_and(|members| members.keys().all(|name| name == "_meta"));
    ensure(empty, || format!("the result of authenticate is {result}"))
}

fn unknown_method(case: &mut Case<'_>) -> Judged {
    let (mut client, result) = case.introduce(&json!({}))?;
    if result["authMethods"].as_array().is_none_or(Vec::is_empty) {
        return skip("no authentication methods are advertised");
    }
    client.ask("authenticate", &json!({"methodId": "accord-made-up"}))?.error()?;
    client.ask("authenticate", &json!({}))?.error().map(drop)
}

fn logged_out(case: &mut Case<'_>) -> Judged<(crate::wire::client::Client, Value)> {
    if !case.subject.logout {
        return skip("logout ends the login of whoever runs the check: --logout allows it");
    }
    let mut client = case.ready()?;
    let result = client.call("logout", &json!({}))?;
    Ok((client, result))
}

fn logs_out(case: &mut Case<'_>) -> Judged {
    let (_, result) = logged_out(case)?;
    ensure(result.is_object(), || format!("the result of logout is {result}"))
}

fn locked_after_logout(case: &mut Case<'_>) -> Judged {
    let (mut client, _) = logged_out(case)?;
    if case.subject.auth.is_none() {
        return inconclusive("whether sessions need a login is not known: give --auth METHOD");
    }
    let answer = client.ask("session/new", &json!({"cwd": case.cwd(), "mcpServers": []}))?;
    ensure(answer.code() == Some(-32000), || format!("session/new after logout gives {}", answer.told()))
}
