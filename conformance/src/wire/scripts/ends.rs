//! Agents that end when they should not, and agents that stay when they should go.

use std::process;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};
use serde_json::json;

use super::{Script, in_turn, part, script};
use crate::wire::player::Player;
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure, inconclusive};

pub(super) const SCRIPTS: &[Script] = &[
    script("ACPX-TR-016", stubborn, agent_is_gone),
    part("ACPX-TR-017", "/at-once", dies_at_once, fails_unprompted),
    part("ACPX-TR-017", "/after-initialize", dies_after_initialize, fails_unprompted),
    part("ACPX-TR-017", "/in-a-turn", dies_in_the_turn, fails),
    part("ACPX-TR-017", "/exits-in-a-turn", exits_in_the_turn, fails),
];

/// Ignores the end of its input, and SIGTERM too: a program in its place does, for as long as it may. It has no children, for which the
/// client would not be to blame.
fn stubborn(player: &mut Player) {
    in_turn(player, |_| {});
    player.note("done");
    while !player.closed() {
        if let Some(request) = player.request(Duration::from_millis(200)) {
            player.serve(&request);
        }
    }
    let staying = "trap '' TERM HUP INT; exec 0<&- 1>&-; exec sleep 60";
    let error = std::os::unix::process::CommandExt::exec(process::Command::new("sh").args(["-c", staying]));
    player.note(&format!("no shell: {error}"));
}

fn agent_is_gone(seen: &Seen<'_>) -> Judged {
    if !seen.plain.ends {
        return inconclusive("the client does not end by itself");
    }
    seen.prompted()?;
    ensure(seen.status.is_some(), || "the client hangs when its agent does not go".into())?;
    ensure(seen.left.is_empty(), || format!("left running: {}", seen.left.join(", ")))
}

fn die(player: &mut Player) {
    player.note("done");
    // The process is its own; nothing comes after this.
    let _ = kill_process(getpid(), Signal::KILL);
}

fn dies_at_once(player: &mut Player) {
    player.until("initialize");
    die(player);
}

fn dies_after_initialize(player: &mut Player) {
    player.until("session/new");
    die(player);
}

fn exits_in_the_turn(player: &mut Player) {
    if player.turn().is_some() {
        player.say("so far, so good");
        player.note("done");
        player.leave();
    }
}

fn fails_unprompted(seen: &Seen<'_>) -> Judged {
    seen.told_failure()
}

/// Half a frame, then death.
fn dies_in_the_turn(player: &mut Player) {
    if player.turn().is_some() {
        player.say("so far, so good");
        let half = json!({"jsonrpc": "2.0", "method": "session/update", "params": {}}).to_string();
        player.raw(&half.as_bytes()[..20]);
        die(player);
    }
}

fn fails(seen: &Seen<'_>) -> Judged {
    seen.prompted()?;
    seen.told_failure()
}
