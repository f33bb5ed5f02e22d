//! Defects of agents: how the subject agent is spoiled, and the tables.

mod cancel;
mod gates;
mod handshake;
mod lines;
mod mcp;
mod permissions;
mod prompts;
mod restarts;
mod restore;
mod sessions;
mod settings;
mod witness;

use crate::judge::spoiler;
use crate::table::Defect;

/// Checks that no defect can trip, and why.
pub(crate) const SPARED: &[(&str, &str)] =
    &[("ACP-STDERR-001", "anything may be on stderr: it is recorded with a turn, and never judged")];

/// What to type to the subject agent.
const WORDS: &[&str] = &[
    "--prompt-echo=echo {TEXT}",
    "--prompt-slow=slow 20000",
    "--prompt-tool=write {PATH} {TEXT}",
    "--prompt-mcp=mcp {TOOL} {JSON}",
    "--prompt-stream=stream 2000 200",
    "--prompt-history=history",
    "--prompt-think=think {TEXT}",
    "--prompt-whoami=whoami",
    "--prompt-read=read {PATH}",
    "--prompt-run=run {COMMAND}",
    "--prompt-ask=ask",
    "--prompt-usage=usage",
    "--prompt-title=title {TEXT}",
    "--prompt-plan=plan",
    "--prompt-commands=commands",
    "--prompt-mode=mode auto",
    "--prompt-refuse=refuse",
    "--prompt-limit=limit",
    "--prompt-requests=requests",
    "--prompt-fail=fail on purpose",
    "--quiet=0.15",
];

/// Every row.
pub(crate) fn all() -> Vec<&'static Defect> {
    [
        handshake::DEFECTS,
        lines::DEFECTS,
        sessions::DEFECTS,
        prompts::DEFECTS,
        cancel::DEFECTS,
        permissions::DEFECTS,
        restore::DEFECTS,
        restarts::DEFECTS,
        settings::DEFECTS,
        gates::DEFECTS,
        mcp::DEFECTS,
        witness::DEFECTS,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The kit's arguments for the subject agent with one defect.
pub(crate) fn words(defect: &Defect) -> Vec<String> {
    let mut words: Vec<String> = WORDS.iter().map(|word| (*word).to_owned()).collect();
    if !defect.flags.iter().any(|flag| flag.starts_with("--timeout")) {
        words.push("--timeout=8".into());
    }
    words.push("--".into());
    words.extend(spoiler("agent", defect));
    words.push(env!("CARGO_BIN_EXE_accord-subject-agent").into());
    words.extend(["--state-dir", "{STATE}"].map(str::to_owned));
    words.extend(defect.args.iter().map(|arg| (*arg).to_owned()));
    words
}
