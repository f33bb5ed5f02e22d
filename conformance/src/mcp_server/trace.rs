//! The trace a mounted server leaves, by which a check sees what the agent did with it.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

/// Where to write, if anywhere; a line a step, appended in one write so that several servers may share a file.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    path: Option<Arc<PathBuf>>,
}

impl Trace {
    pub(super) fn to(path: Option<PathBuf>) -> Self {
        Self { path: path.map(Arc::new) }
    }

    /// The first line: by it a check compares program, arguments, environment and directory with what it declared.
    pub(super) fn started(&self, args: &[String]) {
        let env: BTreeMap<String, String> = std::env::vars_os()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            .collect();
        self.write(&json!({
            "event": "start",
            "pid": std::process::id(),
            "args": args,
            "cwd": std::env::current_dir().ok(),
            "env": env,
        }));
    }

    pub(super) fn event(&self, event: &str) {
        self.write(&json!({"event": event, "pid": std::process::id()}));
    }

    pub(super) fn call(&self, tool: &str, arguments: &Value) {
        self.write(
            &json!({"event": "call", "pid": std::process::id(), "tool": tool, "arguments": arguments}),
        );
    }

    /// What an HTTP client sent along, by which a check sees that its headers arrive.
    pub(super) fn headers(&self, headers: &BTreeMap<String, String>) {
        self.write(&json!({"event": "headers", "pid": std::process::id(), "headers": headers}));
    }

    fn write(&self, line: &Value) {
        let Some(path) = &self.path else { return };
        let opened = OpenOptions::new().create(true).append(true).open(path.as_path());
        if let Ok(mut file) = opened {
            // A trace that can't be written shows as a missing line in the check that reads it.
            let _ = file.write_all(format!("{line}\n").as_bytes());
        }
    }
}
