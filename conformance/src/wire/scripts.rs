//! The checks of a client: what the scripted agent does, and what the client must have done.

mod auth;
mod cancel;
mod content;
mod ends;
mod files;
mod forms;
mod framing;
mod handshake;
mod listing;
mod permissions;
mod rpc;
mod sessions;
mod terminals;

use super::player::Player;
use super::seen::Seen;
use super::verdict::{Judged, inconclusive, skip};
use super::visit::Visitor;

/// One way to see whether a client keeps a requirement.
#[derive(Debug)]
pub(crate) struct Script {
    /// The requirement.
    pub(crate) id: &'static str,
    /// What the client must have offered, as a path below `clientCapabilities`.
    pub(crate) needs: Option<&'static str>,
    /// Tells apart several scripts for one requirement; empty if there is only one.
    pub(crate) part: &'static str,
    /// Another way to use the client that the script needs, such as `list`.
    pub(crate) way: Option<&'static str>,
    /// The turn has to be cancelled from outside.
    pub(crate) cancels: bool,
    pub(crate) play: fn(&mut Player),
    judge: fn(&Seen<'_>) -> Judged,
}

const fn script(id: &'static str, play: fn(&mut Player), judge: fn(&Seen<'_>) -> Judged) -> Script {
    Script { id, needs: None, part: "", way: None, cancels: false, play, judge }
}

const fn needing(
    id: &'static str,
    needs: &'static str,
    play: fn(&mut Player),
    judge: fn(&Seen<'_>) -> Judged,
) -> Script {
    Script { id, needs: Some(needs), part: "", way: None, cancels: false, play, judge }
}

const fn part(
    id: &'static str,
    part: &'static str,
    play: fn(&mut Player),
    judge: fn(&Seen<'_>) -> Judged,
) -> Script {
    Script { id, needs: None, part, way: None, cancels: false, play, judge }
}

const fn told(
    id: &'static str,
    way: &'static str,
    play: fn(&mut Player),
    judge: fn(&Seen<'_>) -> Judged,
) -> Script {
    Script { id, needs: None, part: "", way: Some(way), cancels: false, play, judge }
}

const fn cancelling(id: &'static str, play: fn(&mut Player), judge: fn(&Seen<'_>) -> Judged) -> Script {
    // Where the client can leave questions open, a cancel finds one.
    Script { id, needs: None, part: "", way: Some("wait"), cancels: true, play, judge }
}

/// All checks of a client.
pub(crate) fn of_clients() -> impl Iterator<Item = &'static Script> {
    [
        framing::SCRIPTS,
        rpc::SCRIPTS,
        handshake::SCRIPTS,
        auth::SCRIPTS,
        sessions::SCRIPTS,
        listing::SCRIPTS,
        content::SCRIPTS,
        permissions::SCRIPTS,
        cancel::SCRIPTS,
        files::SCRIPTS,
        terminals::SCRIPTS,
        forms::SCRIPTS,
        ends::SCRIPTS,
    ]
    .into_iter()
    .flatten()
}

/// The ordinary session, by which the kit learns what a client does of itself.
pub(crate) const PLAIN: &str = "plain";

/// What a script called `name` does.
pub(crate) fn find(name: &str) -> Option<fn(&mut Player)> {
    if name == PLAIN {
        return Some(plain);
    }
    of_clients().find(|script| script.name() == name).map(|script| script.play)
}

fn plain(player: &mut Player) {
    if let Some(prompt) = player.turn() {
        player.say("Once upon a time, ");
        player.say(MARKER);
        player.end_turn(&prompt);
    }
}

/// The text by which a client that shows messages shows that it got to the end.
pub(crate) const MARKER: &str = "after-the-storm";

/// The remark at which the kit interrupts the client.
pub(crate) fn interrupt() -> &'static str {
    cancel::NOW
}

impl Script {
    /// The name by which the scripted agent knows its part.
    pub(crate) fn name(&self) -> String {
        format!("{}{}", self.id, self.part)
    }

    /// Whether the check applies to this client and can be played.
    pub(crate) fn applies(&self, seen: &Seen<'_>, visitor: &Visitor) -> Judged {
        if let Some(path) = self.needs
            && !seen.plain.offers(path)
        {
            return skip(format!("the client does not offer {path}"));
        }
        if self.cancels && !visitor.interruptible {
            return inconclusive("nobody said how to cancel a turn: give --interrupt if SIGINT does");
        }
        match self.way {
            Some(way) if !self.cancels && !visitor.ways.contains_key(way) => {
                inconclusive(format!("nobody said how to make the client {way}: give --to-{way} COMMAND"))
            }
            _ => Ok(()),
        }
    }

    /// What the client's part shows.
    pub(crate) fn judge(&self, seen: &Seen<'_>) -> Judged {
        (self.judge)(seen)
    }
}

/// Plays `inside` within a turn, then shows the marker and ends the turn.
fn in_turn(player: &mut Player, inside: impl FnOnce(&mut Player)) {
    if let Some(prompt) = player.turn() {
        inside(player);
        player.say(MARKER);
        player.end_turn(&prompt);
    }
}

/// The client got over it: the turn was played to its end, and the client ended as it does after an ordinary one.
fn survives(seen: &Seen<'_>) -> Judged {
    seen.survived()
}
