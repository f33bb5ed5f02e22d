//! What the names of tools stand for.

use std::collections::HashMap;

use accord_protocol::v1::ToolKind;

/// What a tool does, as far as showing it goes. It decides kind, title, content and locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Look {
    /// Reads a file (`path`, `line`): a preview of the text.
    Read,
    /// Writes a whole file (`path`, `content`): a diff.
    Write,
    /// Changes parts of files (`path`, `old_string`, `new_string`; or `patch`): diffs.
    Patch,
    /// Removes a file (`path`): a diff.
    Delete,
    /// Looks for something in files (`pattern`, `path`): a preview of the matches.
    Search,
    /// Runs a command line (`command`): the command and its output.
    Shell,
    /// Runs a piece of code (`code`): the code and its output.
    Code,
    /// Fetches something from elsewhere (`url` or `query`): a preview.
    Fetch,
    /// Thinks: a text.
    Think,
    /// Keeps the list of what is to be done: the session's plan.
    Todo,
    /// Anything else: arguments and result as they are.
    Plain,
}

impl Look {
    pub(super) fn kind(self) -> ToolKind {
        match self {
            Self::Read => ToolKind::Read,
            Self::Write | Self::Patch => ToolKind::Edit,
            Self::Delete => ToolKind::Delete,
            Self::Search => ToolKind::Search,
            Self::Shell | Self::Code => ToolKind::Execute,
            Self::Fetch => ToolKind::Fetch,
            Self::Think | Self::Todo => ToolKind::Think,
            Self::Plain => ToolKind::Other,
        }
    }

    /// Whether it changes files.
    pub(in crate::blocking) fn edits(self) -> bool {
        matches!(self, Self::Write | Self::Patch | Self::Delete)
    }

    /// Whether it is the sort of tool that asks before it runs; until it has, or shows progress, it counts as pending.
    pub(in crate::blocking) fn may_ask(self) -> bool {
        self.edits() || matches!(self, Self::Shell | Self::Code)
    }

    pub(super) fn has_path(self) -> bool {
        self.edits() || matches!(self, Self::Read | Self::Search)
    }
}

/// Which tool looks like what; names that it does not hold are [`Look::Plain`].
#[derive(Clone, Debug)]
pub struct ToolTable {
    looks: HashMap<String, Look>,
}

/// The names that coding agents commonly give their tools.
const STANDARD: &[(Look, &[&str])] = &[
    (Look::Read, &["read", "read_file", "view", "view_file", "cat", "open_file"]),
    (Look::Write, &["write", "write_file", "create_file", "save_file"]),
    (
        Look::Patch,
        &["patch", "apply_patch", "edit", "edit_file", "multi_edit", "str_replace", "replace_in_file"],
    ),
    (Look::Delete, &["delete", "delete_file", "remove_file"]),
    (
        Look::Search,
        &[
            "search",
            "search_files",
            "grep",
            "glob",
            "find",
            "find_files",
            "list",
            "list_files",
            "list_directory",
        ],
    ),
    (Look::Shell, &["shell", "bash", "terminal", "run", "run_command", "execute_command", "exec"]),
    (Look::Code, &["execute_code", "python", "run_code"]),
    (Look::Fetch, &["fetch", "web_fetch", "web_search", "web_extract", "browser_navigate"]),
    (Look::Think, &["think", "_thinking"]),
    (Look::Todo, &["todo", "todo_write", "update_plan"]),
];

impl ToolTable {
    /// A table without names.
    pub fn empty() -> Self {
        Self { looks: HashMap::new() }
    }

    /// A table with the names that coding agents commonly use.
    pub fn standard() -> Self {
        let looks = STANDARD
            .iter()
            .flat_map(|(look, names)| names.iter().map(|name| ((*name).to_owned(), *look)))
            .collect();
        Self { looks }
    }

    /// Says what the tool `name` looks like.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, look: Look) -> Self {
        self.looks.insert(name.into(), look);
        self
    }

    /// What the tool `name` looks like.
    pub fn look(&self, name: &str) -> Look {
        self.looks.get(name).copied().unwrap_or(Look::Plain)
    }
}

impl Default for ToolTable {
    fn default() -> Self {
        Self::standard()
    }
}
