//! Lines and bytes from the agent: noise, boundaries, sizes, floods.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::{MARKER, Script, in_turn, script, survives};
use crate::wire::frame::Direction;
use crate::wire::player::{Player, SESSION};
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, Stop, ensure, inconclusive};

pub(super) const SCRIPTS: &[Script] = &[
    script("ACPX-TR-005", protocol_on_stderr, not_taken_from_stderr),
    script("ACPX-TR-006", flooded_stderr, survives),
    script("ACPX-TR-007", byte_by_byte, survives),
    script("ACPX-TR-008", split_character, shows_text),
    script("ACPX-TR-009", many_at_once, answers_many),
    script("ACPX-TR-010", white_space, survives),
    script("ACPX-TR-011", blank_lines, survives),
    script("ACPX-TR-012", large_lines, survives),
    script("ACPX-TR-013", many_questions, whole_answers),
    script("ACPX-TR-014", malformed_lines, survives),
    script("ACPX-TR-018", super::plain, goes_well),
];

/// An ordinary session over stdio is one that the client itself calls a success.
fn goes_well(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let status = seen.status.filter(|status| !status.success());
    ensure(status.is_none(), || "the client fails in an ordinary session".into())
}

const TEXT: &str = "gr\u{fc}n \u{6f22}\u{5b57} \u{1f600}";

fn protocol_on_stderr(player: &mut Player) {
    in_turn(player, |player| {
        let line = json!({"jsonrpc": "2.0", "id": "on-stderr", "method": "_accord/ask", "params": {}});
        // A closed stderr only means that there is nothing to be fooled by.
        let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
        player.listen(Duration::from_millis(500));
    });
}

fn not_taken_from_stderr(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    ensure(seen.answers(&json!("on-stderr")).is_empty(), || "a line on stderr was answered".into())
}

fn flooded_stderr(player: &mut Player) {
    in_turn(player, |_| {
        let line = "log ".repeat(255) + "\n";
        for _ in 0..16 * 1024 {
            if std::io::stderr().write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
}

fn chunk(text: &str) -> Value {
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": SESSION, "update": update}})
}

fn byte_by_byte(player: &mut Player) {
    in_turn(player, |player| {
        player.dribble(format!("{}\n", chunk("one byte at a time")).as_bytes(), Duration::from_millis(1));
    });
}

fn split_character(player: &mut Player) {
    in_turn(player, |player| {
        player.dribble(format!("{}\n", chunk(TEXT)).as_bytes(), Duration::from_millis(1));
    });
}

fn shows_text(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    if !seen.plain.shows {
        return inconclusive("the client shows no text");
    }
    // A client that prints JSON may escape what is not ASCII.
    let escaped = "gr\\u00fcn \\u6f22\\u5b57 \\ud83d\\ude00";
    let shown = seen.shows(TEXT) || seen.stdout.to_lowercase().contains(escaped);
    ensure(shown, || "the text with characters of several bytes is not shown as it was sent".into())
}

fn questions(prefix: &str, count: usize) -> String {
    let line = |number| {
        let id = format!("{prefix}-{number}");
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "_accord/ask", "params": {"n": number}}))
    };
    (0..count).map(line).collect()
}

/// The answers may come in any order, and the end of the turn, with which a client may leave, must not overtake them.
fn all_answers(player: &mut Player, prefix: &str, count: usize) {
    let mut ids = (0..count).map(|number| json!(format!("{prefix}-{number}")));
    while ids.next().is_some_and(|id| player.reply(&id).is_some()) {}
}

fn many_at_once(player: &mut Player) {
    in_turn(player, |player| {
        player.raw(questions("many", 20).as_bytes());
        all_answers(player, "many", 20);
    });
}

fn answers_many(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    (0..20).try_for_each(|number| seen.answer(&json!(format!("many-{number}"))).map(drop))
}

fn white_space(player: &mut Player) {
    in_turn(player, |player| {
        player.raw(format!("{}\r\n", chunk("CRLF")).as_bytes());
        player.raw(format!("  \t{} \n", chunk("indented")).as_bytes());
    });
}

fn blank_lines(player: &mut Player) {
    in_turn(player, |player| player.raw(b"\n\n   \n\r\n"));
}

fn large_lines(player: &mut Player) {
    in_turn(player, |player| {
        player.say(&"x".repeat(1 << 20));
        player.say(&"y".repeat(20 << 20));
    });
}

fn many_questions(player: &mut Player) {
    in_turn(player, |player| {
        player.raw(questions("flood", 500).as_bytes());
        all_answers(player, "flood", 500);
    });
}

fn whole_answers(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let from_client = seen.recording.frames.iter().filter(|frame| frame.direction == Direction::ToAgent);
    let torn = from_client.filter(|frame| frame.json().is_err()).count();
    if torn > 0 {
        return Err(Stop::Follows("ACPX-TR-002", format!("{torn} lines of the client do not parse")));
    }
    (0..500).try_for_each(|number| seen.answer(&json!(format!("flood-{number}"))).map(drop))
}

fn malformed_lines(player: &mut Player) {
    in_turn(player, |player| {
        for line in [
            "a log line",
            "{\"jsonrpc\":",
            "42",
            "\"text\"",
            "null",
            "[]",
            "{}",
            "{\"jsonrpc\":\"2.0\",\"method\":5}",
        ] {
            player.raw(format!("{line}\n").as_bytes());
        }
        player.raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"_x\",\"params\":{\"t\":\"\xff\xfe\"}}\n");
        player.say(MARKER);
    });
}
