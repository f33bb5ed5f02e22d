//! Renders the protocol's diffs (a path, an old and a new text) as unified diffs.

use std::borrow::Cow;
use std::fmt::Write as _;

use similar::{Algorithm, TextDiff};

/// Both texts together may have this many bytes before lines are no longer compared.
pub const MAX_COMPARED_BYTES: usize = 2 * 1024 * 1024;

/// Both texts together may have this many lines before lines are no longer compared.
///
/// A bound on size rather than on time: the same diff renders to the same text on a busy machine.
pub const MAX_COMPARED_LINES: usize = 20_000;

/// Lines of context around each change.
const CONTEXT: usize = 3;

/// Renders the change from `old` to `new` as a unified diff of its changed lines with three lines of context.
///
/// An absent old text counts as empty. Equal texts give a header alone. Above [`MAX_COMPARED_BYTES`] or
/// [`MAX_COMPARED_LINES`] the result is one hunk that replaces everything: still a valid patch, no longer a small one.
#[must_use]
pub fn unified(path: &str, old: Option<&str>, new: &str) -> String {
    let old = old.unwrap_or_default();
    let path = header_path(path);
    let mut out = format!("--- {path}\n+++ {path}\n");
    if is_comparable(old, new) {
        let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_lines(old, new);
        for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "{hunk}");
        }
    } else if old != new {
        replace_all(&mut out, old, new);
    }
    out
}

fn is_comparable(old: &str, new: &str) -> bool {
    old.len() + new.len() <= MAX_COMPARED_BYTES && line_count(old) + line_count(new) <= MAX_COMPARED_LINES
}

fn line_count(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

/// A line break in a path would read as a line of the patch.
fn header_path(path: &str) -> Cow<'_, str> {
    if path.chars().any(char::is_control) { Cow::Owned(format!("{path:?}")) } else { Cow::Borrowed(path) }
}

fn replace_all(out: &mut String, old: &str, new: &str) {
    let range = |text: &str| match line_count(text) {
        0 => "0,0".to_owned(),
        count => format!("1,{count}"),
    };
    let _ = writeln!(out, "@@ -{} +{} @@", range(old), range(new));
    for (sign, text) in [('-', old), ('+', new)] {
        for line in text.split_inclusive('\n') {
            out.push(sign);
            out.push_str(line);
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // E17
    #[test]
    fn a_small_change_shows_its_lines_with_context() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        assert_eq!(
            unified("/a.txt", Some(old), new),
            "--- /a.txt\n+++ /a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
    }

    // E17: a null old text counts as empty.
    #[test]
    fn a_new_file_is_all_additions() {
        let expected = "--- /n\n+++ /n\n@@ -0,0 +1,2 @@\n+x\n+y\n\\ No newline at end of file\n";
        assert_eq!(unified("/n", None, "x\ny"), expected);
        assert_eq!(unified("/n", Some(""), "x\ny"), expected);
    }

    // E17: above the stated size everything is replaced, and the patch is still well formed.
    #[test]
    fn a_huge_change_replaces_everything() {
        let old = "a\n".repeat(MAX_COMPARED_LINES);
        let new = format!("{old}b");
        let patch = unified("/big", Some(&old), &new);
        assert!(patch.starts_with("--- /big\n+++ /big\n@@ -1,20000 +1,20001 @@\n-a\n"));
        assert!(patch.ends_with("+a\n+b\n\\ No newline at end of file\n"));
        assert_eq!(patch.lines().filter(|line| *line == "-a").count(), MAX_COMPARED_LINES);
    }

    #[test]
    fn equal_texts_and_odd_paths_stay_well_formed() {
        assert_eq!(unified("/same", Some("x\n"), "x\n"), "--- /same\n+++ /same\n");
        assert!(unified("/a\n+b", None, "x\n").starts_with("--- \"/a\\n+b\"\n"));
        assert!(unified("/crlf", Some("a\r\nb\r\n"), "a\r\nc\r\n").contains("-b\r\n+c\r\n"));
    }
}
