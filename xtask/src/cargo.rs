//! Running cargo and git from the workspace's root.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The root of the workspace, whatever folder the chore was started in.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// The cargo that started this chore, at the workspace's root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Runs a command with its output shown, and fails when it fails.
pub(crate) fn show(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{}: {error}", name(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", line(command))) }
}

/// What a command prints on its standard output; it must succeed.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| format!("{}: {error}", name(command)))?;
    if !output.status.success() {
        return Err(format!("{} ended with {}", line(command), output.status));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| format!("{} printed something that is not UTF-8", line(command)))
}

/// The names of all packages that PACKAGE is built with, itself excepted: normal dependencies, the features as given.
pub(crate) fn tree(package: &str, features: &[&str]) -> Result<Vec<String>, String> {
    let mut command = cargo();
    command.args(["tree", "--edges=normal", "--prefix=none", "--format={p}", "--package", package]);
    command.arg(format!("--features={}", features.join(",")));
    let mut names: Vec<String> = output(&mut command)?
        .lines()
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != package)
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// A command as one types it.
pub(crate) fn line(command: &Command) -> String {
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(program.to_string_lossy().into_owned()).chain(arguments).collect::<Vec<_>>().join(" ")
}
