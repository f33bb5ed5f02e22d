//! `cargo xtask vendor`: accord-protocol alone in an empty folder, as somebody would vendor it, builds and passes its tests.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use crate::cargo::{cargo, root, show};

/// What is no part of the crate's source, at any depth.
const LEFT_OUT: [&str; 4] = ["target", "corpus", "artifacts", "coverage"];

/// Copies the crate, and builds, tests and packs the copy.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask vendor".into());
    }
    let folder = folder();
    // What an interrupted run left would be no empty folder.
    let _ = fs::remove_dir_all(&folder);
    let result = copy(&root().join("crates/accord-protocol"), &folder)
        .map_err(|error| format!("copying: {error}"))
        .and_then(|()| check(&folder));
    // The folder goes whatever came of it; that it cannot go is not what was asked about.
    let _ = fs::remove_dir_all(&folder);
    result
}

/// Outside the workspace, so that nothing is inherited, and the same in every run of this checkout: cargo tells builds
/// apart by their path, and would keep those of every other one.
fn folder() -> PathBuf {
    let mut hasher = DefaultHasher::new();
    root().hash(&mut hasher);
    std::env::temp_dir().join(format!("accord-vendor-{:x}", hasher.finish()))
}

fn check(folder: &Path) -> Result<(), String> {
    // The versions that were tested here; the copy's own lock file would have whatever is newest.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))
        .map_err(|error| format!("copying: {error}"))?;
    for arguments in [["test", "--quiet"], ["package", "--quiet"]] {
        let mut command = cargo();
        command.current_dir(folder).args(arguments).arg("--target-dir").arg(root().join("target/vendor"));
        // Nobody debugs these builds.
        show(command.env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target: PathBuf = to.join(entry.file_name());
        if LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
