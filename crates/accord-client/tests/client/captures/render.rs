//! A transcript as a few lines of text: enough to see what changed.

use std::fmt::Write;

use accord_client::{Transcript, transcript::Entry};

/// Long texts are told by their beginning and their length.
const SHOWN: usize = 60;

pub(super) fn session(text: &mut String, id: &str, transcript: &Transcript) {
    let state = transcript.state();
    line(text, &format!("session {id}"));
    if let Some(title) = &state.title {
        line(text, &format!("  title {}", short(title)));
    }
    if let Some(modes) = &state.modes {
        line(text, &format!("  mode {}", modes.current_mode_id));
    }
    for option in &state.config_options {
        line(text, &format!("  option {}", option.id));
    }
    if !state.commands.is_empty() {
        line(text, &format!("  {} commands", state.commands.len()));
    }
    if let Some(usage) = &state.usage {
        line(text, &format!("  usage {} of {}", usage.used, usage.size));
    }
    for entry in transcript.plan() {
        line(text, &format!("  plan {} {}", entry.status, short(&entry.content)));
    }
    for entry in transcript.entries() {
        line(text, &format!("  {}", shown(entry)));
    }
}

fn shown(entry: &Entry) -> String {
    match entry {
        Entry::Message(message) => {
            let others = message.blocks.iter().filter(|block| block.as_text().is_none()).count();
            let others =
                if others == 0 { String::new() } else { format!(" and {others} blocks that are no text") };
            format!("{:?}: {}{others}", message.speaker, short(&message.text()))
        }
        Entry::Call(call) => {
            let kind = call.call.kind.as_ref().map(ToString::to_string).unwrap_or_default();
            let content = call.call.content.as_ref().map_or(0, Vec::len);
            format!("call [{kind}] {} {:?}, {content} contents", short(&call.call.title), call.state)
        }
        Entry::Notice(notice) => format!("notice {} {}", notice.severity, short(&notice.title)),
        Entry::Compaction(compaction) => format!("compaction {}", compaction.status),
        _ => "something new".to_owned(),
    }
}

fn short(text: &str) -> String {
    let shown: String = text.chars().take(SHOWN).collect();
    let rest = text.chars().count().saturating_sub(SHOWN);
    if rest == 0 { format!("{shown:?}") } else { format!("{shown:?} and {rest} more") }
}

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes whatever is written to it");
}
