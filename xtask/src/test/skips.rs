//! Runs tests and notes which of them were skipped: a test that can't be run where it is says so on its output, and ends well.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use crate::cargo::line;

/// How such a test begins its word.
const WORD: &str = "skipped: ";

/// Runs `cargo test …` with its output shown, but for what tests that passed have printed; skips go to `skipped`.
pub(super) fn show(command: &mut Command, skipped: &mut Vec<String>) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cargo test: {error}");
    let mut child = command.args(["--", "--show-output"]).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut sorted = Sorted::default();
    if let Some(stdout) = child.stdout.take() {
        for text in BufReader::new(stdout).split(b'\n') {
            let text = String::from_utf8_lossy(&text.map_err(failed)?).into_owned();
            if let Some(shown) = sorted.take(text) {
                println!("{shown}");
            }
        }
    }
    skipped.append(&mut sorted.skipped);
    let status = child.wait().map_err(failed)?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", line(command))) }
}

/// The lines of a test run, what passed tests have printed set apart.
#[derive(Debug, Default)]
struct Sorted {
    /// Between `successes:` and what follows them.
    inside: bool,
    test: String,
    skipped: Vec<String>,
}

impl Sorted {
    /// The line, if it is to be shown.
    fn take(&mut self, text: String) -> Option<String> {
        if text == "successes:" {
            self.inside = true;
        } else if text == "failures:" || text.starts_with("test result: ") {
            self.inside = false;
        }
        if !self.inside {
            return Some(text);
        }
        if let Some(test) = text.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            test.clone_into(&mut self.test);
        } else if let Some(why) = text.strip_prefix(WORD) {
            self.skipped.push(format!("{}: {why}", self.test));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_tests_print_is_hidden_and_skips_are_noted() {
        let output = "running 2 tests\ntest a::b ... ok\n\nsuccesses:\n\n---- a::b stdout ----\nmuch\nskipped: no tool\n\n\
                      successes:\n    a::b\n\ntest result: ok. 1 passed\nfailures:\n\n---- c stdout ----\nskipped: never";
        let mut sorted = Sorted::default();
        let shown: Vec<String> = output.lines().filter_map(|line| sorted.take(line.to_owned())).collect();
        assert_eq!(sorted.skipped, ["a::b: no tool"]);
        assert_eq!(shown[..4], ["running 2 tests", "test a::b ... ok", "", "test result: ok. 1 passed"]);
        assert_eq!(shown.len(), 8, "what failed is shown whole: {shown:?}");
    }
}
