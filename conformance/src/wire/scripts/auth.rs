//! Logging in, from the client's side: advertised methods only, and never in an endless loop.

use std::time::Duration;

use serde_json::json;

use super::{MARKER, Script, script};
use crate::wire::player::Player;
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure, fail};

pub(super) const SCRIPTS: &[Script] = &[
    script("ACPX-AUTH-004", locked, advertised_only),
    script("ACPX-AUTH-005", terminal_only, no_authenticate),
    script("ACPX-AUTH-013", locked_for_good, no_endless_loop),
];

/// Refuses sessions until authenticate was called; then a turn.
fn locked(player: &mut Player) {
    player.hello["authMethods"] = json!([{"id": "accord-login", "name": "Log in"}]);
    let mut open = false;
    while let Some(request) = player.request(Duration::from_secs(5)) {
        match request["method"].as_str() {
            Some("session/new") if !open => player.refuse(&request, -32000, "authentication required"),
            Some("session/prompt") => {
                player.say(MARKER);
                player.end_turn(&request);
                return;
            }
            method => {
                open |= method == Some("authenticate");
                player.serve(&request);
            }
        }
    }
}

fn advertised_only(seen: &Seen<'_>) -> Judged {
    for request in seen.sent("authenticate") {
        let method = &request["params"]["methodId"];
        ensure(method == "accord-login", || format!("authenticate with {method}, which was not advertised"))?;
    }
    not_hanging(seen)
}

fn not_hanging(seen: &Seen<'_>) -> Judged {
    match seen.status {
        None if seen.plain.ends => fail("the client hangs when a login is asked for"),
        _ => Ok(()),
    }
}

fn terminal_only(player: &mut Player) {
    player.hello["authMethods"] =
        json!([{"id": "accord-terminal", "name": "Log in", "type": "terminal", "args": ["--login"]}]);
    locked_session(player, 1);
}

/// Refuses session/new this many times more than once, whatever comes.
fn locked_session(player: &mut Player, times: usize) {
    let mut refused = 0;
    while let Some(request) = player.request(Duration::from_secs(3)) {
        if request["method"] == "session/new" {
            player.refuse(&request, -32000, "authentication required");
            refused += 1;
            if refused > times {
                return;
            }
        } else {
            player.serve(&request);
        }
    }
}

fn no_authenticate(seen: &Seen<'_>) -> Judged {
    ensure(seen.sent("authenticate").is_empty(), || "authenticate is called for a terminal method".into())
}

fn locked_for_good(player: &mut Player) {
    player.hello["authMethods"] = json!([{"id": "accord-login", "name": "Log in"}]);
    locked_session(player, 20);
}

fn no_endless_loop(seen: &Seen<'_>) -> Judged {
    let tries = seen.sent("session/new").len();
    ensure(tries <= 5, || format!("session/new is tried {tries} times without end"))?;
    not_hanging(seen)
}
