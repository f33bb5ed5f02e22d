//! The tools of the agent: what the model is told of them, and what happens when it calls one.

mod editor;
mod files;
mod group;
mod search;
mod shell;

use std::path::PathBuf;

use accord_agent::{
    blocking::{Approval, ApprovalRequest, ApprovalSlot, Callbacks, ToolResult},
    protocol::v1::Diff,
};
use serde_json::{Value, json};

use editor::Editor;
use files::Files;

/// The tools of one session.
#[derive(Debug)]
pub(crate) struct Toolbox {
    files: Files,
    approvals: ApprovalSlot,
}

impl Toolbox {
    /// Tools that work in `cwd` and, by absolute paths, in the other directories, and ask at `approvals`.
    pub(crate) fn new(cwd: PathBuf, others: Vec<PathBuf>, approvals: ApprovalSlot) -> Self {
        Self { files: Files::new(cwd, others), approvals }
    }

    pub(crate) fn approvals(&self) -> &ApprovalSlot {
        &self.approvals
    }

    /// Runs a tool and reports it; what it gives back is for the model.
    pub(crate) fn run(&self, name: &str, arguments: &Value, callbacks: &Callbacks) -> String {
        callbacks.tool_started(name, arguments.clone());
        let result = self.result(name, arguments, callbacks);
        let text = match &result.output {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        callbacks.tool_finished(name, result);
        text
    }

    fn result(&self, name: &str, arguments: &Value, callbacks: &Callbacks) -> ToolResult {
        let text = |name: &str| arguments[name].as_str();
        let missing = |name: &str| ToolResult::failed(format!("the argument {name} is missing"));
        let editor = &Editor(callbacks);
        match name {
            "read_file" => {
                let Some(path) = text("path").or_else(|| text("input")) else { return missing("path") };
                told(self.files.read(path, arguments["line"].as_u64(), arguments["limit"].as_u64(), editor))
            }
            "list_files" => told(self.files.list(text("path").unwrap_or("."))),
            "search_files" => {
                let Some(pattern) = text("pattern") else { return missing("pattern") };
                told(search::search(&self.files, pattern, text("path").unwrap_or("."), callbacks.cancel()))
            }
            "write_file" => {
                let (Some(path), Some(content)) = (text("path"), text("content")) else {
                    return missing("path or content");
                };
                self.guarded(name, arguments, path, || told(self.files.write(path, content, editor)))
            }
            "patch" => {
                let (Some(path), Some(old), Some(new)) =
                    (text("path"), text("old_string"), text("new_string"))
                else {
                    return missing("path, old_string or new_string");
                };
                let all = arguments["replace_all"] == true;
                self.guarded(name, arguments, path, || told(self.files.patch(path, old, new, all, editor)))
            }
            "shell" => {
                let Some(command) = text("command").or_else(|| text("input")) else {
                    return missing("command");
                };
                let seconds = arguments["timeout"].as_u64();
                self.guarded(name, arguments, command, || {
                    shell::run(command, self.files.cwd(), seconds, callbacks)
                })
            }
            "todo" => ToolResult::ok(arguments.clone()),
            "set_title" => {
                callbacks.title(text("title").unwrap_or_default());
                ToolResult::ok("The title is set.")
            }
            "sample_edit" => ToolResult::ok("An edit that is only shown.").and_show(sample(self.files.cwd())),
            // What other people's tools do is not known: each is asked for by its name.
            other => self.guarded(other, arguments, other, || callbacks.call_tool(other, arguments.clone())),
        }
    }

    /// Runs what changes something only once it is approved; `pattern` is what an "always" covers.
    fn guarded(
        &self,
        name: &str,
        arguments: &Value,
        pattern: &str,
        run: impl FnOnce() -> ToolResult,
    ) -> ToolResult {
        let request = ApprovalRequest::new(name, arguments.clone()).pattern(pattern);
        match self.approvals.ask(&request) {
            Approval::Deny(why) => ToolResult::failed(format!("not done: {why}")),
            _ => run(),
        }
    }
}

fn told(result: Result<String, files::Refused>) -> ToolResult {
    match result {
        Ok(text) => ToolResult::ok(text),
        Err(refused) => ToolResult::failed(refused.to_string()),
    }
}

/// A change of about 2 kB that nobody makes.
fn sample(cwd: &std::path::Path) -> Diff {
    let old = (0..16).map(|line| format!("line {line} as it was before the change was made\n"));
    let old = old.collect::<Vec<_>>().concat();
    let new = old.replace("as it was before", "as it is after");
    Diff::new(cwd.join("sample.txt"), new).old_text(old)
}

/// What the model is told of the tools.
pub(crate) fn descriptions() -> Vec<Value> {
    let text = |what: &str| json!({ "type": "string", "description": what });
    let path = || text("a path; relative ones are below the session's directory");
    let tool = |name: &str, what: &str, properties: Value, required: &[&str]| {
        let parameters = json!({ "type": "object", "properties": properties, "required": required });
        json!({ "type": "function", "function": { "name": name, "description": what, "parameters": parameters } })
    };
    vec![
        tool(
            "read_file",
            "Reads a text file.",
            json!({ "path": path(), "line": { "type": "integer" }, "limit": { "type": "integer" } }),
            &["path"],
        ),
        tool("list_files", "Lists a directory.", json!({ "path": path() }), &[]),
        tool(
            "search_files",
            "Finds lines that contain a text, in all files below a directory.",
            json!({ "pattern": text("the text"), "path": path() }),
            &["pattern"],
        ),
        tool(
            "write_file",
            "Writes a whole file; makes it where there is none.",
            json!({ "path": path(), "content": text("all of its text") }),
            &["path", "content"],
        ),
        tool(
            "patch",
            "Replaces a text that occurs once in a file, or each occurrence.",
            json!({
                "path": path(),
                "old_string": text("the text as it stands"),
                "new_string": text("the text in its place"),
                "replace_all": { "type": "boolean" },
            }),
            &["path", "old_string", "new_string"],
        ),
        tool(
            "shell",
            "Runs a command line in the session's directory.",
            json!({ "command": text("the command line"), "timeout": { "type": "integer", "description": "seconds" } }),
            &["command"],
        ),
        tool(
            "todo",
            "Says what is to be done, whole, each time it changes.",
            json!({ "todos": { "type": "array", "items": { "type": "object", "properties": {
                "content": text("what"),
                "status": { "type": "string", "enum": ["pending", "in_progress", "completed", "cancelled"] },
            } } } }),
            &["todos"],
        ),
        tool("set_title", "Names the conversation.", json!({ "title": text("a few words") }), &["title"]),
    ]
}
