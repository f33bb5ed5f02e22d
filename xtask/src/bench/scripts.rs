//! The peers in other languages: their pinned packages are installed beside their scripts, once.

use std::{fs, path::Path, process::Command};

use crate::cargo::show;

/// Installs what a peer needs, and gives the commands of its agent and its client.
pub(crate) fn install(name: &str, peers: &Path) -> Result<(String, String), String> {
    let folder = peers.join(name);
    match name {
        "typescript" => {
            once(&folder.join("node_modules"), &folder.join("package.json"), || {
                show(Command::new("npm").current_dir(&folder).args([
                    "install",
                    "--no-audit",
                    "--no-fund",
                    "--no-package-lock",
                ]))
            })?;
            Ok(commands("node", &folder, "mjs"))
        }
        "python" => {
            let environment = folder.join(".venv");
            let python = environment.join("bin/python").display().to_string();
            once(&environment, &folder.join("requirements.txt"), || {
                show(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
                let requirements = folder.join("requirements.txt");
                show(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(requirements))
            })?;
            Ok(commands(&python, &folder, "py"))
        }
        _ => Err(format!("{name} is no peer that can be added; there are typescript and python")),
    }
}

/// Does something unless it was done before for the same list of packages.
fn once(made: &Path, list: &Path, install: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let wanted = fs::read_to_string(list).map_err(|error| format!("{}: {error}", list.display()))?;
    let record = made.join("installed-for");
    if fs::read_to_string(&record).is_ok_and(|done| done == wanted) {
        return Ok(());
    }
    install()?;
    fs::write(&record, wanted).map_err(|error| format!("{}: {error}", record.display()))
}

fn commands(interpreter: &str, folder: &Path, ending: &str) -> (String, String) {
    let command =
        |what: &str| format!("'{interpreter}' '{}'", folder.join(format!("{what}.{ending}")).display());
    (command("agent"), command("client"))
}
