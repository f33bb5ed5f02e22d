//! The third and the fourth run: `kill -9` right behind the answer to session/new; the session is there all the same.

use accord_client::{Client, Reason};
use rustix::process::{Pid, Signal, kill_process_group};

use super::first::ended;
use super::second::listed;
use super::stage::{Set, Stage};
use super::talk::failed;
use crate::wire::verdict::{Judged, ensure, inconclusive};

pub(super) async fn run(stage: &mut Stage<'_>) {
    let set = stage.set();
    set.next_run();
    let Some(client) = stage.step("starts once more", "D6", set.start()).await else { return };
    let announced =
        stage.step("is killed right behind the answer to session/new", "D6 E5", kill(&set, &client)).await;
    set.next_run();
    let Some(id) = announced else { return };
    let Some(client) = stage.step("starts over what the killed process left", "D6", set.start()).await else {
        return;
    };
    stage.step("lists the session that was announced", "D6", listed(&set, &client, &id)).await;
    stage.step("ends with its input, in order", "D4 E5", ended(&client)).await;
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
