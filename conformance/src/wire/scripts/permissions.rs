//! Permission requests, from the client's side: answered each on its own, with an offered option.

use serde_json::{Value, json};

use super::{Script, in_turn, script};
use crate::wire::player::{Player, permission};
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure, inconclusive};

pub(super) const SCRIPTS: &[Script] = &[
    script("ACPX-PERM-001", one, answered),
    script("ACPX-PERM-007", odd_options, offered_only),
    script("ACPX-PERM-011", three_at_once, all_answered),
];

fn one(player: &mut Player) {
    in_turn(player, |player| {
        let id = player.permission("one");
        player.reply(&id);
    });
}

fn outcome(seen: &Seen<'_>, id: &Value) -> Judged<Value> {
    let outcome = seen.result(id)?["outcome"].clone();
    let known = matches!(outcome["outcome"].as_str(), Some("selected" | "cancelled"));
    ensure(known, || format!("the outcome is {outcome}"))?;
    Ok(outcome)
}

fn answered(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    outcome(seen, &json!(0)).map(drop)
}

/// Options in an odd order, two of one kind, some of unknown kinds, and names that look like others.
fn odd_options(player: &mut Player) {
    in_turn(player, |player| {
        let option = |id: &str, kind: &str| json!({"optionId": id, "name": "Allow", "kind": kind});
        for options in [
            json!([
                option("n", "reject_always"),
                option("y2", "allow_always"),
                option("y1", "allow_once"),
                option("y3", "allow_always")
            ]),
            json!([option("only", "reject_once")]),
            json!([option("future", "allow_for_a_while"), option("no", "reject_once")]),
        ] {
            let mut params = permission("odd");
            params["options"] = options;
            let id = player.ask("session/request_permission", &params);
            player.reply(&id);
        }
    });
}

fn offered_only(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let offered = [vec!["n", "y2", "y1", "y3"], vec!["only"], vec!["future", "no"]];
    for (id, offered) in offered.iter().enumerate() {
        let answer = seen.answer(&json!(id))?;
        let option = answer["result"]["outcome"]["optionId"].as_str();
        ensure(option.is_none_or(|option| offered.contains(&option)), || {
            format!("option {} was not offered", option.unwrap_or_default())
        })?;
    }
    Ok(())
}

fn three_at_once(player: &mut Player) {
    in_turn(player, |player| {
        let asked: Vec<Value> =
            (0..3).map(|number| player.permission(&format!("parallel-{number}"))).collect();
        for id in asked.iter().rev() {
            player.reply(id);
        }
    });
}

fn all_answered(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    if seen.answer(&json!(0))?["error"]["code"] == -32601 {
        return inconclusive("the client never takes permission requests, alone or together");
    }
    (0..3).try_for_each(|id| outcome(seen, &json!(id)).map(drop))
}
