//! How an editor is shown what a tool does: a table from the names of tools to kinds, titles, diffs and previews.

mod arguments;
mod edits;
mod outcome;
mod show;
mod table;

use std::path::{Component, Path, PathBuf};

use accord_protocol::{
    open::Json,
    v1::{ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate},
};
use serde_json::{Value, json};

use arguments::Arguments;
use edits::Edits;
pub use outcome::ToolResult;
pub use table::{Look, ToolTable};

use super::cut;

/// How much of a tool's input and output is shown, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Of a text in a tool call's content; what is longer is cut and marked.
    pub shown: usize,
    /// Of `rawInput` and of `rawOutput` each; what is longer is replaced by its size and its beginning.
    pub raw: usize,
    /// Of a file's text before and after a change; a larger change is told, not shown.
    pub diff: usize,
    /// Of the latest progress of a running tool.
    pub progress: usize,
}

impl Default for Limits {
    /// 8 KiB shown, 64 KiB raw, 256 KiB for each side of a diff, 4 KiB of progress.
    fn default() -> Self {
        Self { shown: 8 << 10, raw: 64 << 10, diff: 256 << 10, progress: 4 << 10 }
    }
}

impl Limits {
    /// Sets [`Limits::shown`].
    #[must_use]
    pub fn shown(mut self, bytes: usize) -> Self {
        self.shown = bytes;
        self
    }

    /// Sets [`Limits::raw`].
    #[must_use]
    pub fn raw(mut self, bytes: usize) -> Self {
        self.raw = bytes;
        self
    }

    /// Sets [`Limits::diff`].
    #[must_use]
    pub fn diff(mut self, bytes: usize) -> Self {
        self.diff = bytes;
        self
    }

    /// Sets [`Limits::progress`].
    #[must_use]
    pub fn progress(mut self, bytes: usize) -> Self {
        self.progress = bytes;
        self
    }
}

/// Draws the tool calls of one session.
#[derive(Clone, Debug)]
pub(super) struct Renderer {
    pub(super) table: ToolTable,
    pub(super) limits: Limits,
    pub(super) cwd: PathBuf,
}

/// One tool call as it is drawn, from its arguments to its result.
#[derive(Debug)]
pub(super) struct Drawing {
    name: String,
    look: Look,
    arguments: Arguments,
    edits: Edits,
    limits: Limits,
    cwd: PathBuf,
}

impl Renderer {
    /// Looks at a call that is about to run; the files it would change are read now, while they are as they were.
    pub(super) fn draw(&self, name: &str, arguments: &Value) -> Drawing {
        let arguments = Arguments::of(arguments);
        let look = self.table.look(name);
        let paths =
            edits::paths(look, &arguments).into_iter().map(|path| absolute(&self.cwd, &path)).collect();
        Drawing {
            name: name.to_owned(),
            look,
            edits: Edits::before(paths, self.limits.diff),
            arguments,
            limits: self.limits,
            cwd: self.cwd.clone(),
        }
    }
}

impl Drawing {
    pub(super) fn look(&self) -> Look {
        self.look
    }

    pub(super) fn arguments(&self) -> &Value {
        self.arguments.value()
    }

    /// The call as it is announced.
    pub(super) fn announce(
        &self,
        id: impl Into<accord_protocol::v1::ToolCallId>,
        status: ToolCallStatus,
    ) -> ToolCall {
        let mut call = ToolCall::new(id, show::title(self.look, &self.name, &self.arguments, &self.cwd))
            .name(self.name.clone())
            .kind(self.look.kind())
            .status(status);
        let content = self.beginning();
        if !content.is_empty() {
            call = call.content(content);
        }
        let locations = self.locations();
        if !locations.is_empty() {
            call = call.locations(locations);
        }
        if !self.arguments.is_empty() {
            call = call.raw_input(bounded(self.arguments.value(), self.limits.raw));
        }
        call
    }

    /// The latest of what a running tool has said.
    pub(super) fn progress(&self, said: &str) -> Vec<ToolCallContent> {
        let mut content = self.beginning();
        content.push(show::text(&cut::fenced(cut::tail(said, self.limits.progress), "")));
        content
    }

    /// What the call has come to.
    pub(super) fn finish(
        &self,
        id: impl Into<accord_protocol::v1::ToolCallId>,
        result: &ToolResult,
    ) -> ToolCallUpdate {
        let failed = result.is_failed();
        let mut content = Vec::new();
        if !failed && self.look.edits() {
            content = self.edits.after(self.limits.diff);
        }
        if content.is_empty() {
            content = show::result(self.look, &self.arguments, result, self.limits.shown);
        }
        content.extend(result.content.iter().cloned());
        let status = if failed { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let mut update = ToolCallUpdate::new(id).status(status).content(content);
        if !result.output.is_null() {
            update = update.raw_output(bounded(&result.output, self.limits.raw));
        }
        update
    }

    fn beginning(&self) -> Vec<ToolCallContent> {
        if self.look.edits() {
            return self.edits.proposed(self.look, &self.arguments, self.limits.diff);
        }
        show::beginning(self.look, &self.arguments, self.limits.shown)
    }

    fn locations(&self) -> Vec<ToolCallLocation> {
        if self.look.edits() {
            return self.edits.locations();
        }
        let Some(path) = self.arguments.path().filter(|_| self.look.has_path()) else { return Vec::new() };
        let mut location = ToolCallLocation::new(absolute(&self.cwd, Path::new(path)));
        if let Some(line) = self.arguments.line() {
            location = location.line(line);
        }
        vec![location]
    }
}

/// A path as the protocol wants it: absolute, with the session's directory as the base, and without `.` and `..`.
pub(super) fn absolute(cwd: &Path, path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in cwd.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// A value as it is, or, where it is larger than `limit`, its size and its beginning.
fn bounded(value: &Value, limit: usize) -> Json {
    let text = value.to_string();
    if text.len() <= limit {
        return Json::from(value.clone());
    }
    let plain = value.as_str().unwrap_or(&text);
    // The quotes and escapes of the beginning count too: half the limit leaves room for nearly all texts.
    Json::from(json!({ "truncated": true, "bytes": text.len(), "beginning": cut::head(plain, limit / 2) }))
}

#[cfg(test)]
mod tests;
