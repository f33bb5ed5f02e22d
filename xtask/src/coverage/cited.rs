//! Where tests cite an id.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::{Path, PathBuf},
};

use crate::{cargo::root, tidy::tracked};

/// A test, or a check of the conformance kit, that cites an id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    path: PathBuf,
    /// The function that follows the citation, where there is one.
    function: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        match &self.function {
            Some(function) => write!(f, "[{function}](../{path})"),
            None => write!(f, "[{name}](../{path})"),
        }
    }
}

/// Every id that some test cites.
pub(crate) fn everywhere(known: &BTreeSet<&str>) -> Result<BTreeMap<String, Vec<Place>>, String> {
    let mut cited: BTreeMap<String, BTreeSet<Place>> = BTreeMap::new();
    for path in tracked()? {
        if path.extension().is_none_or(|end| end != "rs") {
            continue;
        }
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        for (id, place) in in_file(&path, &text, known) {
            cited.entry(id).or_default().insert(place);
        }
    }
    Ok(cited.into_iter().map(|(id, places)| (id, places.into_iter().collect())).collect())
}

/// What one file cites: all of a test file or a check, and what stands below `#[cfg(test)]` elsewhere.
fn in_file(path: &Path, text: &str, known: &BTreeSet<&str>) -> Vec<(String, Place)> {
    let lines: Vec<&str> = text.lines().collect();
    let whole = path.components().any(|part| {
        ["tests", "checks", "scripts", "scenario", "witness"].iter().any(|name| part.as_os_str() == *name)
    });
    let from = if whole {
        0
    } else {
        lines.iter().position(|line| line.contains("#[cfg(test)]")).unwrap_or(lines.len())
    };
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate().skip(from) {
        for id in words(line).filter(|word| known.contains(word.as_str()) && is_citation(line, word)) {
            let place = Place { path: path.to_path_buf(), function: function(&lines[index..]) };
            found.push((id, place));
        }
    }
    found
}

/// A row's id is as short as a type parameter, so it counts in a comment, in a text, or in the name of a test.
fn is_citation(line: &str, id: &str) -> bool {
    id.len() > 3 || ["//", "\"", "fn "].iter().any(|mark| line.contains(mark))
}

/// The words of a line that can be ids; `t12_…` in a name counts as `T12`.
fn words(line: &str) -> impl Iterator<Item = String> {
    let words = line.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
    words.filter(|word| word.len() > 1).map(|word| {
        let numbered =
            word.strip_prefix('t').is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        if numbered { word.to_ascii_uppercase() } else { word.to_owned() }
    })
}

/// The first function at or below the citation, if it is near.
fn function(lines: &[&str]) -> Option<String> {
    lines.iter().take(12).find_map(|line| {
        let rest = line.trim_start().trim_start_matches("pub(super) ").trim_start_matches("async ");
        let name = rest.strip_prefix("fn ")?.split(['(', '<']).next()?;
        Some(name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_citation_names_the_function_below() {
        let known = BTreeSet::from(["E11", "ACPX-TR-001", "T12"]);
        let text =
            "//! Tests.\n\n// E11, ACPX-TR-001\n#[test]\nfn it_ends() {}\n\n#[test]\nfn t12_dies() {}\n";
        let found = in_file(Path::new("a/tests/b.rs"), text, &known);
        let names: Vec<_> =
            found.iter().map(|(id, place)| (id.as_str(), place.function.as_deref())).collect();
        assert_eq!(
            names,
            [("E11", Some("it_ends")), ("ACPX-TR-001", Some("it_ends")), ("T12", Some("t12_dies"))]
        );
    }
}
