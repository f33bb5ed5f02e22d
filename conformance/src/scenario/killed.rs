//! The third and the fourth run: `kill -9` right behind the answer to session/new; the session is there all the same.

use accord_client::{Client, Reason};
use rustix::process::{Pid, Signal, kill_process_group};

use super::first::ended;
use super::plan::Step;
use super::second::listed;
use super::stage::{Set, Stage};
use super::talk::failed;
use crate::wire::verdict::{Judged, ensure, inconclusive};

const START: Step = Step::new("starts once more", "D6");
const KILL: Step = Step::new("is killed right behind the answer to session/new", "D6 E5");
const AGAIN: Step = Step::new("starts over what the killed process left", "D6");
const LIST: Step = Step::new("lists the session that was announced", "D6");
const END: Step = Step::new("ends with its input, in order", "D4 E5");
const FIRST: &[Step] = &[START, KILL];
const SECOND: &[Step] = &[AGAIN, LIST, END];

pub(super) async fn run(stage: &mut Stage<'_>) {
    let set = stage.set();
    stage.next_run(FIRST);
    let Some(client) = stage.step(START, set.start()).await else { return };
    let announced = stage.step(KILL, kill(&set, &client)).await;
    stage.next_run(SECOND);
    let Some(id) = announced else { return };
    let Some(client) = stage.step(AGAIN, set.start()).await else {
        return;
    };
    stage.step(LIST, listed(&set, &client, &id)).await;
    stage.step(END, ended(&client)).await;
}

async fn kill(set: &Set, client: &Client) -> Judged<String> {
    let session = client.new_session(set.cwd()).await.map_err(failed)?;
    let pid = client.pid().and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
    let Some(pid) = pid else { return inconclusive("the process has no id") };
    // The fitting and the agent behind it are one group.
    kill_process_group(pid, Signal::KILL).map_err(failed)?;
    let end = client.closed().await;
    ensure(end.reason() == Reason::Killed, || format!("killed, and told as {end}"))?;
    Ok(session.id().to_string())
}
