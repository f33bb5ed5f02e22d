//! The end of input, signals, and what is left running afterwards; nothing secret on the way.

use std::time::Duration;

use super::{Check, check};
use crate::wire::case::{Case, prompt};
use crate::wire::client::Client;
use crate::wire::desk::Permission;
use crate::wire::leftovers;
use crate::wire::verdict::{Judged, ensure, fail, inconclusive};
use rustix::process::Signal;

pub(super) const CHECKS: &[Check] = &[
    check("ACP-SHUTDOWN-001", idle_end),
    check("ACP-STDERR-001", stderr_is_free),
    check("ACPX-TR-015", in_every_state),
    check("ACPX-TR-021", terminated),
];

/// How long an agent may take to go; generous, so that only one that stays is caught.
fn promptly(case: &Case<'_>) -> Duration {
    case.within(Duration::from_secs(5))
}

fn idle_end(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.call("session/prompt", &prompt(&session, &case.plain()))?;
    client.finish(promptly(case))
}

fn stderr_is_free(case: &mut Case<'_>) -> Judged {
    let (mut client, session) = case.with_session()?;
    client.call("session/prompt", &prompt(&session, &case.plain())).map(drop)
}

fn in_every_state(case: &mut Case<'_>) -> Judged {
    let mut untouched = case.start()?;
    gone(case, &mut untouched, "before initialize")?;
    let (mut idle, _) = case.with_session()?;
    gone(case, &mut idle, "idle")?;
    if let Ok(words) = case.words("slow") {
        let (mut busy, session) = case.with_session()?;
        let from = busy.heard.len();
        busy.send("session/prompt", &prompt(&session, words));
        busy.listen_until(case.within(Duration::from_secs(2)), |client| client.heard.len() > from);
        gone(case, &mut busy, "in a turn")?;
    }
    if let Ok(words) = case.words("tool") {
        let words = words.replace("{PATH}", "end.txt").replace("{TEXT}", "x");
        case.desk.permission = Permission::Hold;
        let (mut waiting, session) = case.with_session()?;
        waiting.send("session/prompt", &prompt(&session, &words));
        waiting.listen_until(waiting.patience(), |client| !client.desk.held.is_empty());
        gone(case, &mut waiting, "while it waits for a permission")?;
    }
    Ok(())
}

/// stdin is closed: the process ends with status 0, and so does everything it started.
fn gone(case: &Case<'_>, client: &mut Client, state: &str) -> Judged {
    client.process.close_stdin();
    let limit = promptly(case);
    let Some(status) = client.process.wait(limit) else {
        return fail(format!("{state}: still running {} s after its stdin was closed", limit.as_secs()));
    };
    ensure(status.success(), || format!("{state}: {status} after its stdin was closed"))?;
    nothing_left(case, state)
}

fn nothing_left(case: &Case<'_>, state: &str) -> Judged {
    // Children of the agent may need a moment to notice that it has gone.
    for _ in 0..30 {
        match leftovers::find(case.mark()) {
            None => return inconclusive("this system does not show whose children a process has"),
            Some(left) if left.is_empty() => return Ok(()),
            Some(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
    let left = leftovers::find(case.mark()).unwrap_or_default();
    let names: Vec<String> = left.into_iter().map(|each| each.command).collect();
    fail(format!("{state}: left running: {}", names.join(", ")))
}

fn terminated(case: &mut Case<'_>) -> Judged {
    let words = case.words("slow")?;
    let (mut client, session) = case.with_session()?;
    let from = client.heard.len();
    client.send("session/prompt", &prompt(&session, words));
    client.listen_until(case.within(Duration::from_secs(2)), |client| client.heard.len() > from);
    client.process.signal(Signal::TERM);
    let limit = promptly(case);
    let ended = client.process.wait(limit).is_some();
    ensure(ended, || format!("still running {} s after SIGTERM in a turn", limit.as_secs()))?;
    nothing_left(case, "after SIGTERM")
}
