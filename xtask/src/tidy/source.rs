//! What one file must look like: length, first line, no printing, no leftovers, no paths of a machine.

use std::path::Path;

use super::Finding;

/// The most lines a Rust file may have, its tests included.
const MOST_LINES: usize = 400;
/// The largest file of any kind, in bytes; the official schema is the one exception.
const MOST_BYTES: usize = 300_000;

/// Words that stand for work not done; spelled apart so that this file does not trip over itself.
const LEFTOVERS: &[&str] = &[
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("FIX", "ME"),
    concat!("TO", "DO"),
    concat!("#[ig", "nore"),
];
/// A function of a test binary that is no test: other tests start the binary again as a process that runs it.
const PROCESS: &str = concat!("#[ig", "nore = \"a process for other tests\"]");
const PRINTING: &[&str] = &["println!(", "print!(", "dbg!("];

/// Checks one file; PATH is below the workspace's root.
pub(crate) fn check(path: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |line: Option<usize>, what: String| {
        let place =
            line.map_or_else(|| path.display().to_string(), |line| format!("{}:{line}", path.display()));
        findings.push(Finding { place, what });
    };
    let official = path.components().any(|part| part.as_os_str() == "schema");
    if text.len() > MOST_BYTES && !official && path.extension().is_none_or(|end| end != "lock") {
        found(None, format!("is {} bytes; the most is {MOST_BYTES}", text.len()));
    }
    if path.extension().is_some_and(|end| end == "rs") {
        rust(path, text, &mut found);
    }
    if path.extension().is_some_and(|end| ["rs", "md", "toml", "sh", "py"].iter().any(|kind| end == *kind)) {
        for (number, line) in numbered(text) {
            if line.trim_end() != line && path.extension().is_none_or(|end| end != "md") {
                found(Some(number), "ends in white space".into());
            }
            if [concat!("/ro", "ot/"), concat!("/wo", "rk/")].iter().any(|home| line.contains(home)) {
                found(Some(number), "names a path of one machine".into());
            }
        }
    }
    findings
}

fn rust(path: &Path, text: &str, found: &mut impl FnMut(Option<usize>, String)) {
    let lines = text.lines().count();
    if lines > MOST_LINES {
        found(
            None,
            format!("has {lines} lines; the most is {MOST_LINES}: split it, or move its tests to `tests/`"),
        );
    }
    if !text.starts_with("//!") {
        found(Some(1), "does not begin with a `//!` line that says what the file is for".into());
    }
    if path.file_name().is_some_and(|name| name == "mod.rs") {
        found(None, "write `name.rs` beside `name/`".into());
    }
    for vague in ["core", "common", "util", "utils", "prelude", "helpers", "misc"] {
        if path.file_stem().is_some_and(|stem| stem == vague) {
            found(None, format!("`{vague}` does not say what is in it"));
        }
    }
    for (number, line) in numbered(text) {
        let code = line.split("//").next().unwrap_or_default();
        for word in LEFTOVERS {
            if line.contains(word) && line.trim() != PROCESS {
                found(Some(number), format!("`{word}` stands for work not done"));
            }
        }
        if code.trim_start().starts_with(concat!("#[al", "low("))
            || code.trim_start().starts_with(concat!("#![al", "low("))
        {
            found(Some(number), "write `#[expect(…, reason = \"…\")]`".into());
        }
        if !may_print(path) && PRINTING.iter().any(|word| code.trim_start().starts_with(word)) {
            found(Some(number), "prints; stdout is the wire (bins, examples, tests and xtask may)".into());
        }
        if in_tests(path) && !is_fixture(path) && code.contains("sleep(") {
            found(Some(number), "sleeps in a test; wait for what is expected instead".into());
        }
    }
    expectations(text, found);
}

/// An `expect` of a lint carries its reason, on the same line or within the next few.
fn expectations(text: &str, found: &mut impl FnMut(Option<usize>, String)) {
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let attribute = line.trim_start();
        if !(attribute.starts_with("#[expect(") || attribute.starts_with("#![expect(")) {
            continue;
        }
        let whole = lines[index..lines.len().min(index + 8)].join("\n");
        let end = whole.find(")]").unwrap_or(whole.len());
        if !whole[..end].contains("reason =") {
            found(Some(index + 1), "gives no reason".into());
        }
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

fn may_print(path: &Path) -> bool {
    path.starts_with("xtask")
        || path.components().any(|part| {
            ["bin", "examples", "tests", "benches", "fuzz", "peers"]
                .iter()
                .any(|name| part.as_os_str() == *name)
        })
}

/// What other tests start as a process may be slow on purpose.
fn is_fixture(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| stem == "fixture" || stem == "fixtures")
}

fn in_tests(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a file with this text.
    fn said(path: &str, text: &str) -> Vec<String> {
        check(Path::new(path), text).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_good_file_passes() {
        assert_eq!(said("crates/a/src/b.rs", "//! What it is for.\n\npub fn f() {}\n"), Vec::<String>::new());
    }

    #[test]
    fn each_habit_is_held() {
        let head = "//! For.\n";
        let cases = [
            ("a/src/b.rs", "fn f() {}\n".to_owned(), "does not begin"),
            ("a/src/b.rs", format!("{head}{}", "\n".repeat(400)), "401 lines"),
            ("a/src/mod.rs", head.to_owned(), "name.rs"),
            ("a/src/util.rs", head.to_owned(), "does not say"),
            ("a/src/b.rs", format!("{head}fn f() {{ {}) }}\n", LEFTOVERS[0]), "not done"),
            ("a/src/b.rs", format!("{head}#[{}(dead_code)]\n", "allow"), "expect"),
            ("a/src/b.rs", format!("{head}    {}\"x\");\n", PRINTING[0]), "prints"),
            ("a/tests/b.rs", format!("{head}    {}(d);\n", "sleep"), "sleeps"),
            ("a/src/b.rs", format!("{head}#[{}(dead_code)]\n", "expect"), "no reason"),
            ("a/src/b.rs", format!("{head}const A: &str = \"{}x\";\n", concat!("/ro", "ot/")), "one machine"),
            ("a/src/b.rs", format!("{head}fn f() {{}} \n"), "white space"),
            ("data.json", "x".repeat(MOST_BYTES + 1), "bytes"),
        ];
        for (path, text, expected) in cases {
            let found = said(path, &text);
            assert!(
                found.iter().any(|what| what.contains(expected)),
                "{path}: expected {expected:?} in {found:?}"
            );
        }
    }
}
