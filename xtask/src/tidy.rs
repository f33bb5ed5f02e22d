//! `cargo xtask tidy`: the habits of `docs/style.md` that a machine can hold.

mod layering;
mod source;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::cargo::{output, root};

/// A habit that something in the tree breaks: where, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The path below the workspace's root, with a line where there is one.
    pub(crate) place: String,
    /// What is wrong, and what to do about it.
    pub(crate) what: String,
}

/// Checks the whole tree, prints each finding, and fails when there is one.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask tidy".into());
    }
    let mut findings = Vec::new();
    let mut files = 0;
    for path in tracked()? {
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        files += 1;
        findings.extend(source::check(&path, &text));
    }
    findings.extend(layering::check()?);
    for finding in &findings {
        println!("{}: {}", finding.place, finding.what);
    }
    match findings.len() {
        0 => {
            println!("{files} files are tidy, and the crates keep their layers");
            Ok(())
        }
        count => Err(format!("{count} findings")),
    }
}

/// The files git tracks or would track, below the root.
pub(crate) fn tracked() -> Result<Vec<PathBuf>, String> {
    let mut git = Command::new("git");
    git.current_dir(root()).args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    Ok(output(&mut git)?.lines().map(|line| Path::new(line).to_path_buf()).collect())
}
