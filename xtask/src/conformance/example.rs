//! The coding agent of the guides under the kit, with each of its model backends.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use super::{WORDS, blocks::Blocks, built};

/// The agent's package, and its binary.
pub(super) const AGENT: &str = "accord-coding-agent";
const MODEL: &str = "accord-scripted-model";

/// Situations that only the subject agent knows a word for.
const SUBJECTS_OWN: [&str; 3] = ["ask", "commands", "mode"];

/// Whether a command starts the coding agent.
pub(super) fn is(command: &[String]) -> bool {
    command.first().is_some_and(|program| Path::new(program).file_stem().is_some_and(|name| name == AGENT))
}

/// Tells the kit what to type to the agent, and where the agent may keep its sessions. What is not configured otherwise
/// runs with the scripted model.
pub(super) fn introduce(call: &mut Command) {
    call.args(introduction());
    if ["ACCORD_BACKEND", "ACCORD_BASE_URL"].iter().all(|name| std::env::var_os(name).is_none()) {
        call.args(["--env", "ACCORD_BACKEND=scripted"]);
    }
}

/// Runs the kit on the agent with the scripted model, and with the same model behind a server.
pub(super) fn run(blocks: &mut Blocks) -> Result<(), String> {
    let agent = built(AGENT)?.display().to_string();
    let server = Server::start(&built(MODEL)?)?;
    let url = format!("ACCORD_BASE_URL={}", server.url);
    for (name, title, variables) in [
        (
            "coding-agent",
            "scenario and checks: coding agent, scripted model",
            &["ACCORD_BACKEND=scripted"][..],
        ),
        (
            "coding-agent-server",
            "scenario and checks: coding agent, the model behind a server",
            &[&url, "ACCORD_MODEL=plain,thorough", "ACCORD_EFFORTS=low,high"],
        ),
    ] {
        let variables = variables.iter().flat_map(|variable| ["--env".to_owned(), (*variable).to_owned()]);
        let call = ["agent".to_owned()].into_iter().chain(introduction()).chain(variables);
        let call = call.chain(blocks.flags.iter().cloned()).chain(["--".into(), agent.clone()]);
        blocks.run(name, title, &call.collect::<Vec<_>>());
    }
    Ok(())
}

/// What to type to the agent, and where it may keep its sessions.
fn introduction() -> Vec<String> {
    let mut words = vec!["--env".to_owned(), "ACCORD_STATE_DIR={STATE}".to_owned()];
    for (situation, typed) in WORDS.iter().filter(|(situation, _)| !SUBJECTS_OWN.contains(situation)) {
        words.extend([format!("--prompt-{situation}"), (*typed).to_owned()]);
    }
    words
}

/// The model server, until this is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    /// Its first line is where it listens.
    fn start(program: &Path) -> Result<Self, String> {
        let mut child = Command::new(program)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let mut url = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut url).map_err(|error| format!("{MODEL}: {error}"))?;
        }
        let server = Self { child, url: url.trim().to_owned() };
        if server.url.is_empty() { Err(format!("{MODEL} does not listen")) } else { Ok(server) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
