//! `accord-conformance scenario`: the main job, played twice over one store.

use std::process::ExitCode;

use super::agent::{self, flag};
use super::args::{Args, Flag};
use crate::report::scenario as report;
use crate::scenario::{self, Answer, Play};

pub(super) const FLAGS: &[Flag] = &OWN;

const OWN: [Flag; 25] = agent::with_subject([
    flag("permission", "allow|reject|cancel", "how permission requests are answered (default allow)"),
    flag("record", "DIR", "keep the recordings and the store there"),
    flag("strict", "", "count advisory findings and inconclusive steps as failures"),
]);

pub(super) fn run(args: &Args) -> Result<ExitCode, String> {
    let permission = match args.value("permission") {
        None | Some("allow") => Answer::Allow,
        Some("reject") => Answer::Reject,
        Some("cancel") => Answer::Cancel,
        Some(other) => return Err(format!("--permission is allow, reject or cancel, not {other}")),
    };
    let subject = agent::subject(args)?;
    let play = Play {
        subject,
        permission,
        record: args.value("record").map(Into::into),
        strict: args.has("strict"),
    };
    let strict = play.strict;
    crate::say::out(&report::head(&args.command));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let rows = runtime.block_on(scenario::play(play, |row| crate::say::out(&report::row(row))))?;
    crate::say::out(&report::foot(&rows, strict));
    Ok(if report::holds(&rows, strict) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
