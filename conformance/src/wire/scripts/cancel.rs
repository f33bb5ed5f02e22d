//! A turn that the client's user cancels: what is sent, what pending questions get, and what a slow agent may do about it.

use std::time::Duration;

use serde_json::{Value, json};

use super::{MARKER, Script, cancelling};
use crate::wire::player::Player;
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure, fail, inconclusive};

pub(super) const SCRIPTS: &[Script] = &[
    cancelling("ACPX-CANCEL-008", question_open, question_cancelled),
    cancelling("ACPX-CANCEL-010", late_updates, ended),
    cancelling("ACPX-CANCEL-011", late_answer, ended),
    cancelling("ACPX-CANCEL-013", cancelled, cancel_fits),
    cancelling("ACPX-PERM-009", question_open, question_cancelled),
];

/// The remark at which the kit interrupts the client.
pub(crate) const NOW: &str = "interrupt now";

/// Waits for the client's cancel; gives it, or remarks that none came.
fn await_cancel(player: &mut Player) -> Option<Value> {
    player.note(NOW);
    for _ in 0..50 {
        match player.request(Duration::from_millis(200)) {
            Some(message) if message["method"] == "session/cancel" => return Some(message),
            Some(other) => player.serve(&other),
            None => {}
        }
    }
    player.note("no cancel came");
    None
}

fn cancelled(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        player.say("working");
        await_cancel(player);
        player.answer(&prompt, &json!({"stopReason": "cancelled"}));
    }
}

fn cancel_fits(seen: &Seen<'_>) -> Judged {
    let cancels = came(seen)?;
    for cancel in &cancels {
        ensure(cancel.get("id").is_none(), || "session/cancel is sent as a request".into())?;
        let session = &cancel["params"]["sessionId"];
        ensure(session == crate::wire::player::SESSION, || {
            format!("session/cancel names the session {session}")
        })?;
    }
    Ok(())
}

/// The cancels that were sent; without one there is nothing to judge.
fn came(seen: &Seen<'_>) -> Judged<Vec<Value>> {
    seen.prompted()?;
    let cancels = seen.sent("session/cancel");
    if cancels.is_empty() {
        return inconclusive("the interrupt brought no session/cancel");
    }
    Ok(cancels)
}

fn question_open(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        let id = player.permission("pending");
        // A client that answers by itself has no open question to cancel.
        if player.reply_within(&id, Duration::from_millis(1500)).is_some() {
            player.note("answered at once");
        }
        await_cancel(player);
        player.reply_within(&id, Duration::from_secs(3));
        player.answer(&prompt, &json!({"stopReason": "cancelled"}));
    }
}

fn question_cancelled(seen: &Seen<'_>) -> Judged {
    if seen.noted("answered at once") {
        return inconclusive(
            "the client answers permission requests by itself; nothing was open at the cancel",
        );
    }
    came(seen)?;
    let outcome = seen.result(&json!(0))?["outcome"].clone();
    ensure(outcome["outcome"] == "cancelled", || format!("the pending question is answered {outcome}"))
}

fn late_updates(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        player.update(&json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Work", "status": "in_progress"}));
        await_cancel(player);
        player.update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "failed"}));
        player.say(MARKER);
        player.answer(&prompt, &json!({"stopReason": "cancelled"}));
    }
}

fn late_answer(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        player.say("working");
        await_cancel(player);
        player.listen(Duration::from_secs(1));
        player.end_turn(&prompt);
    }
}

fn ended(seen: &Seen<'_>) -> Judged {
    came(seen)?;
    match seen.status {
        None if seen.plain.ends => fail("the client hangs after its cancel"),
        Some(status) if status.code().is_none() => fail(format!("the client died: {status}")),
        _ => Ok(()),
    }
}
