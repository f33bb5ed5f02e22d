//! Titles, and what stands in a tool call's content before and after it ran.

use std::{fmt::Write as _, path::Path};

use accord_protocol::v1::{ContentBlock, ToolCallContent};
use serde_json::Value;

use super::{Look, ToolResult, arguments::Arguments, edits};
use crate::blocking::cut::{cut, fenced, line};

/// A title's length, in characters.
const TITLE: usize = 80;

/// One line that says what a call does; the tool's name where its arguments do not tell.
pub(super) fn title(look: Look, name: &str, arguments: &Arguments, cwd: &Path) -> String {
    let named = match look {
        Look::Read => arguments.path().map(|path| match arguments.line() {
            Some(at) => format!("Read {}:{at}", short(cwd, path)),
            None => format!("Read {}", short(cwd, path)),
        }),
        Look::Write => arguments.path().map(|path| format!("Write {}", short(cwd, path))),
        Look::Delete => arguments.path().map(|path| format!("Delete {}", short(cwd, path))),
        Look::Patch => edited(arguments, cwd),
        Look::Search => arguments.pattern().map(|pattern| match arguments.path() {
            Some(path) => format!("Search {pattern} in {}", short(cwd, path)),
            None => format!("Search {pattern}"),
        }),
        Look::Shell => arguments.command().map(|command| format!("Run {command}")),
        Look::Code => arguments
            .code()
            .and_then(|code| code.lines().find(|line| !line.trim().is_empty()))
            .map(str::to_owned),
        Look::Fetch => arguments.address().map(|address| format!("Fetch {address}")),
        Look::Think => Some("Think".to_owned()),
        Look::Todo => Some("Update the plan".to_owned()),
        Look::Plain => None,
    };
    let listed = || {
        (look == Look::Search).then(|| arguments.path().map(|path| format!("List {}", short(cwd, path))))?
    };
    line(&named.or_else(listed).unwrap_or_else(|| name.to_owned()), TITLE)
}

fn edited(arguments: &Arguments, cwd: &Path) -> Option<String> {
    let paths = edits::paths(Look::Patch, arguments);
    let (first, rest) = paths.split_first()?;
    let first = short(cwd, &first.to_string_lossy());
    Some(if rest.is_empty() {
        format!("Edit {first}")
    } else {
        format!("Edit {first} and {} more", rest.len())
    })
}

/// A path inside the session's directory is shown from there on.
fn short(cwd: &Path, path: &str) -> String {
    match Path::new(path).strip_prefix(cwd) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.display().to_string(),
        Err(_) => path.to_owned(),
    }
}

/// What is shown of a call that has not run.
pub(super) fn beginning(look: Look, arguments: &Arguments, limit: usize) -> Vec<ToolCallContent> {
    let shown = match look {
        Look::Shell => {
            arguments.command().map(|command| fenced(&cut(&format!("$ {command}"), limit), "console"))
        }
        Look::Code => arguments.code().map(|code| fenced(&cut(code, limit), "")),
        Look::Think => arguments.thought().map(|thought| cut(thought, limit).into_owned()),
        Look::Plain if !arguments.is_empty() => {
            Some(fenced(&cut(&format!("{:#}", arguments.value()), limit), "json"))
        }
        _ => None,
    };
    shown.iter().map(|shown| text(shown)).collect()
}

/// What is shown of a call that has run; edits that succeeded are shown as diffs instead.
pub(super) fn result(
    look: Look,
    arguments: &Arguments,
    result: &ToolResult,
    limit: usize,
) -> Vec<ToolCallContent> {
    let shown = match look {
        Look::Shell => console(arguments.command(), result, limit),
        Look::Code => console(None, result, limit),
        Look::Read | Look::Search if !result.is_failed() => fenced_or_nothing(&body(result), "", limit),
        Look::Todo if !result.is_failed() => String::new(),
        Look::Plain if !matches!(result.output, Value::String(_) | Value::Null) => {
            fenced_or_nothing(&result.text(), "json", limit)
        }
        _ => cut(&body(result), limit).into_owned(),
    };
    if shown.is_empty() { Vec::new() } else { vec![text(&shown)] }
}

pub(super) fn text(text: &str) -> ToolCallContent {
    ContentBlock::text(text).into()
}

fn fenced_or_nothing(body: &str, language: &str, limit: usize) -> String {
    if body.is_empty() { String::new() } else { fenced(&cut(body, limit), language) }
}

/// The command, what it printed, and how it ended where that was not well.
fn console(command: Option<&str>, result: &ToolResult, limit: usize) -> String {
    let mut shown = command.map(|command| format!("$ {command}\n")).unwrap_or_default();
    shown.push_str(&body(result));
    let mut shown = cut(&shown, limit).into_owned();
    let status = result.object().and_then(|object| {
        ["exit_code", "returncode"].iter().find_map(|name| object.get(*name).and_then(Value::as_i64))
    });
    if let Some(status) = status.filter(|status| *status != 0) {
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        write!(shown, "[exit status {status}]").expect("writing to a string cannot fail");
    }
    if shown.is_empty() { shown } else { fenced(&shown, "console") }
}

/// The part of a result that people read: an object's texts, in the order of their use, or the whole.
fn body(result: &ToolResult) -> String {
    let Some(object) = result.object() else { return result.text() };
    let mut parts = Vec::new();
    for name in ["output", "stdout", "content", "text", "message", "result", "stderr", "error"] {
        if let Some(part) = object.get(name).and_then(Value::as_str).filter(|part| !part.is_empty()) {
            parts.push(part.trim_end_matches('\n'));
        }
    }
    if parts.is_empty() {
        let tells = |(name, value): (&String, &Value)| {
            !["exit_code", "returncode", "success", "ok"].contains(&name.as_str())
                && !value.is_null()
                && value != ""
        };
        let only_status = object.as_object().is_some_and(|members| !members.iter().any(tells));
        return if only_status { String::new() } else { format!("{object:#}") };
    }
    parts.join("\n")
}
