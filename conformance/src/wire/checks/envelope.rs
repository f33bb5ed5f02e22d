//! JSON-RPC as ACP uses it: answers, notifications, unknown methods, tolerance for what is new.

use serde_json::json;

use super::{Check, check};
use crate::wire::case::{Case, prompt};
use crate::wire::checks::Gate;
use crate::wire::client::told;
use crate::wire::verdict::{Judged, ensure, fail};

pub(super) const CHECKS: &[Check] = &[
    check("ACP-JSONRPC-003", notifications_unanswered),
    check("ACP-JSONRPC-004", unknown_extension),
    check("ACP-JSONRPC-005", errors_end_nothing),
    check("ACP-EXT-001", extension_answered),
    check("ACP-META-001", meta_on_prompt),
    check("ACPX-RPC-013", invalid_params),
    check("ACPX-RPC-014", unknown_method),
    check("ACPX-RPC-015", unknown_notifications),
    check("ACPX-RPC-018", codes_mean_what_they_say),
    super::gated("ACPX-RPC-021", Gate::OffersAny(&["sessionCapabilities/list"]), omitted_params),
    check("ACPX-RPC-022", lenient_reading),
    check("ACPX-RPC-023", unknown_fields),
    check("ACPX-SESS-015", meta_everywhere),
    check("ACPX-EXT-008", odd_meta),
];

fn notifications_unanswered(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.notify("session/cancel", &json!({"sessionId": session}));
    client.notify("_accord/unknown", &json!({"any": "thing"}));
    client.alive()?;
    client.listen(case.subject.quiet);
    match client.unclaimed().next() {
        Some((id, _)) => fail(format!("a notification was answered, under the id {id}")),
        None => Ok(()),
    }
}

fn unknown_extension(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let answer = client.ask("_accord/unknown", &json!({}))?;
    ensure(answer.code() == Some(-32601), || format!("the answer is {}", answer.told()))
}

fn extension_answered(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.ask("_accord/unknown", &json!({"any": "thing"})).map(drop)
}

fn errors_end_nothing(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.ask("_accord/unknown", &json!({}))?;
    client.ask("session/new", &json!({"cwd": 5}))?;
    client.ask("session/prompt", &prompt("made-up", "nobody hears this"))?;
    case.session(&mut client).map(drop)
}

fn meta_on_prompt(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    let mut params = prompt(&session, &case.plain());
    params["_meta"] = json!({"traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01"});
    let result = client.call("session/prompt", &params)?;
    ensure(result["stopReason"].is_string(), || "the turn gives no stopReason".into())
}

fn invalid_params(case: &mut Case<'_>) -> Judged {
    let mut client = case.start()?;
    let code = client.ask("initialize", &json!({}))?.code();
    ensure(code == Some(-32602), || {
        format!("initialize without protocolVersion gives {}, not -32602", told(code))
    })?;
    let mut client = case.ready()?;
    for params in [json!({"cwd": 5, "mcpServers": []}), json!(5), json!("text"), json!([1])] {
        let code = client.ask("session/new", &params)?.code();
        ensure(code == Some(-32602), || {
            format!("session/new with params {params} gives {}, not -32602", told(code))
        })?;
    }
    Ok(())
}

fn unknown_method(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    let answer = client.ask("session/does_not_exist", &json!({}))?;
    ensure(answer.code() == Some(-32601), || format!("the answer is {}", answer.told()))
}

fn unknown_notifications(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    for method in ["_x", "x/y", "$/x", "session/does_not_exist"] {
        client.notify(method, &json!({"any": ["thing"]}));
    }
    client.call("session/prompt", &prompt(&session, &case.plain())).map(drop)
}

fn codes_mean_what_they_say(case: &mut Case<'_>) -> Judged {
    let reserved = [-32700, -32600, -32602, -32800, -32000, -32002];
    let mut client = case.ready()?;
    let code = client.ask("session/does_not_exist", &json!({}))?.code();
    ensure(code.is_none_or(|code| !reserved.contains(&code)), || {
        format!("a method that does not exist is answered with {}, which means something else", told(code))
    })?;
    if case.subject.facts.session.is_null() {
        return Ok(());
    }
    let code = client.ask("session/new", &json!({"cwd": 5, "mcpServers": []}))?.code();
    ensure(code.is_none_or(|code| ![-32700, -32601, -32800, -32002].contains(&code)), || {
        format!("a cwd that is a number is answered with {}, which means something else", told(code))
    })
}

fn omitted_params(case: &mut Case<'_>) -> Judged {
    let mut client = case.ready()?;
    client.call("session/list", &json!(null))?;
    client.say(&json!({"jsonrpc": "2.0", "id": "bare", "method": "session/list"}));
    let sent = crate::wire::client::Sent { id: json!("bare"), method: "session/list".into() };
    client.answer(&sent)?.result().map(drop)
}

fn lenient_reading(case: &mut Case<'_>) -> Judged {
    // Fields that the schema marks default-on-error or default-on-null.
    let mut client = case.start()?;
    let hello = json!({
        "protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": "maybe"}, "terminal": 3}, "clientInfo": 7, "_meta": 7
    });
    client.call("initialize", &hello)?;
    let session = json!({"cwd": case.cwd(), "mcpServers": [], "additionalDirectories": null, "_meta": null});
    let session = crate::wire::case::new_session(&mut client, &session)?;
    let block = json!({"type": "text", "text": case.plain(), "annotations": "loud", "_meta": 4});
    let params = json!({"sessionId": session, "prompt": [block], "_meta": null});
    client.call("session/prompt", &params).map(drop)
}

fn unknown_fields(case: &mut Case<'_>) -> Judged {
    let mut client = case.start()?;
    let mut hello = crate::wire::case::hello(&json!({"future": {}}));
    hello["future"] = json!([1]);
    hello["clientInfo"]["future"] = json!({});
    client.call("initialize", &hello)?;
    let session = json!({"cwd": case.cwd(), "mcpServers": [], "future": {"a": 1}});
    let session = crate::wire::case::new_session(&mut client, &session)?;
    let mut params = prompt(&session, &case.plain());
    params["future"] = json!(null);
    params["prompt"][0]["future"] = json!("x");
    let line =
        json!({"jsonrpc": "2.0", "id": "p", "method": "session/prompt", "params": params, "future": 1});
    client.say(&line);
    let sent = crate::wire::client::Sent { id: json!("p"), method: "session/prompt".into() };
    client.answer(&sent)?.result().map(drop)
}

fn meta_everywhere(case: &mut Case<'_>) -> Judged {
    with_meta(case, &json!({"accord/test": {"a": [1, null]}}))
}

fn odd_meta(case: &mut Case<'_>) -> Judged {
    with_meta(
        case,
        &json!({"": null, "a b": 1.5, "traceparent": 5, "progressToken": {"x": []}, "ключ": "😀"}),
    )?;
    with_meta(case, &json!(null))
}

fn with_meta(case: &mut Case<'_>, meta: &serde_json::Value) -> Judged {
    let mut client = case.start()?;
    let mut hello = crate::wire::case::hello(&json!({"_meta": meta}));
    hello["_meta"] = meta.clone();
    client.call("initialize", &hello)?;
    let session = json!({"cwd": case.cwd(), "mcpServers": [], "_meta": meta});
    let session = crate::wire::case::new_session(&mut client, &session)?;
    client.notify("session/cancel", &json!({"sessionId": session, "_meta": meta}));
    let mut params = prompt(&session, &case.plain());
    params["_meta"] = meta.clone();
    params["prompt"][0]["_meta"] = meta.clone();
    client.call("session/prompt", &params).map(drop)
}
