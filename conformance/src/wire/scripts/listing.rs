//! Listing and loading, from the client's side, for clients that can be told to.

use serde_json::{Value, json};

use super::{MARKER, Script, told};
use crate::wire::player::{PATIENCE, Player};
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure, inconclusive};

pub(super) const SCRIPTS: &[Script] = &[
    told("ACPX-LIST-007", "list", two_pages, ends_with_the_pages),
    told("ACPX-LIST-008", "list", two_pages, cursors_unchanged),
    told("ACPX-LIST-009", "list", two_pages, absolute_filter),
    told("ACPX-LOAD-002", "load", replay, complete_load),
    told("ACPX-LOAD-008", "load", replay, history_shown),
];

/// A cursor that no parser would take for anything.
const CURSOR: &str = "next \u{fc}/{\"a\":1}=%00";

fn two_pages(player: &mut Player) {
    player.hello["agentCapabilities"] = json!({"sessionCapabilities": {"list": {}}});
    while let Some(request) = player.request(PATIENCE) {
        if request["method"] != "session/list" {
            player.serve(&request);
            continue;
        }
        let entry = |id: &str| json!({"sessionId": id, "cwd": "/tmp", "title": format!("Session {id}")});
        let page = if request["params"]["cursor"].is_null() {
            json!({"sessions": [entry("a"), entry("b")], "nextCursor": CURSOR})
        } else {
            json!({"sessions": [entry("c")], "nextCursor": null})
        };
        player.answer(&request, &page);
    }
}

fn lists(seen: &Seen<'_>) -> Judged<Vec<Value>> {
    let requests: Vec<Value> =
        seen.sent("session/list").iter().map(|request| request["params"].clone()).collect();
    if requests.is_empty() {
        return inconclusive("the client did not list");
    }
    Ok(requests)
}

fn ends_with_the_pages(seen: &Seen<'_>) -> Judged {
    let count = lists(seen)?.len();
    ensure(count <= 2, || format!("{count} pages are asked for, and there are two"))
}

fn cursors_unchanged(seen: &Seen<'_>) -> Judged {
    for params in lists(seen)?.iter().filter(|params| !params["cursor"].is_null()) {
        ensure(params["cursor"] == CURSOR, || format!("the cursor comes back as {}", params["cursor"]))?;
    }
    Ok(())
}

fn absolute_filter(seen: &Seen<'_>) -> Judged {
    for params in lists(seen)?.iter().filter(|params| !params["cwd"].is_null()) {
        let absolute = params["cwd"].as_str().is_some_and(|cwd| cwd.starts_with('/'));
        ensure(absolute, || format!("the filter {} is not absolute", params["cwd"]))?;
    }
    Ok(())
}

fn replay(player: &mut Player) {
    player.hello["agentCapabilities"] = json!({"loadSession": true});
    while let Some(request) = player.request(PATIENCE) {
        if request["method"] == "session/load" {
            let session = request["params"]["sessionId"].clone();
            for (kind, text) in [("user_message_chunk", "asked-before"), ("agent_message_chunk", MARKER)] {
                let update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
                player.notify("session/update", &json!({"sessionId": session, "update": update}));
            }
        }
        player.serve(&request);
    }
}

fn loads(seen: &Seen<'_>) -> Judged<Vec<Value>> {
    let requests: Vec<Value> =
        seen.sent("session/load").iter().map(|request| request["params"].clone()).collect();
    if requests.is_empty() {
        return inconclusive("the client did not load");
    }
    Ok(requests)
}

fn complete_load(seen: &Seen<'_>) -> Judged {
    for params in loads(seen)? {
        let complete =
            params["sessionId"].is_string() && params["cwd"].is_string() && params["mcpServers"].is_array();
        ensure(complete, || format!("session/load carries {params}"))?;
    }
    Ok(())
}

fn history_shown(seen: &Seen<'_>) -> Judged {
    loads(seen)?;
    if !seen.plain.shows {
        return inconclusive("the client shows no text");
    }
    let (user, agent) = (seen.stdout.find("asked-before"), seen.stdout.find(MARKER));
    ensure(agent.is_some(), || "the replayed history is not shown".into())?;
    ensure(user.is_none() || user < agent, || "the replayed history is shown out of order".into())
}
