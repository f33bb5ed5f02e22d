//! Changes to files as diffs: what the arguments propose, and what really happened to the file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use accord_protocol::v1::{Diff, ToolCallContent, ToolCallLocation};

use super::{Look, arguments::Arguments, show};

/// The most files of one call that are looked at.
const MOST_FILES: usize = 32;

/// The files a call would change, as they were before.
#[derive(Debug)]
pub(super) struct Edits {
    files: Vec<(PathBuf, Text)>,
}

/// A file's text, where there is one to show.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Text {
    Missing,
    Of(String),
    /// No plain file, not UTF-8, or larger than may be shown.
    Unshown,
}

impl Edits {
    pub(super) fn before(paths: Vec<PathBuf>, limit: usize) -> Self {
        Self { files: paths.into_iter().map(|path| (path.clone(), read(&path, limit))).collect() }
    }

    pub(super) fn locations(&self) -> Vec<ToolCallLocation> {
        self.files
            .iter()
            .map(|(path, before)| {
                // An editor that follows along has nothing to open where the file is only about to be made.
                let location = ToolCallLocation::new(path.clone());
                if *before == Text::Missing { location } else { location.line(1) }
            })
            .collect()
    }

    /// What the arguments say would change.
    pub(super) fn proposed(&self, look: Look, arguments: &Arguments, limit: usize) -> Vec<ToolCallContent> {
        let [(path, before)] = self.files.as_slice() else {
            return arguments
                .patch()
                .map(|patch| vec![show::text(&super::cut::fenced(&super::cut::cut(patch, limit), "diff"))])
                .unwrap_or_default();
        };
        let after = match (look, arguments.content(), arguments.replacement()) {
            (Look::Delete, ..) => Some(String::new()),
            (Look::Write, Some(content), _) => Some(content.to_owned()),
            (Look::Patch, _, Some((old, new))) => match before {
                Text::Of(text) if !old.is_empty() && text.contains(old) => {
                    let most = if arguments.replaces_all() { usize::MAX } else { 1 };
                    // What is too large to be shown need not be made: many places times a long text can be any size.
                    if text.matches(old).take(most).count().saturating_mul(new.len()) > limit {
                        return fragment(path, old, new, limit);
                    }
                    Some(text.replacen(old, new, most))
                }
                // The tool may match more loosely than this: then the two pieces tell what is meant.
                Text::Of(_) | Text::Unshown => return fragment(path, old, new, limit),
                Text::Missing => Some(new.to_owned()),
            },
            _ => None,
        };
        match after {
            Some(after) => change(path, before, &Text::Of(after), limit),
            None => arguments
                .patch()
                .map(|patch| vec![show::text(&super::cut::fenced(&super::cut::cut(patch, limit), "diff"))])
                .unwrap_or_default(),
        }
    }

    /// What has changed in the files since, whatever the arguments said.
    pub(super) fn after(&self, limit: usize) -> Vec<ToolCallContent> {
        self.files.iter().flat_map(|(path, before)| change(path, before, &read(path, limit), limit)).collect()
    }
}

/// The files that a call's arguments name.
pub(super) fn paths(look: Look, arguments: &Arguments) -> Vec<PathBuf> {
    if !look.edits() {
        return Vec::new();
    }
    if let Some(path) = arguments.path() {
        return vec![path.into()];
    }
    let mut paths: Vec<PathBuf> = Vec::new();
    for named in arguments.patch().into_iter().flat_map(str::lines).filter_map(named_in_patch) {
        if paths.len() < MOST_FILES && !paths.iter().any(|known| known == Path::new(named)) {
            paths.push(named.into());
        }
    }
    paths
}

/// The file that a line of a patch names, in the unified form or in the one with `*** Update File:` headings.
fn named_in_patch(line: &str) -> Option<&str> {
    for heading in ["*** Update File:", "*** Add File:", "*** Delete File:", "*** Move to:"] {
        if let Some(path) = line.strip_prefix(heading) {
            return Some(path.trim());
        }
    }
    let path = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- "))?;
    let path = path.split('\t').next().unwrap_or(path).trim();
    let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    (path != "/dev/null" && !path.is_empty()).then_some(path)
}

fn read(path: &Path, limit: usize) -> Text {
    // A pipe or a device would block, or never end.
    match fs::metadata(path) {
        Ok(file) if file.is_file() && file.len() <= limit as u64 => {
            fs::read_to_string(path).map_or(Text::Unshown, Text::Of)
        }
        Ok(_) => Text::Unshown,
        Err(_) => Text::Missing,
    }
}

fn change(path: &Path, before: &Text, after: &Text, limit: usize) -> Vec<ToolCallContent> {
    let too_large = || {
        vec![show::text(&format!(
            "{} changed; the change is too large, or no text, to be shown",
            path.display()
        ))]
    };
    let (old, new) = match (before, after) {
        (Text::Missing, Text::Missing) => return Vec::new(),
        (Text::Missing, Text::Of(new)) => (None, new.as_str()),
        (Text::Of(old), Text::Missing) => (Some(old), ""),
        (Text::Of(old), Text::Of(new)) if old == new => return Vec::new(),
        (Text::Of(old), Text::Of(new)) => (Some(old), new.as_str()),
        (Text::Unshown, _) | (_, Text::Unshown) => return too_large(),
    };
    if new.len() > limit || old.is_some_and(|old| old.len() > limit) {
        return too_large();
    }
    vec![diff(path, old.cloned(), new)]
}

fn fragment(path: &Path, old: &str, new: &str, limit: usize) -> Vec<ToolCallContent> {
    if old.len().max(new.len()) > limit {
        return vec![show::text(&format!(
            "{} is edited; the change is too large to be shown",
            path.display()
        ))];
    }
    vec![diff(path, Some(old.to_owned()), new)]
}

fn diff(path: &Path, old: Option<String>, new: &str) -> ToolCallContent {
    let diff = Diff::new(path, new);
    match old {
        Some(old) => diff.old_text(old).into(),
        None => diff.into(),
    }
}
