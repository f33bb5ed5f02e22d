//! The client's files: whole, in part, missing, outside, by a relative path.

use std::env;
use std::fs;

use serde_json::{Value, json};

use super::{Script, in_turn, needing};
use crate::wire::player::{Player, SESSION};
use crate::wire::seen::Seen;
use crate::wire::verdict::{Judged, ensure};

pub(super) const SCRIPTS: &[Script] = &[
    needing("ACPX-FS-003", "fs/readTextFile", reads, read_well),
    needing("ACPX-FS-005", "fs/writeTextFile", writes, written_well),
    needing("ACPX-FS-006", "fs/writeTextFile", writes, empty_result),
    needing("ACPX-FS-007", "fs/readTextFile", reads_nothing, all_refused),
    needing("ACPX-FS-008", "fs/readTextFile", reads_outside, all_refused),
    needing("ACPX-FS-009", "fs/readTextFile", reads_relative, all_refused),
];

const LINES: &str = "one\ntwo\nthr\u{e9}e\nfour\n";

/// A path in the session's directory.
fn path(player: &Player, name: &str) -> String {
    format!("{}/{name}", player.cwd().trim_end_matches('/'))
}

fn read(player: &mut Player, path: &str, more: &Value) {
    let mut params = json!({"sessionId": SESSION, "path": path});
    if let (Some(params), Some(more)) = (params.as_object_mut(), more.as_object()) {
        params.extend(more.clone());
    }
    let id = player.ask("fs/read_text_file", &params);
    player.reply(&id);
}

fn reads(player: &mut Player) {
    in_turn(player, |player| {
        let file = path(player, "accord-lines.txt");
        if fs::write(&file, LINES).is_err() {
            player.note("no file could be written");
        }
        for more in [
            json!({}),
            json!({"line": 2}),
            json!({"limit": 2}),
            json!({"line": 2, "limit": 1}),
            json!({"line": 99}),
        ] {
            read(player, &file, &more);
        }
    });
}

fn read_well(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    let expected = [LINES, "two\nthr\u{e9}e\nfour\n", "one\ntwo\n", "two\n", ""];
    for (id, expected) in expected.iter().enumerate() {
        let answer = seen.answer(&json!(id))?;
        let content = answer["result"]["content"].as_str();
        // The newline that ends the last line may go either way; a line past the end may also be an error.
        let fits =
            content.is_some_and(|content| content.trim_end_matches('\n') == expected.trim_end_matches('\n'));
        let past = expected.is_empty() && answer.get("error").is_some();
        ensure(fits || past, || format!("read {id} gives {answer}, not {expected:?}"))?;
    }
    Ok(())
}

fn writes(player: &mut Player) {
    in_turn(player, |player| {
        for (name, content) in [("accord-new.txt", "new"), ("accord-old.txt", "replaced")] {
            let file = path(player, name);
            if name == "accord-old.txt" {
                // A file that can't be made is found missing by the judge.
                let _ = fs::write(&file, "a longer text that has to go");
            }
            let id = player
                .ask("fs/write_text_file", &json!({"sessionId": SESSION, "path": file, "content": content}));
            player.reply(&id);
            let now = fs::read_to_string(&file).unwrap_or_default();
            player.note(&format!("{name}: {now}"));
        }
    });
}

fn written_well(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for wanted in ["accord-new.txt: new", "accord-old.txt: replaced"] {
        ensure(seen.noted(wanted), || format!("after the write the disk does not say {wanted:?}"))?;
    }
    Ok(())
}

fn empty_result(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for id in seen.asked("fs/write_text_file") {
        let result = seen.result(&id)?;
        ensure(result.is_object(), || format!("the result of fs/write_text_file is {result}"))?;
    }
    Ok(())
}

fn reads_nothing(player: &mut Player) {
    in_turn(player, |player| {
        let missing = path(player, "accord-missing.txt");
        read(player, &missing, &json!({}));
        let folder = path(player, "");
        read(player, &folder, &json!({}));
    });
}

fn reads_outside(player: &mut Player) {
    in_turn(player, |player| {
        let outside = env::temp_dir().join(format!("accord-outside-{}.txt", std::process::id()));
        if fs::write(&outside, "secret").is_err() {
            player.note("no file could be written");
        }
        read(player, &outside.to_string_lossy(), &json!({}));
        let climbing = format!("{}/../../../../../../../../{}", player.cwd(), outside.display());
        read(player, &climbing, &json!({}));
        // What can't be removed stays in the temporary folder.
        let _ = fs::remove_file(outside);
    });
}

fn reads_relative(player: &mut Player) {
    in_turn(player, |player| read(player, "accord-lines.txt", &json!({})));
}

fn all_refused(seen: &Seen<'_>) -> Judged {
    seen.survived()?;
    for id in seen.asked("fs/read_text_file") {
        let answer = seen.answer(&id)?;
        ensure(answer.get("error").is_some(), || format!("the file is given: {}", answer["result"]))?;
    }
    Ok(())
}
