//! Finding lines in the files below a directory.

use std::{fs, path::Path};

use accord_agent::blocking::Cancel;

use super::files::{Files, Refused};

/// The most matches that are told.
const MOST_MATCHES: usize = 200;
/// The longest line that is told, in characters.
const LONGEST_LINE: usize = 300;
/// Directories that hold what others made.
const SKIPPED: &[&str] = &[".git", "target", "node_modules", ".venv", "__pycache__"];

/// The lines that contain `pattern`, as `path:line: text`, in the order of the paths.
pub(super) fn search(files: &Files, pattern: &str, path: &str, cancel: &Cancel) -> Result<String, Refused> {
    let root = files.resolve(path)?;
    let base = files.resolve(".")?;
    let mut found = Vec::new();
    let mut left = vec![root];
    while let Some(next) = left.pop() {
        if cancel.is_set() || found.len() >= MOST_MATCHES {
            break;
        }
        // Links are not followed: they could lead out, or around in circles.
        let Ok(about) = fs::symlink_metadata(&next) else { continue };
        if about.is_dir() {
            left.extend(below(&next));
        } else if about.is_file() {
            let shown = next.strip_prefix(&base).unwrap_or(&next).display().to_string();
            let Ok(text) = files.text(&next.to_string_lossy()) else { continue };
            matches(&text, pattern, &shown, &mut found);
        }
    }
    if found.is_empty() {
        return Ok(format!("No line contains {pattern}."));
    }
    if found.len() >= MOST_MATCHES {
        found.truncate(MOST_MATCHES);
        found.push(format!("[the first {MOST_MATCHES} matches]"));
    }
    Ok(found.join("\n"))
}

fn below(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries
        .flatten()
        .filter(|entry| !SKIPPED.iter().any(|skipped| entry.file_name() == *skipped))
        .map(|entry| entry.path())
        .collect();
    // The last is looked at first.
    paths.sort_by(|a, b| b.cmp(a));
    paths
}

fn matches(text: &str, pattern: &str, shown: &str, found: &mut Vec<String>) {
    for (index, line) in text.lines().enumerate().filter(|(_, line)| line.contains(pattern)) {
        if found.len() >= MOST_MATCHES {
            return;
        }
        let line: String = line.chars().take(LONGEST_LINE).collect();
        found.push(format!("{shown}:{}: {line}", index + 1));
    }
}
