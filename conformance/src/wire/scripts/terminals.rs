//! The client's terminals: made at once, awaited, killed, released, their output cut at a character.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Script, in_turn, needing};
use crate::wire::player::{Player, SESSION};
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure};

pub(super) const SCRIPTS: &[Script] = &[
    needing("ACPX-TERM-002", "terminal", sleeper, made_at_once),
    needing("ACPX-TERM-003", "terminal", arguments, as_asked),
    needing("ACPX-TERM-004", "terminal", long_output, cut_at_a_character),
    needing("ACPX-TERM-005", "terminal", sleeper, output_meanwhile),
    needing("ACPX-TERM-006", "terminal", exit_codes, exits_told),
    needing("ACPX-TERM-007", "terminal", killed, usable_after_kill),
    needing("ACPX-TERM-008", "terminal", released, gone_after_release),
    needing("ACPX-TERM-012", "terminal", sleeper, output_meanwhile),
];

/// Makes a terminal; gives its id.
fn create(player: &mut Player, command: &str, args: &Value, more: &Value) -> Value {
    let mut params = json!({"sessionId": SESSION, "command": command, "args": args});
    if let (Some(params), Some(more)) = (params.as_object_mut(), more.as_object()) {
        params.extend(more.clone());
    }
    let id = player.ask("terminal/create", &params);
    player.reply(&id).map(|answer| answer["result"]["terminalId"].clone()).unwrap_or_default()
}

fn call(player: &mut Player, method: &str, terminal: &Value) -> Value {
    let id = player.ask(method, &json!({"sessionId": SESSION, "terminalId": terminal}));
    player.reply(&id).unwrap_or_default()
}

fn shell(player: &mut Player, line: &str) -> Value {
    create(player, "sh", &json!(["-c", line]), &json!({}))
}

fn done(player: &mut Player, terminal: &Value) {
    call(player, "terminal/release", terminal);
}

fn sleeper(player: &mut Player) {
    in_turn(player, |player| {
        let terminal = shell(player, "echo begun; sleep 20");
        player.note("made");
        let wait =
            player.ask("terminal/wait_for_exit", &json!({"sessionId": SESSION, "terminalId": terminal}));
        player.listen(Duration::from_millis(300));
        let output = call(player, "terminal/output", &terminal)["result"].clone();
        player.note(&format!("output {output}"));
        call(player, "terminal/kill", &terminal);
        player.reply(&wait);
        done(player, &terminal);
    });
}

fn made_at_once(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let times = &seen.recording.notes;
    let made = times.iter().find(|(_, note)| note == "made").map(|(at, _)| *at).unwrap_or_default();
    let asked = seen.recording.frames.iter().find(|frame| frame.excerpt(200).contains("terminal/create"));
    let asked = asked.map(|frame| frame.at).unwrap_or_default();
    ensure(made.saturating_sub(asked) < Duration::from_secs(4), || {
        "terminal/create waits for the command".into()
    })
}

fn output_meanwhile(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let told = seen.recording.notes.iter().find_map(|(_, note)| note.strip_prefix("output "));
    let output: Value = serde_json::from_str(told.unwrap_or("null")).unwrap_or_default();
    let begun = output["output"].as_str().is_some_and(|text| text.contains("begun"));
    ensure(begun, || format!("terminal/output gives {output} while the command runs"))?;
    ensure(output["exitStatus"].is_null(), || "an exit status is given while the command runs".into())
}

fn arguments(player: &mut Player) {
    in_turn(player, |player| {
        let env = json!([{"name": "ACCORD_WORD", "value": "kept whole"}]);
        let cwd = player.cwd();
        let line = "printf '%s|%s|' \"$1\" \"$ACCORD_WORD\"; pwd";
        let terminal =
            create(player, "sh", &json!(["-c", line, "sh", "a b"]), &json!({"env": env, "cwd": cwd}));
        call(player, "terminal/wait_for_exit", &terminal);
        let output = call(player, "terminal/output", &terminal)["result"]["output"].clone();
        player.note(&format!("output {output}"));
        player.note(&format!("cwd {cwd}"));
        done(player, &terminal);
        let missing =
            player.ask("terminal/create", &json!({"sessionId": SESSION, "command": "/nonexistent/accord"}));
        player.reply(&missing);
    });
}

fn as_asked(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let notes = || seen.recording.notes.iter().map(|(_, note)| note.as_str());
    let output = notes().find_map(|note| note.strip_prefix("output ")).unwrap_or_default();
    let cwd = notes().find_map(|note| note.strip_prefix("cwd ")).unwrap_or_default();
    ensure(output.contains("a b|kept whole|"), || format!("the command printed {output}"))?;
    ensure(output.contains(cwd.trim_end_matches('/')), || format!("the command ran elsewhere: {output}"))
}

fn long_output(player: &mut Player) {
    in_turn(player, |player| {
        let line = "i=0; while [ $i -lt 200 ]; do printf '\u{e9}\u{6f22}'; i=$((i+1)); done; printf END";
        let terminal = create(player, "sh", &json!(["-c", line]), &json!({"outputByteLimit": 100}));
        call(player, "terminal/wait_for_exit", &terminal);
        let output = call(player, "terminal/output", &terminal)["result"].clone();
        player.note(&format!("output {output}"));
        done(player, &terminal);
    });
}

fn cut_at_a_character(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let told = seen.recording.notes.iter().find_map(|(_, note)| note.strip_prefix("output "));
    let output: Value = serde_json::from_str(told.unwrap_or("null")).unwrap_or_default();
    let text = output["output"].as_str().unwrap_or_default();
    ensure(text.len() <= 100, || format!("{} bytes are kept, the limit is 100", text.len()))?;
    ensure(text.ends_with("END"), || "the end of the output is not what is kept".into())?;
    ensure(!text.contains('\u{fffd}'), || "the cut is inside a character".into())?;
    ensure(output["truncated"] == true, || "truncated is not said".into())
}

fn exit_codes(player: &mut Player) {
    in_turn(player, |player| {
        for line in ["exit 0", "exit 7", "kill -9 $$"] {
            let terminal = shell(player, line);
            let status = call(player, "terminal/wait_for_exit", &terminal)["result"].clone();
            player.note(&format!("{line}: {} {}", status["exitCode"], status["signal"].is_null()));
            done(player, &terminal);
        }
    });
}

fn exits_told(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for wanted in ["exit 0: 0 true", "exit 7: 7 true"] {
        ensure(seen.noted(wanted), || format!("wait_for_exit does not tell {wanted:?}"))?;
    }
    let signalled = seen.noted("kill -9 $$: null false") || seen.noted("kill -9 $$: 137 true");
    ensure(signalled, || "wait_for_exit does not tell of the signal".into())
}

fn killed(player: &mut Player) {
    in_turn(player, |player| {
        let terminal = shell(player, "echo begun; sleep 20");
        player.listen(Duration::from_millis(300));
        for method in ["terminal/kill", "terminal/wait_for_exit", "terminal/output"] {
            let answer = call(player, method, &terminal);
            player.note(&format!("{method} {}", answer.get("error").is_none() && !answer.is_null()));
        }
        done(player, &terminal);
    });
}

fn usable_after_kill(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for method in ["terminal/kill", "terminal/wait_for_exit", "terminal/output"] {
        ensure(seen.noted(&format!("{method} true")), || format!("{method} fails on a killed terminal"))?;
    }
    Ok(())
}

fn released(player: &mut Player) {
    in_turn(player, |player| {
        let terminal = shell(player, "sleep 20");
        done(player, &terminal);
        for method in ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"] {
            let answer = call(player, method, &terminal);
            player.note(&format!("{method} {}", answer.get("error").is_some()));
        }
    });
}

/// A second release may be refused or not: nothing is left to release.
fn gone_after_release(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for method in ["terminal/output", "terminal/wait_for_exit", "terminal/kill"] {
        ensure(seen.noted(&format!("{method} true")), || format!("{method} works on a released terminal"))?;
    }
    Ok(())
}
