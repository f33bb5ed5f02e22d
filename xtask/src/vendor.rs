//! `cargo xtask vendor`: accord-protocol alone in an empty folder, as somebody would vendor it, builds and passes its tests.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::cargo::{cargo, root, show};

/// What is no part of the crate's source, at any depth.
const LEFT_OUT: [&str; 4] = ["target", "corpus", "artifacts", "coverage"];

/// Copies the crate, tests the copy, and packs the crate as for a registry.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    if !arguments.is_empty() {
        return Err("usage: cargo xtask vendor".into());
    }
    let folder = std::env::temp_dir().join(format!("accord-vendor-{}", std::process::id()));
    let result = test_copy(&folder);
    // The folder goes whatever came of it; that it cannot go is not what was asked about.
    let _ = fs::remove_dir_all(&folder);
    result?;
    show(cargo().args(["package", "--package=accord-protocol", "--allow-dirty", "--quiet"]))
}

fn test_copy(folder: &Path) -> Result<(), String> {
    copy(&root().join("crates/accord-protocol"), folder).map_err(|error| format!("copying: {error}"))?;
    // The versions that were tested here; the copy's own lock file would have whatever is newest.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock"))
        .map_err(|error| format!("copying: {error}"))?;
    let target = root().join("target/vendor");
    show(cargo().current_dir(folder).args(["test", "--quiet", "--target-dir"]).arg(target))
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
